"""Sight: what its images add to a model over several images. One that reads the question alone generalizes nothing.

A training from nothing does not always come to see, and then its figures say nothing of what was held out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..result import Score
from .intervals import SceneClusters
from .significance import run_paired_test

LEAST = 0.05  # that images add where a training came to see
SHARE = 0.5  # and of what they add to the model's in-domain training, on the same questions

Hits = npt.NDArray[Any]  # [question] right or not, or the share of seeds that are


class Sight(NamedTuple):
    """Of questions like those that a training learned from."""

    accuracy: Score
    elsewhere: Score  # the same questions about another question's images
    added: Score  # the points between
    blind: bool  # whether it surely adds too little


def judge_sight(pair: tuple[Hits, Hits], home: tuple[Hits, Hits] | None, images: SceneClusters) -> Sight:
    """Of a training's answers as asked and about other images; `home` are those of the model's in-domain training."""
    plain, elsewhere = pair
    alone = run_paired_test(plain, elsewhere, images)
    added = Score("sight", alone.drop, alone.n, alone.low, alone.high)
    blind = added.high is not None and added.high < LEAST
    if home is not None:  # more than that share of it, or less
        more = run_paired_test(plain - SHARE * home[0], elsewhere - SHARE * home[1], images)
        blind = blind or (more.high is not None and more.high < 0)
    return Sight(_measure(plain, images), _measure(elsewhere, images), added, blind)


def _measure(hits: Hits, images: SceneClusters) -> Score:
    found = images.estimate_shares(hits, np.ones(len(hits)))
    return Score("accuracy", float(found.value[0]), len(hits), float(found.low[0]), float(found.high[0]))
