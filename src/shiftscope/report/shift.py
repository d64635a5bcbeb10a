"""Shift: what a model loses from the base of a factor to another level of it, paired where twins exist.

Twins share everything but the one thing that was changed, so a drop between them is estimated pair by pair.
Where a factor gives its levels questions of their own, two accuracies are compared, over the kinds of
question that both have, weighed alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..catalog import SHIFTS
from ..metrics._interval import Part, of_runs
from ..metrics._statistics import Paired
from ..metrics.accuracy import row_scores
from ..metrics.relative_degrade import VARIANTS
from ..shift._factor import Factor
from .mixture import mix
from .study import Run, Study, only
from .twins import TwinRuns, twin_runs

WITHIN = "its variants"
OTHER = "other"  # what changed is not said


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """A run about the base of a factor and one about another level of it, by the same trained model."""

    factor: str
    base: Run
    shifted: Run
    twins: TwinRuns | None

    @property
    def to(self) -> str:
        return WITHIN if self.base is self.shifted else self.shifted.test

    def drop(self) -> Paired | None:
        """Base less shifted."""
        return self.twins.drop() if self.twins else unpaired_drop(self.base, self.shifted)


def unpaired_drop(base: Run, shifted: Run) -> Paired | None:
    """The accuracy of the one less that of the other, over the kinds both have, weighed as in the base."""
    runs = (base.records, shifted.records)
    weights = mix(runs).weights
    if not all(w.any() for w in weights):
        return None
    values = np.concatenate([row_scores(r).values for r in runs])
    every = np.concatenate(weights)
    here = np.arange(len(values)) < len(runs[0])
    parts = [Part(values * w, w) for w in (np.where(here, every, 0), np.where(here, 0, every))]
    made = of_runs(runs).combine(parts, (1, -1))
    n = int((weights[1] > 0).sum())
    return Paired(n, 0, 0, made.value, made.low, made.high, made.p, made.scenes)


def shifts(study: Study) -> Iterator[Shift]:
    """Every base and level of one trained model that are among the runs; the order is that of the factors."""
    found = [s for run in study.runs for s in _shifts_to(study, run)]
    order = {name: k for k, name in enumerate(factors())}
    yield from sorted(found, key=lambda s: order.get(s.factor, len(order)))


def without_base(study: Study) -> list[Run]:
    """Runs about a level of a factor whose base no run of that training is about."""
    told = {id(s.shifted) for s in shifts(study)}
    return [run for run in study.runs if run.factor in factors() and id(run) not in told]


def _shifts_to(study: Study, shifted: Run) -> Iterator[Shift]:
    twins = [t for t in twin_runs(study) if t.shifted is shifted]
    for one in twins:
        factor = only(shifted.records.take(one.shifted_rows), "factor")
        yield Shift(factor or OTHER, one.base, shifted, one)
    if twins or not shifted.factor:
        return
    for base in study.runs:
        if base.training == shifted.training and base is not shifted and base.is_base_of(shifted):
            yield Shift(shifted.factor, base, shifted, None)


@cache
def factors() -> dict[str, Factor]:
    """The factors that are known, by name."""
    loaded = (SHIFTS.load(name) for name in SHIFTS.names())
    found = {module.FACTOR.name: module.FACTOR for module in loaded if hasattr(module, "FACTOR")}
    return {name: found[name] for name in sorted(found, key=lambda n: ([*VARIANTS, n].index(n), n))}
