"""Generalization tests: results of segment-combine, contrast sets and transfer, read beside their runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...json_files import load_json
from ...registry import GENERALIZATION_TESTS
from ...result import Score
from ...run.test import RESULT
from ..markup import Child, render_note, tag
from ..number_format import format_count
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import score_cell
from ..table import Row, Table, TableCell, TableHead, count_cell, numeric


@dataclass(frozen=True, slots=True)
class GeneralizationRow:
    """One line of a test's table."""

    of: tuple[tuple[str, str], ...]
    scores: Mapping[str, Score]


@dataclass(frozen=True, slots=True, eq=False)
class GeneralizationResult:
    """One test of one model."""

    test: str
    model: str
    rows: tuple[GeneralizationRow, ...]
    left_out: tuple[tuple[str, int], ...]
    runs: tuple[ReportRun, ...]  # those of the report that it made

    @property
    def model_label(self) -> str:
        """The model as the page calls it."""
        own = [r for r in self.runs if r.spec.get("model") == self.model]
        return own[0].model if own else self.model


def read_results(report: ReportRuns) -> tuple[GeneralizationResult, ...]:
    """The tests that made the runs of a report, each once, in the order of the runs."""
    runs_of: dict[Path, list[ReportRun]] = {}
    for run in report.each:
        if path := find_result(run):
            runs_of.setdefault(path, []).append(run)
    return tuple(_read_result(path, runs) for path, runs in runs_of.items())


def find_result(run: ReportRun) -> Path | None:
    """The file that the test which made a run wrote beside it; None where no test made it."""
    runs = run.folder.resolve().parent if run.folder else None
    path = runs.parent / RESULT if runs and runs.name == "runs" else None
    return path if path and path.is_file() else None


def _read_result(path: Path, runs: list[ReportRun]) -> GeneralizationResult:
    data: Any = load_json(path)
    try:
        rows = tuple(
            GeneralizationRow(
                tuple((str(k), str(v)) for k, v in line["of"].items()),
                {name: _parse_score(name, figures) for name, figures in line["scores"].items()},
            )
            for line in data["lines"]
        )
        left = tuple((str(why), int(n)) for why, n in data["left_out"].items())
        return GeneralizationResult(str(data["test"]), str(data["model"]), rows, left, tuple(runs))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(f"{path}: not what shiftscope test writes; run the test again") from None


def _parse_score(name: str, figures: Mapping[str, Any]) -> Score:
    shares = {k: None if figures[k] is None else float(figures[k]) / 100 for k in ("value", "low", "high")}
    counts = {k: int(figures.get(k, 0)) for k in ("n", "missing", "undefined", "unreadable", "failed")}
    return Score(name, **shares, **counts)  # type: ignore[arg-type]


PLACES = {"report": 26}
ELSEWHERE = "compositional"  # has a section of its own


def section(report: ReportRuns) -> Section | None:
    results: dict[str, list[GeneralizationResult]] = {}
    for one in read_results(report):
        if one.rows and one.test != ELSEWHERE:
            results.setdefault(one.test, []).append(one)
    if not results:
        return None
    parts: list[Child] = []
    for test, many in results.items():
        alone = f", {many[0].model_label}" if len(many) == 1 else ""
        parts.append(tag("h3", f"{spell_name(test)}{alone}"))
        if test in GENERALIZATION_TESTS.names():
            parts.append(render_note(capitalise(GENERALIZATION_TESTS.summary(test).partition(": ")[2])))
        parts.append(_build_table(test, many))
        left: dict[str, int] = {}
        for one in many:
            left |= {why: max(n, left.get(why, 0)) for why, n in one.left_out}
        if left:
            listed = "; ".join(f"{format_count(n)}, {why}" for why, n in left.items())
            parts.append(render_note(f"Left out: {listed}."))
    lead = "Per cent, and drops in points, with 95% intervals that take the questions of a scene together."
    return Section("Generalization tests", parts, lead)


def _build_table(test: str, many: Sequence[GeneralizationResult]) -> Table:
    facts = list(dict.fromkeys(name for one in many for row in one.rows for name, _ in row.of))
    metrics = list(dict.fromkeys(name for one in many for row in one.rows for name in row.scores))
    heads = [
        *(TableHead(spell_name(name)) for name in facts),
        *([TableHead("Model")] if len(many) > 1 else []),
        *(numeric(spell_name(name)) for name in metrics),
        numeric("Questions"),
    ]
    rows: list[Row] = []
    for of in dict.fromkeys(row.of for one in many for row in one.rows):
        for one in many:
            row = next((r for r in one.rows if r.of == of), None)
            if row is None:
                continue
            known = dict(of)
            rows.append(
                [
                    *(TableCell(known.get(name, ""), class_="fact") for name in facts),
                    *([one.model_label] if len(many) > 1 else []),
                    *(score_cell(row.scores.get(name)) for name in metrics),
                    count_cell(max((s.n for s in row.scores.values()), default=0)),
                ]
            )
    return Table(f"{spell_name(test)}: results", heads, rows)


def capitalise(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def spell_name(name: str) -> str:
    """A name in words: local_coherency is Local coherency."""
    return name.replace("_", " ").capitalize()
