"""Select: the best of several checkpoints, by a figure on validation data.

Choosing on out-of-distribution data is a quiet form of fitting to the test (Teney et al., 2020; VQA-VS, Si et
al., 2022, section 2.2 and Table 4), so the runs must be of an IID validation split; choosing on other data
needs --on-ood, which marks the chosen run for good.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files import encode_utf8, write_whole
from ..folder import lock_folder
from ..metrics import load_metric
from ..metrics.slices import select_base_rows, to_percent
from ..result import MISSING_IMAGE, RunLog, Score
from ..store.run_log import read_run
from .score import refuse_twice, score_run

NAME = "selection.json"
VALIDATION = ("val", "valid", "validation")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of several runs is the best, and what that was judged by."""

    runs: tuple[Path, ...]  # as they were named
    models: tuple[str, ...]
    scores: tuple[Score, ...]
    best: int
    split: str
    data_id: str
    on_ood: bool

    @property
    def best_run(self) -> Path:
        return self.runs[self.best]

    def to_json(self) -> dict[str, Any]:
        """What `selection.json` holds; the value is in percent, as `shiftscope score --json` gives it."""
        score = self.scores[self.best]
        return {
            "chosen_from": [str(run) for run in self.runs],
            "metric": score.metric,
            "value": to_percent(score.value),
            "split": self.split,
            "on_ood": self.on_ood,
            "data_id": self.data_id,
        }


def select(folders: Sequence[Path], metric: str = "accuracy", *, split: str = "", on_ood: bool = False) -> Selection:
    """Choose the run with the highest figure, the first named of equals, and write that into its folder.

    `split` is a name of the IID validation split other than the usual ones.
    """
    if len(folders) < 2:
        raise UserError("choosing takes two runs or more: shiftscope select RUN RUN …")
    refuse_twice(folders)
    logs = [read_run(folder) for folder in folders]
    _refuse_mismatched(folders, logs)
    spec = dict(logs[0].spec)
    here = str(spec.get("split") or "")
    allowed = (split,) if split else VALIDATION
    if here not in allowed and not on_ood:
        raise UserError(
            f"{folders[0]} is a run on split {here!r}, and models are chosen on validation data "
            f"({', '.join(allowed)}): run them with --split {allowed[0]}, name this data's own with --split, "
            "or choose on it all the same with --on-ood"
        )
    scores = tuple(_score_metric(folder, metric) for folder in folders)
    best = max(range(len(scores)), key=lambda k: (scores[k].value, -k))
    models = tuple(str(dict(log.spec).get("model", "")) for log in logs)
    selection = Selection(tuple(folders), models, scores, best, here, str(spec.get("data_id") or ""), on_ood)
    text = json.dumps(selection.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
    with lock_folder(selection.best_run):
        write_whole(selection.best_run / NAME, encode_utf8(f"{text}\n"))
    return selection


def _refuse_mismatched(folders: Sequence[Path], logs: Sequence[RunLog]) -> None:
    """Figures compare where the same questions of the same data were asked in the same way."""

    def describe(log: RunLog) -> dict[str, Any]:
        spec, rows = dict(log.spec), select_base_rows(log.records)
        questions = set(zip(rows.question.to_list(), rows.condition.to_list(), strict=True))
        return {"data": spec.get("data_id"), "splits": spec.get("split"), "questions": questions}

    first = describe(logs[0])
    for folder, log in zip(folders, logs, strict=True):
        if not log.finished:
            raise UserError(f"{folder}: the run is not finished; resume it with the same command first")
        this = describe(log)
        if what := next((name for name in first if this[name] != first[name]), ""):
            raise UserError(f"{folder} and {folders[0]} are runs on different {what}; choose among runs on the same")


def _score_metric(folder: Path, metric: str) -> Score:
    if load_metric(metric).lower_is_better:
        raise UserError(f"{metric} is better when it is lower; choose by another metric")
    unseen = (("condition", MISSING_IMAGE),)  # figures of what lacked its picture stand apart
    scores = [score for score in score_run(folder, (metric,)) if score.slice != unseen]
    if len(scores) != 1:
        listed = ", ".join(s.metric for s in scores)
        raise UserError(f"{metric} gives several figures ({listed}); choose by a metric that gives one")
    (score,) = scores
    if score.failed or score.missing:
        raise UserError(
            f"{folder}: {score.failed + score.missing:,} questions have no response, so its figure does "
            "not compare; resume the run first"
        )
    if score.value is None:
        raise UserError(f"{folder}: {metric} has nothing to score there")
    return score
