"""Outcomes: what generalization tests found, read from beside the runs that they made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..formats import _json
from ..result import Score
from ..run.test import RESULT
from .study import Run, Study

SHARES = ("value", "low", "high")
COUNTS = ("n", "missing", "undefined", "unreadable", "failed")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a test's table."""

    of: tuple[tuple[str, str], ...]
    scores: Mapping[str, Score]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One test of one model."""

    test: str
    model: str
    rows: tuple[Row, ...]
    left_out: tuple[tuple[str, int], ...]
    runs: tuple[Run, ...]  # those of the report that it made

    @property
    def shown(self) -> str:
        """The model as the page calls it."""
        own = [r for r in self.runs if r.spec.get("model") == self.model]
        return own[0].model if own else self.model


def outcomes(study: Study) -> tuple[Outcome, ...]:
    """The tests that made the runs of a study, each once, in the order of the runs."""
    made: dict[Path, list[Run]] = {}
    for run in study.each:
        path = run.folder.resolve().parent.parent / RESULT if run.folder else None
        if path and run.folder and run.folder.resolve().parent.name == "runs" and path.is_file():
            made.setdefault(path, []).append(run)
    return tuple(_read(path, runs) for path, runs in made.items())


def _read(path: Path, runs: list[Run]) -> Outcome:
    data: Any = _json.load(path)
    try:
        rows = tuple(
            Row(
                tuple((str(k), str(v)) for k, v in line["of"].items()),
                {name: _score(name, figures) for name, figures in line["scores"].items()},
            )
            for line in data["lines"]
        )
        left = tuple((str(why), int(n)) for why, n in data["left_out"].items())
        return Outcome(str(data["test"]), str(data["model"]), rows, left, tuple(runs))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(f"{path}: not what shiftscope test writes; run the test again") from None


def _score(name: str, figures: Mapping[str, Any]) -> Score:
    value, low, high = (None if figures[k] is None else float(figures[k]) / 100 for k in SHARES)
    n, missing, undefined, unreadable, failed = (int(figures.get(k, 0)) for k in COUNTS)
    return Score(name, value, n, low, high, missing, (), undefined, unreadable, failed)
