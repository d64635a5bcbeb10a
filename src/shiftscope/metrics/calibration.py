"""How far a model's confidence is from how often it is right (expected calibration error).

Answers are put into bins of equal width by the probability the model gave them; the error is the mean distance
between confidence and accuracy over the bins, weighted by their size. It is never negative, so it overstates with
few answers: compare models on equally many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Facts, Floats, RunRecords, Score
from .accuracy import score_rows
from .bootstrap import SceneBootstrap, bootstrap_interval
from .intervals import none_if_nan, sum_by_slice
from .slices import make_slices, select_base_rows

BINS = 15
LOWER_IS_BETTER = True


@dataclass(frozen=True, slots=True)
class Reliability:
    """Confidences in bins of equal width: how many there are, how many were right, and their sum."""

    count: tuple[int, ...]
    right: tuple[int, ...]
    total: tuple[float, ...]

    @classmethod
    def from_confidences(cls, confidence: npt.NDArray[Any], right: npt.NDArray[Any], bins: int = BINS) -> Reliability:
        """Rows without a confidence (not a number) are in no bin."""
        known = np.isfinite(confidence)
        confidence, right = confidence[known].astype(np.float64), right[known]
        at = assign_bins(confidence, bins)
        return cls(
            tuple(np.bincount(at, minlength=bins).tolist()),
            tuple(np.bincount(at[right], minlength=bins).tolist()),
            tuple(np.round(np.bincount(at, confidence, minlength=bins), 3).tolist()),
        )

    @property
    def n(self) -> int:
        return sum(self.count)

    @property
    def calibration_error(self) -> float | None:
        gaps = np.array(self.total) - np.array(self.right)
        return float(_compute_error(gaps[None], float(self.n))[0]) if self.n else None

    def to_json(self) -> dict[str, Any]:
        return {"count": list(self.count), "right": list(self.right), "total": list(self.total)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reliability:
        made = cls(tuple(data["count"]), tuple(data["right"]), tuple(data["total"]))
        if not len(made.count) == len(made.right) == len(made.total) > 0:
            raise ValueError("bins of confidence differ in number")
        if any(not 0 <= r <= c for r, c in zip(made.right, made.count, strict=True)):
            raise ValueError("a bin of confidence has more right answers than answers")
        return made


def assign_bins(confidence: Floats, bins: int = BINS) -> npt.NDArray[np.int64]:
    """[row] the bin of each confidence; 1 is in the last."""
    return np.clip((confidence * bins).astype(np.int64), 0, bins - 1)


def measure(records: RunRecords, by: Sequence[str] = (), bins: int = BINS) -> tuple[Score, ...]:
    """The error over all answers with a confidence, then over the slices of each column in `by`.

    `n` counts these answers: a response without an answer has no confidence to judge.
    """
    made = [_make_score(select_base_rows(records), bins, ())]
    for name in by:
        rows = select_base_rows(records, name)
        cut = make_slices(rows, name)
        made += [_make_score(rows.take(cut.rows(k)), bins, label) for k, label in enumerate(cut.labels)]
    return tuple(made)


def _make_score(rows: RunRecords, bins: int, label: Facts) -> Score:
    scored = score_rows(rows)
    known = ~np.isnan(rows.confidence) & scored.scorable & (rows.answer.codes >= 0)
    if not known.any():
        if label:
            return Score("calibration", None, 0, slice=label)
        raise UserError("calibration needs the model's confidence in its answers; this run has none")
    at = assign_bins(rows.confidence[known], bins)
    gap = rows.confidence[known] - scored.values[known]
    sampled = SceneBootstrap(rows.cluster.codes[known])
    value = _compute_error(sum_by_slice(gap, at, bins)[None], float(len(gap)))[0]
    drawn = _compute_error(sampled.sum_by_slice(gap, at, bins), sampled.sum_by_slice(np.ones(len(gap))))[:, None]
    low, high = bootstrap_interval(drawn, value, sampled.clusters)
    ends = none_if_nan(max(0.0, low[0])), none_if_nan(high[0])
    return Score("calibration", float(value), len(gap), *ends, slice=label, scenes=sampled.clusters)


def _compute_error(gaps: Floats, n: Floats | float) -> Floats:
    """The sum over bins of |sum of gaps| / n, which is the weighted mean of |mean gap|."""
    return np.asarray(np.abs(gaps).sum(axis=1) / np.ravel(n), np.float64)
