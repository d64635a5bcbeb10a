"""How much of the gap between a text-only model and an upper bound a model closes.

COVR (Bogin et al., 2021), section 5: the upper bound is trained on as many examples, drawn from everything.
Not clipped: a model below the text-only one is negative, one above the upper bound is over 1.
"""

import numpy as np

from ..errors import UserError
from ..result import AS_IS, BLIND, MISSING, Floats, RunRecords, Score
from .accuracy import score_rows
from .bootstrap import Ints, SceneBootstrap, resample_shares
from .intervals import LEVEL, widening_factor
from .significance import find_common_rows
from .slices import select_base_rows

RUNS = {"the model": AS_IS, "a text-only one": "", "the upper bound": AS_IS}  # each with the condition it needs
TAIL = (1 - LEVEL) / 2
BEYOND = 1e6  # a replicate without a gap to close


def generalization_score(model: float, text_only: float, upper: float) -> float | None:
    """The proportion of the gap that is closed; None where there is no gap to close."""
    return (model - text_only) / (upper - text_only) if upper > text_only else None


def select_text_rows(records: RunRecords) -> RunRecords:
    """The rows of a text-only model: the blind ones, if it has any."""
    blind = records.filter_condition(BLIND)
    return blind if len(blind) else records.filter_condition(AS_IS)


def measure_runs(model: RunRecords, text_only: RunRecords, upper: RunRecords) -> Score:
    """The score of three runs over the same questions; one without a response is wrong."""
    runs = [select_base_rows(r) for r in (model, select_text_rows(text_only), upper)]
    common = find_common_rows(runs)
    if not len(common[0]):
        raise UserError("generalization_score: the three runs have no question in common")
    scores = [score_rows(r).values[rows] for r, rows in zip(runs, common, strict=True)]
    missing, failed = (
        max(int(r.status.equals(s)[rows].sum()) for r, rows in zip(runs, common, strict=True))
        for s in (MISSING, "failed")
    )
    value = generalization_score(*(float(x.mean()) for x in scores))
    low = high = None
    cluster = runs[0].cluster.codes[common[0]]
    if value is not None:
        low, high = bootstrap_score(value, scores, cluster.astype(np.int64))
    scenes = len(np.unique(cluster))
    return Score("generalization_score", value, len(common[0]), low, high, missing, failed=failed, scenes=scenes)


def bootstrap_score(value: float, right: list[Floats], cluster: Ints) -> tuple[float | None, float | None]:
    """Low and high; None where there are too few questions.

    A replicate in which there is no gap to close may have any score: it counts as beyond either end.
    """
    many = len(cluster)
    sampled = SceneBootstrap(np.tile(cluster, 3))
    model, text, upper = resample_shares(sampled, np.concatenate(right), np.repeat(np.arange(3), many), 3).T
    gap = upper - text
    ends = []
    for beyond, share in ((-np.inf, TAIL), (np.inf, 1 - TAIL)):
        scores = np.where(gap > 0, (model - text) / np.where(gap > 0, gap, 1), beyond)
        ends.append(float(np.quantile(scores, share, method="nearest")))
    longer = widening_factor(sampled.clusters)
    low, high = (value + longer * (min(max(e, -BEYOND), BEYOND) - value) for e in ends)
    low, high = min(low, value), max(high, value)
    known = sampled.clusters > 1 and np.isfinite(ends).all() and low < high
    return (low, high) if known else (None, None)
