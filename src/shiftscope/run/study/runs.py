"""Runs: a cell as a run's folder, so that `shiftscope score` and `shiftscope report` work on it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...canonical import canonical_json
from ...errors import UserError
from ...result import Prediction, asked_of
from ...store.runlog import NAME, RunWriter
from ...whole import read_whole
from .cell import Origin
from .exam import Exam
from .matrix import EXACT, Domain, Grid, Trained, every_grid, grid
from .pipeline import Said

ROWS = 20_000  # written together


def write_runs(
    out: Path, model: str, origin: Origin, exam: Exam, said: Mapping[str, Said], visual: str
) -> list[Path]:
    """A folder for each factor that the cell is part of, under the factor's own names for it.

    A run of other weights that is there is of a cell that was made anew: it is written anew too.
    """
    made = []
    for factor, row, column in places(origin.trained, exam.asked.tested, visual):
        folder = out / factor / f"{model}-{row}-{column}"
        spec = _spec(model, row, column, origin, exam)
        if not _there(folder, spec):
            _write(folder, column, spec, exam, said)
        made.append(folder)
    return made


def places(trained: Trained, tested: Domain, visual: str) -> Iterator[tuple[str, str, str]]:
    """Where a cell stands: factor, and the names of training and test there; seeds stand by themselves."""
    if trained.seed:
        yield "seeds", trained.label.replace(" ", "-"), tested.label
        return
    grids: list[Grid] = [*every_grid(), *(grid(g.factor, visual) for g in every_grid())]
    for one in {(g.factor, g.visual): g for g in grids}.values():
        row = next((name for name, t in one.trained if t == trained), None)
        column = next((name for name, at in one.tested if at == tested), None)
        if row and column:
            yield one.title.replace(", seen ", "-"), row, column


def _there(folder: Path, spec: Mapping[str, Any]) -> bool:
    """Whether the folder holds this run, finished; what is left of another one of a study is removed."""
    path = folder / NAME
    if not path.exists():
        return False
    try:
        found = json.loads(read_whole(path))
        old, finished = found["spec"], bool(found["finished"])
        of_study = {"suite", "weights", "model"} <= set(old)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged ({error}); remove {folder} to have it written again") from None
    if canonical_json(old) == canonical_json(dict(spec)):
        return finished
    if not of_study:
        raise UserError(f"{folder} holds a run that no study wrote; choose another folder for --out")
    shutil.rmtree(folder)
    return False


def _spec(model: str, row: str, column: str, origin: Origin, exam: Exam) -> dict[str, Any]:
    return {
        "model": model,
        "suite": "superclevr",
        "scale": origin.scale.to_json(),
        "data_id": exam.asked.questions,
        "split": "test",
        "conditions": ["as_is"],
        "seed": origin.trained.seed,
        "trained_on": row,
        "variant": column,
        "weights": dict(origin.weights),
        **({"learned": origin.learned} if model == EXACT else {}),
    }


def _write(folder: Path, column: str, spec: dict[str, Any], exam: Exam, said: Mapping[str, Said]) -> None:
    rows = []
    order = []
    for sort, sheet in exam.sheets.items():
        answers, belief = said[sort].answers, said[sort].belief
        for k, (question, image) in enumerate(zip(sheet.questions, sheet.rows.tolist(), strict=True)):
            answer = answers[k]
            sure = None if belief is None or not np.isfinite(belief[k]) else float(np.clip(belief[k], 0, 1))
            facts = (("variant", column), ("about", sort))
            rows.append(
                (
                    asked_of(question, [exam.scenes[image]], facts=facts),
                    Prediction(
                        question.id,
                        answer,
                        status="answered" if answer is not None else "undefined",
                        belief=sure if answer is not None else None,
                    ),
                )
            )
            order.append(question.id)
    with RunWriter(folder, spec, len(order)) as writer:
        left = [pair for pair in rows if (pair[1].question, pair[1].condition) not in writer.done]
        for start in range(0, len(left), ROWS):
            writer.add(left[start : start + ROWS])
        writer.finish(order)
