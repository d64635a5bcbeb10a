"""Gap: the accuracy of one set of rows less that of another, with an interval."""

from __future__ import annotations

import numpy as np

from ...metrics._resample import Ints, Resampling, interval, share, shared_clusters
from ...metrics._shares import base_rows, known, replied
from ...result import Bools, Records, Score


def gap(name: str, first: Records, second: Records) -> Score:
    """Scenes that both ask about are drawn together: over the same questions the interval is a paired one.

    `n` is the number of rows of the second set, whose accuracy is taken away.
    """
    runs = [base_rows(first), base_rows(second)]
    clusters = shared_clusters([r.cluster for r in runs])
    counted = [replied(r) & (r.truth.codes >= 0) for r in runs]
    missing = sum(int((~some).sum()) for some in counted)
    if not all(some.any() for some in counted):
        return Score(name, None, int(counted[1].sum()), missing=missing)
    side = np.concatenate([np.full(int(some.sum()), k) for k, some in enumerate(counted)])
    right = np.concatenate([r.right[some] for r, some in zip(runs, counted, strict=True)])
    cluster = np.concatenate([at[some] for at, some in zip(clusters, counted, strict=True)])
    sampled = Resampling(cluster)
    few = min(sampled.spread(np.ones(len(side), bool), side, 2)) < 2
    value = float(right[side == 0].mean() - right[side == 1].mean())
    low, high = _ends(sampled, right, side)
    return Score(
        name,
        value,
        int((side == 1).sum()),
        None if few else known(low),
        None if few else known(high),
        missing=missing,
    )


def _ends(sampled: Resampling, right: Bools, side: Ints) -> tuple[float, float]:
    """Low and high of the first side less the second.

    Resampling takes a side of which all rows agree for certain; then both sides' own intervals, that one's
    the exact binomial one, are put together as Newcombe (1998) does.
    """
    everyone = np.ones(len(side))
    mean, low, high = share(sampled, right, everyone, side, 2)
    if np.isin(mean, (0, 1)).any():
        apart = mean[0] - mean[1]
        down, up = mean - low, high - mean
        return float(apart - np.hypot(down[0], up[1])), float(apart + np.hypot(up[0], down[1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = sampled.sums(right, side, 2) / sampled.sums(everyone, side, 2)
    ends = interval((drawn[:, 0] - drawn[:, 1])[:, None])
    return float(ends[0][0]), float(ends[1][0])


def common(first: Records, second: Records) -> tuple[Records, Records]:
    """The rows of both about questions that both replied to."""
    runs = [base_rows(first), base_rows(second)]
    asked = [_asked(r) for r in runs]
    both = asked[0] & asked[1]
    taken = [r.take(np.array([name in both for name in r.question.listed()], bool)) for r in runs]
    return taken[0], taken[1]


def _asked(records: Records) -> set[str]:
    good = replied(records) & (records.truth.codes >= 0)
    return {name for name, some in zip(records.question.listed(), good.tolist(), strict=True) if some}
