"""Measures: what the sections ask of the metrics, each asked once for a run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from ..errors import UserError
from ..metrics import accuracy as accuracy_metric
from ..metrics._interval import Scenes
from ..metrics._shares import scores_of
from ..metrics._statistics import (
    Paired,
    across_seeds,
    compare_models,
    effective_number,
    holm,
    smallest_drop,
)
from ..metrics.accuracy import row_scores
from ..result import Column, Floats, Records, Score
from .level import Levels
from .study import Run, Study

LEVEL = 0.05  # a chance below this, after correction, is marked as significant
K = TypeVar("K", bound=Hashable)


@lru_cache(maxsize=2048)
def accuracy(run: Run) -> Score:
    """The accuracy of a run, over seeds where there are several."""
    if run.seeds:
        return across_seeds([accuracy(one) for one in run.seeds])
    return accuracy_metric.measure(run.records)[0]


def metric_name(study: Study) -> str:
    """What `accuracy` is in these runs, in words."""
    named = dict.fromkeys(_named(accuracy(run)) for run in study.runs)
    return " or ".join(named) or "Accuracy"


def _named(score: Score) -> str:
    return f"VQA accuracy ({score.form} form)" if score.metric == "vqa_accuracy" else "Accuracy"


def weighted_accuracy(run: Run, mixture: Mapping[int, Floats]) -> Score:
    """The accuracy of a run whose rows weigh differently: the weights of each of its seeds, by id."""
    if run.seeds:
        return across_seeds([weighted_accuracy(one, mixture) for one in run.seeds])
    weights = mixture[id(run)]
    scored = row_scores(run.records)
    made = Scenes.of(run.records).shares(scored.values * weights, weights)
    (score,) = scores_of("accuracy", made, run.records, weights > 0, form=scored.form)
    return score


def accuracy_by(run: Run, name: str, cut: Levels) -> tuple[Score | None, ...]:
    """The accuracy in each level, in the order of the levels; None where there is no row."""
    column = Column(tuple(range(len(cut.names))), cut.codes)
    records = replace(run.records, facts=((name, column),))
    scores = {dict(s.slice)[name]: s for s in accuracy_metric.measure(records, (name,))[1:]}
    return tuple(scores.get(k) for k in range(len(cut.names)))


def paired(first: Records, second: Records) -> Paired | None:
    """Both on the questions that both were asked; None without a common one."""
    made = compare_models(first, second)
    return made if made.n else None


def corrected(chances: Mapping[K, float | None]) -> dict[K, float]:
    """Holm's correction over all of them; what has no chance is left out."""
    keys = [key for key, p in chances.items() if p is not None]
    try:
        made = holm({str(k): chances[key] for k, key in enumerate(keys)}) if keys else {}
    except UserError:  # the libraries for it are an extra: no mark rather than no page
        return {}
    return {key: p for k, key in enumerate(keys) if (p := made[str(k)]) is not None}


@lru_cache(maxsize=2048)
def detectable(run: Run) -> float | None:
    """The smallest drop that a second set of this size would show; None where none would, or unknown."""
    score = accuracy(run)
    if score.value is None or run.seeds:
        return None
    try:
        least = smallest_drop(effective_number(run.records), score.value)
    except UserError:
        return None
    return least if 0 < least < 1 else None


def tests_available() -> bool:
    """Whether the libraries for paired tests are installed."""
    try:
        holm({"any": 0.5})
    except UserError:
        return False
    return True
