"""How much of the gap between a text-only model and an upper bound a model closes.

COVR (Bogin et al., 2021), section 5: the upper bound is trained on as many examples, drawn from everything.
Not clipped: a model below the text-only one is negative, one above the upper bound is over 1.
"""

from __future__ import annotations

import numpy as np

from ..errors import UserError
from ..result import Records, Score
from ._resample import Resampling, interval, shared_clusters
from ._shares import base_rows, known, replied


def generalization_score(model: float, text_only: float, upper: float) -> float | None:
    """The proportion of the gap that is closed; None where there is no gap to close."""
    return (model - text_only) / (upper - text_only) if upper > text_only else None


def measure_runs(model: Records, text_only: Records, upper: Records) -> Score:
    """The score of three runs over the same questions; only those that all three replied to count."""
    runs = [base_rows(r) for r in (model, text_only, upper)]
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(v, len(numbers)) for v in r.question.values]) for r in runs]
    place = np.full((3, len(numbers)), -1)
    for k, r in enumerate(runs):
        counted = replied(r) & (r.truth.codes >= 0)
        place[k, ids[k][r.question.codes[counted]]] = np.flatnonzero(counted)
    common = (place >= 0).all(axis=0)
    if not common.any():
        raise UserError("generalization_score: the three runs have no question in common that all replied to")
    right = [r.right[place[k, common]].astype(float) for k, r in enumerate(runs)]
    cluster = shared_clusters([runs[0].cluster])[0][place[0, common]]
    sampled = Resampling(cluster)
    values = [float(x.mean()) for x in right]
    many = [sampled.sums(x)[:, 0] for x in right]
    gap = many[2] - many[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = interval(np.where(gap > 0, (many[0] - many[1]) / gap, np.nan)[:, None])
    value = generalization_score(*values)
    return Score(
        "generalization_score",
        value,
        int(common.sum()),
        known(low[0]) if value is not None else None,
        known(high[0]) if value is not None else None,
        missing=len(numbers) - int(common.sum()),
    )
