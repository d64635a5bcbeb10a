"""How much of the gap between a text-only model and an upper bound a model closes.

COVR (Bogin et al., 2021), section 5: the upper bound is trained on as many examples, drawn from everything.
Not clipped: a model below the text-only one is negative, one above the upper bound is over 1.
"""

from __future__ import annotations

import numpy as np

from ..errors import UserError
from ..result import AS_IS, BLIND, MISSING, Floats, Records, Score
from ._interval import LEVEL, widening
from ._pairing import common_rows
from ._resample import Ints, Resampling, shares
from ._shares import base_rows
from .accuracy import row_scores

TAIL = (1 - LEVEL) / 2
BEYOND = 1e6  # a replicate without a gap to close


def generalization_score(model: float, text_only: float, upper: float) -> float | None:
    """The proportion of the gap that is closed; None where there is no gap to close."""
    return (model - text_only) / (upper - text_only) if upper > text_only else None


def text_rows(records: Records) -> Records:
    """The rows of a text-only model: those without the images, where it was asked so."""
    blind = records.under(BLIND)
    return blind if len(blind) else records.under(AS_IS)


def measure_runs(model: Records, text_only: Records, upper: Records) -> Score:
    """The score of three runs over the same questions; one without a reply is not right."""
    runs = [base_rows(r) for r in (model, text_rows(text_only), upper)]
    common = common_rows(runs)
    if not len(common[0]):
        raise UserError("generalization_score: the three runs have no question in common")
    scores = [row_scores(r).values[rows] for r, rows in zip(runs, common, strict=True)]
    missing, failed = (
        max(int(r.status.equals(s)[rows].sum()) for r, rows in zip(runs, common, strict=True))
        for s in (MISSING, "failed")
    )
    value = generalization_score(*(float(x.mean()) for x in scores))
    low = high = None
    cluster = runs[0].cluster.codes[common[0]]
    if value is not None:
        low, high = _interval(value, scores, cluster.astype(np.int64))
    scenes = len(np.unique(cluster))
    return Score(
        "generalization_score", value, len(common[0]), low, high, missing, failed=failed, scenes=scenes
    )


def _interval(value: float, right: list[Floats], cluster: Ints) -> tuple[float | None, float | None]:
    """Low and high; nothing where the questions are too few to tell.

    A replicate in which there is no gap to close may have any score: it counts as beyond either end.
    """
    many = len(cluster)
    sampled = Resampling(np.tile(cluster, 3))
    model, text, upper = shares(sampled, np.concatenate(right), np.repeat(np.arange(3), many), 3).T
    gap = upper - text
    ends = []
    for beyond, share in ((-np.inf, TAIL), (np.inf, 1 - TAIL)):
        scores = np.where(gap > 0, (model - text) / np.where(gap > 0, gap, 1), beyond)
        ends.append(float(np.quantile(scores, share, method="nearest")))
    longer = widening(sampled.clusters)
    low, high = (value + longer * (min(max(e, -BEYOND), BEYOND) - value) for e in ends)
    low, high = min(low, value), max(high, value)
    told = sampled.clusters > 1 and np.isfinite(ends).all() and low < high
    return (low, high) if told else (None, None)
