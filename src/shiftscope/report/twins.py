"""Twins: a shifted example beside the one it was made from, in one run or in two runs of one model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..metrics._interval import Scenes
from ..metrics._statistics import Paired, paired
from ..metrics.accuracy import row_scores
from ..result import Records
from .study import Run, Study


@dataclass(frozen=True, slots=True, eq=False)
class TwinRuns:
    """Two runs of which the second asks about variants of what the first asks about; they may be the same."""

    base: Run
    shifted: Run
    base_rows: npt.NDArray[np.int64]
    shifted_rows: npt.NDArray[np.int64]

    def drop(self) -> Paired | None:
        """The paired difference, base less shifted; a side without a reply is not right."""
        base, shifted = row_scores(self.base.records), row_scores(self.shifted.records)
        good = base.scorable[self.base_rows] & shifted.scorable[self.shifted_rows]
        one, two = self.base_rows[good], self.shifted_rows[good]
        made = paired(base.values[one], shifted.values[two], Scenes.of(self.base.records.take(one)))
        return made if made.n else None

    def failing(self) -> npt.NDArray[np.int64]:
        """Which pairs are right in the base and not in the variant."""
        base, shifted = row_scores(self.base.records), row_scores(self.shifted.records)
        wrong = shifted.scorable & (shifted.values < 1)
        return np.flatnonzero((base.values[self.base_rows] >= 1) & wrong[self.shifted_rows])


@lru_cache(maxsize=4)
def twin_runs(study: Study) -> tuple[TwinRuns, ...]:
    """Every two runs of one trained model that hold twins of each other, those within one run included.

    Names repeat from one dataset to another: only that of which it is a variant has its originals.
    """
    found = []
    for training in dict.fromkeys(r.training for r in study.runs):
        runs = [r for r in study.runs if r.training == training]
        for shifted in runs:
            bases = [run for run in runs if run.source == shifted.source or run.is_base_of(shifted)]
            made = [one for base in bases if (one := matched(base, shifted)) is not None]
            within = [one for one in made if one.base.source == shifted.source]
            found += within or made
    return tuple(found)


def matched(base: Run, shifted: Run) -> TwinRuns | None:
    """The rows of `shifted` that are variants of rows of `base`; None where there are none.

    A base may be a variant of something else. But a variant may also keep its original's name: a row that
    names itself as what it is a variant of is no base.
    """
    twins = shifted.records.twin
    originals = np.flatnonzero(~_named_as_original(base.records) & (base.records.question.codes >= 0))
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
