"""Twins: a shifted example beside the one it was made from, in one run or in two runs of one model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..metrics._statistics import Paired
from ..result import Records
from .measure import paired
from .study import Run, Study


@dataclass(frozen=True, slots=True, eq=False)
class TwinRuns:
    """Two runs of which the second asks about variants of what the first asks about; they may be the same."""

    base: Run
    shifted: Run
    base_rows: npt.NDArray[np.int64]
    shifted_rows: npt.NDArray[np.int64]

    def drop(self) -> Paired | None:
        """The paired difference, base less shifted."""
        base = self.base.records.take(self.base_rows)
        return paired(base, as_base(self.shifted.records.take(self.shifted_rows)))

    def failing(self) -> npt.NDArray[np.int64]:
        """Which pairs are right in the base and not in the variant."""
        base, shifted = self.base.records, self.shifted.records
        known = shifted.truth.codes >= 0
        bad = base.right[self.base_rows] & (known & ~shifted.right)[self.shifted_rows]
        return np.flatnonzero(bad)


@lru_cache(maxsize=4)
def twin_runs(study: Study) -> tuple[TwinRuns, ...]:
    """Every two runs of one trained model that hold twins of each other, those within one run included.

    Names repeat from one dataset to another: where a dataset holds the originals, no other's are taken.
    """
    found = []
    for training in dict.fromkeys(r.training for r in study.runs):
        runs = [r for r in study.runs if r.training == training]
        for shifted in runs:
            made = [one for base in runs if (one := matched(base, shifted)) is not None]
            within = [one for one in made if one.base.source == shifted.source]
            found += within or made
    return tuple(found)


def matched(base: Run, shifted: Run) -> TwinRuns | None:
    """The rows of `shifted` that are variants of rows of `base`; None where there are none.

    A base may be a variant of something else. But a variant may also keep its original's name: a row that
    names itself as what it is a variant of is no base.
    """
    twins = shifted.records.twin
    originals = np.flatnonzero(~_named_as_original(base.records))
    if not len(originals) or not (twins.codes >= 0).any():
        return None
    row_of = np.full(len(base.records.question.values), -1, np.int64)
    row_of[base.records.question.codes[originals]] = originals
    number = {name: k for k, name in enumerate(base.records.question.values)}
    rows = np.array([*(row_of[number[t]] if t in number else -1 for t in twins.values), -1], np.int64)
    beside = rows[twins.codes]
    there = np.flatnonzero(beside >= 0)
    return TwinRuns(base, shifted, beside[there], there) if len(there) else None


def _named_as_original(records: Records) -> npt.NDArray[np.bool_]:
    """Which rows are variants that go by the names of their originals."""
    number = {name: k for k, name in enumerate(records.question.values)}
    own = np.array([*(number.get(name, -2) for name in records.twin.values), -2], np.int64)
    return np.equal(own[records.twin.codes], records.question.codes)


def as_base(records: Records) -> Records:
    """The records under their originals' names, so that they pair with these."""
    return replace(records, question=records.twin)
