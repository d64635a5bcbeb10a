"""The splits of CLEVR_HYP: the images each asks about, how, and how many examples that makes at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..act import partitions
from ..question import Question
from ..scene import Scene

SHARE = 7  # one in so many images is for val, and one for test

Ask = Callable[[Sequence[Scene], int, int, str, int], Iterator[Question]]


class Split(NamedTuple):
    """Where its images are, how they are asked about, and its examples for two images of that pool."""

    pool: str
    ask: Ask
    per_two: int

    def full(self, images: int) -> int:
        """How many examples there are where every image allows all that is asked of it."""
        if self.ask is partitions.balanced:
            return images // 2 * self.per_two
        return images * self.per_two // 2


# Original has the plain names, so that models that learn find `train`, and runs find `test`.
SPLITS = {
    "train": Split("train", partitions.original, 50),
    "val": Split("val", partitions.original, 50),
    "test": Split("test", partitions.original, 50),
    "balanced_train": Split("train", partitions.balanced, 27),
    "balanced_val": Split("val", partitions.balanced, 27),
    "balanced_test": Split("test", partitions.balanced, 27),
    "two_hop_actions": Split("test", partitions.two_actions, 30),
    "two_hop_questions": Split("test", partitions.two_parts, 30),
}
