"""Measures: what the sections ask of the metrics, each asked once for a run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from ..errors import UserError
from ..metrics import accuracy as accuracy_metric
from ..metrics._statistics import Paired, across_seeds, compare_models, design_effect, holm, smallest_drop
from ..result import Column, Records, Score
from .level import Levels
from .study import Run

LEVEL = 0.05  # a chance below this, after correction, is marked as significant
K = TypeVar("K", bound=Hashable)


@lru_cache(maxsize=2048)
def accuracy(run: Run) -> Score:
    """The share of right answers in a run, over seeds where there are several; what it lacks is missing."""
    if run.seeds:
        return _over_seeds([accuracy(one) for one in run.seeds])
    score = accuracy_metric.measure(run.records)[0]
    return replace(score, missing=score.missing + run.lacking)


def _over_seeds(scores: Sequence[Score]) -> Score:
    try:
        return across_seeds(scores)
    except UserError:  # without the libraries for an interval over seeds
        values = [s.value for s in scores if s.value is not None]
        mean = sum(values) / len(values) if values else None
        summed = {name: sum(getattr(s, name) for s in scores) for name in ("n", "missing", "failed")}
        return replace(scores[0], value=mean, low=None, high=None, **summed)


def accuracy_by(run: Run, name: str, cut: Levels) -> tuple[Score | None, ...]:
    """The share of right answers in each level, in the order of the levels; None where there is no row."""
    column = Column(tuple(range(len(cut.names))), cut.codes)
    records = replace(run.records, facts=((name, column),))
    scores = {dict(s.slice)[name]: s for s in accuracy_metric.measure(records, (name,))[1:]}
    return tuple(scores.get(k) for k in range(len(cut.names)))


def paired(first: Records, second: Records) -> Paired | None:
    """Both on the questions that both replied to; None without a common one, or without the statistics."""
    try:
        made = compare_models(first, second)
    except UserError:  # the libraries for tests are an extra: no mark rather than no page
        return None
    return made if made.n else None


def corrected(chances: Mapping[K, float | None]) -> dict[K, float]:
    """Holm's correction over all of them; what has no chance is left out."""
    keys = [key for key, p in chances.items() if p is not None]
    made = holm({str(k): chances[key] for k, key in enumerate(keys)}) if keys else {}
    return {key: p for k, key in enumerate(keys) if (p := made[str(k)]) is not None}


@lru_cache(maxsize=2048)
def detectable(run: Run) -> float | None:
    """The smallest drop that a second set of this size would show; None where none would, or unknown."""
    score = accuracy(run)
    if score.value is None or run.seeds:
        return None
    try:
        least = smallest_drop(score.n, score.value, design=design_effect(run.records))
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
