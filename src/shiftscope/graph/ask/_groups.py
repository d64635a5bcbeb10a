"""Images that contain so many instances of a subgraph: the condition, and sets with few or many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ..subgraph import Subgraph
from ._dice import Dice
from ._numbers import TESTS, passes, so_many
from ._tally import tallied, tallies
from .context import MOST_IMAGES, Case
from .meaning import Making
from .say import one

ANY = 0  # as a number: an image contains one, or more
UNTESTED = 10  # one in so many names no number
NUMBERED = tuple(test for test in TESTS if test)


class Groups(NamedTuple):
    """A condition on an image, and sets of images with how many of them meet it."""

    test: str
    number: int
    tallied: tuple[tuple[tuple[int, ...], int], ...]

    def images(self, making: Making, subgraph: Subgraph) -> int:
        """The node of the images that meet the condition."""
        found = making.found(subgraph)
        if self.number == ANY:
            return making.put("images", found)
        words = (TESTS[self.test], str(self.number))
        return making.put("keep", making.put("group", found), words=words)

    def said(self, subgraph: Subgraph) -> str:
        return one(subgraph, "a") if self.number == ANY else so_many(subgraph, self.test, self.number)


def groups(case: Case, dice: Dice) -> Groups | None:
    """A drawn condition, with a number that images of the case have."""
    test = dice.one(NUMBERED) if dice.below(UNTESTED) else ""
    if test == "at most":
        return _at_most(case, dice)
    found = tallies(case)
    seen = sorted({count for one in found for count in one.counts if count})
    if not seen:
        return None
    number = dice.one(seen) if test else ANY
    sets = tuple(
        (one.graphs, sum(1 for count in one.counts if count and (not test or passes(test, count, number))))
        for one in found
    )
    return Groups(test, number, sets)


def _at_most(case: Case, dice: Dice) -> Groups | None:
    """A number below the largest met; all images contain one, and some contain more than that."""
    counts = tallied(case)
    most = max(counts.values(), default=0)
    if most < 2:
        return None
    number = 1 + dice.below(most - 1)
    few = dice.order([graph for graph, count in counts.items() if count <= number])
    more = dice.order([graph for graph, count in counts.items() if count > number])
    sets = tuple(_mixed(few, more, dice))
    return Groups("at most", number, sets) if sets else None


def _mixed(few: list[int], more: list[int], dice: Dice) -> Iterator[tuple[tuple[int, ...], int]]:
    """Sets with so many of these, and at least one of those."""
    for some, others in dice.order(list(product(range(len(few) + 1), range(1, len(more) + 1)))):
        if 2 <= some + others <= MOST_IMAGES:
            yield (*few[:some], *more[:others]), some
