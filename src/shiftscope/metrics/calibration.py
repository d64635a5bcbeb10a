"""How far a model's beliefs are from how often it is right (expected calibration error).

Answers are put into bins of equal width by the probability the model gave them; the error is the mean
distance between belief and accuracy over the bins, weighed by their size. It is never negative, so that it
overstates with few answers: compare models on equally many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from ..result import Facts, Floats, Records, Score
from ._resample import Resampling, interval
from ._shares import base_rows, known, slices, totals
from .accuracy import row_scores

BINS = 15


def measure(records: Records, by: Sequence[str] = (), bins: int = BINS) -> tuple[Score, ...]:
    """The error over all answers that came with a belief, then over the slices of each column in `by`.

    `n` counts these answers: a reply without one has no belief to be judged.
    """
    made = [_score(base_rows(records), bins, ())]
    for name in by:
        rows = base_rows(records, name)
        cut = slices(rows, name)
        made += [_score(rows.take(cut.rows(k)), bins, label) for k, label in enumerate(cut.labels)]
    return tuple(made)


def _score(rows: Records, bins: int, label: Facts) -> Score:
    scored = row_scores(rows)
    believed = ~np.isnan(rows.belief) & scored.scorable & (rows.answer.codes >= 0)
    if not believed.any():
        if label:
            return Score("calibration", None, 0, slice=label)
        raise UserError("calibration needs the model's belief in its answers; this run has none")
    belief = rows.belief[believed]
    at = np.minimum((belief * bins).astype(np.int64), bins - 1)
    gap = belief - scored.values[believed]
    sampled = Resampling(rows.cluster.codes[believed])
    # The sum over bins of |sum of gaps| / n is the weighed mean of |mean gap|.
    value = _error(totals(gap, at, bins)[None], float(len(gap)))[0]
    drawn = _error(sampled.sums(gap, at, bins), sampled.sums(np.ones(len(gap))))[:, None]
    low, high = interval(drawn, value, sampled.clusters)
    ends = known(max(0.0, low[0])), known(high[0])
    return Score("calibration", float(value), len(gap), *ends, slice=label, scenes=sampled.clusters)


def _error(gaps: Floats, n: Floats | float) -> Floats:
    return np.asarray(np.abs(gaps).sum(axis=1) / np.ravel(n), np.float64)
