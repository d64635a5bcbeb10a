"""Sight: what its images add to a model over several images. One that reads the question alone generalizes nothing.

A model from nothing does not always come to see in a training, and then its figures say nothing of what was held out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..result import Score
from .held_out_matrix import HELD_OUT, IID, OTHER_IMAGES, PLAIN, HeldOutMatrix, HeldOutTraining

LEAST = 0.05  # that images add where a training came to see
SHARE = 0.5  # and of what they add to the model's in-domain training, on the same questions


class Sight(NamedTuple):
    """Of questions like those that a training learned from."""

    accuracy: Score | None
    elsewhere: Score | None  # the same questions about another question's images
    added: Score  # the points between
    least: float  # that it should add

    @property
    def blind(self) -> bool:
        """Whether it surely adds less."""
        return self.added.high is not None and self.added.high < self.least


def measure_sight(matrix: HeldOutMatrix) -> dict[HeldOutTraining, Sight]:
    """By training, of all that were asked about other images, on the test set that is their own."""
    found: dict[HeldOutTraining, Sight] = {}
    for one in (matrix, *matrix.derived.values()):
        for training in one.entries:
            sight = _measure_one(one, training)
            found |= {training: sight} if sight is not None else {}
    return {training: found[training] for training in sorted(found)}


@lru_cache(maxsize=1024)
def is_blind(matrix: HeldOutMatrix, training: HeldOutTraining) -> bool:
    """Whether it surely did not come to see; of several seeds whether one of them did not."""
    seeds = (replace(training, seed=seed) for seed in matrix.list_seeds(training))
    return any(sight.blind for one in seeds if (sight := _measure_one(matrix, one)) is not None)


def has_gap(
    matrix: HeldOutMatrix, upper: HeldOutTraining, text_only: HeldOutTraining, split: str, wording: str = PLAIN
) -> bool | None:
    """Whether the in-domain training is surely above the text-only one on a split's questions; None if not measured.

    Where it is not, nothing can be lost by holding them out.
    """
    pair = matrix.compare(upper, text_only, split=split, wording=wording)
    return None if pair is None or pair.low is None else pair.low > 0


def _measure_one(matrix: HeldOutMatrix, training: HeldOutTraining) -> Sight | None:
    entry = matrix.entries.get(training)
    if entry is None or OTHER_IMAGES not in entry.right:
        return None
    held = training.split if training.kind == HELD_OUT and training.split in matrix.test.marks else ""
    rows = matrix.find_rows(held, without=bool(held))
    alone = HeldOutMatrix(matrix.test, [entry])  # a seed by itself
    pair = alone.compare(training, training, than=OTHER_IMAGES, rows=rows)
    if pair is None or pair.drop is None:
        return None
    home = matrix.compare(*[HeldOutTraining(training.model)] * 2, than=OTHER_IMAGES, rows=rows)
    usual = home.drop if home is not None and home.drop is not None and training.kind != IID else 0.0
    accuracy, elsewhere = (alone.measure_accuracy(training, wording=w, rows=rows) for w in (PLAIN, OTHER_IMAGES))
    added = Score("sight", pair.drop, len(rows), pair.low, pair.high)
    return Sight(accuracy, elsewhere, added, max(LEAST, SHARE * usual))
