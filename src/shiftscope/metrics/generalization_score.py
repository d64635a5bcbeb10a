"""How much of the gap between a text-only model and an upper bound a model closes.

COVR (Bogin et al., 2021), section 5: the upper bound is trained on as many examples, drawn from everything.
Not clipped: a model below the text-only one is negative, one above the upper bound is over 1.
"""

from __future__ import annotations

import numpy as np

from ..errors import UserError
from ..result import AS_IS, BLIND, Bools, Records, Score
from ._resample import LEVEL, Ints, Resampling, shared_clusters, shares
from ._shares import base_rows, replied

TAIL = (1 - LEVEL) / 2


def generalization_score(model: float, text_only: float, upper: float) -> float | None:
    """The proportion of the gap that is closed; None where there is no gap to close."""
    return (model - text_only) / (upper - text_only) if upper > text_only else None


def text_rows(records: Records) -> Records:
    """The rows of a text-only model: those without the images, where it was asked so."""
    blind = records.under(BLIND)
    return blind if len(blind) else records.under(AS_IS)


def measure_runs(model: Records, text_only: Records, upper: Records) -> Score:
    """The score of three runs over the same questions; only those that all three replied to count."""
    runs = [base_rows(r) for r in (model, text_rows(text_only), upper)]
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(v, len(numbers)) for v in r.question.values]) for r in runs]
    place = np.full((3, len(numbers)), -1)
    asked = np.zeros(len(numbers), bool)
    for k, r in enumerate(runs):
        asked[ids[k][r.question.codes]] = True
        counted = replied(r) & (r.truth.codes >= 0)
        place[k, ids[k][r.question.codes[counted]]] = np.flatnonzero(counted)
    common = (place >= 0).all(axis=0)
    if not common.any():
        raise UserError("generalization_score: the three runs have no question in common that all replied to")
    right = [r.right[place[k, common]] for k, r in enumerate(runs)]
    value = generalization_score(*(float(x.mean()) for x in right))
    low = high = None
    if value is not None:
        low, high = _interval(value, right, shared_clusters([runs[0].cluster])[0][place[0, common]])
    return Score(
        "generalization_score", value, int(common.sum()), low, high, missing=int(asked.sum() - common.sum())
    )


def _interval(value: float, right: list[Bools], cluster: Ints) -> tuple[float | None, float | None]:
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
    low, high = min(ends[0], value), max(ends[1], value)
    told = sampled.clusters > 1 and np.isfinite(ends).all() and low < high
    return (low, high) if told else (None, None)
