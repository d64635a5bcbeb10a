"""Shares: how much likelier values are among things of which there are only beliefs than where these learned.

A belief rests on how often values occurred where it was learned. Where they occur in other shares it is to be
weighed by the odds of the two, and the other shares can be told from the beliefs themselves, by weighing and
counting in turn (Saerens, Latinne and Decaestecker, 2002). Here the shares learned count as things seen too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SEEN = 4.0  # things, for each value there is, that the shares learned count for
MOST = 16.0  # times that a value may get likelier or less likely: of what was hardly met beliefs say little
TURNS, STILL = 200, 1e-6  # at most so many turns; as soon as no share moves by more, it is done

Floats = NDArray[np.float64]


def odds_among(beliefs: Floats, weights: Floats, learned: Floats) -> Floats:
    """[value] from beliefs [thing, value], how much each thing counts, and the shares that were learned."""
    counted = weights * (beliefs.sum(1) > 0)  # who has no value does not count
    before = SEEN * len(learned) * learned
    shares, odds = learned, np.ones_like(learned)
    for _ in range(TURNS):
        new = (counted @ weighed(beliefs, odds) + before) / (counted.sum() + before.sum())
        moved = float(np.abs(new - shares).max())
        shares, odds = new, (new / learned).clip(1 / MOST, MOST)
        if moved < STILL:
            break
    return odds


def weighed(beliefs: Floats, odds: Floats) -> Floats:
    """Beliefs where each value is so many times likelier than it was; what has no value keeps none."""
    made = beliefs * odds
    total = made.sum(-1, keepdims=True)
    found: Floats = made / np.where(total > 0, total, 1.0)
    return found
