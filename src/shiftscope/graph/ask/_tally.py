"""Sets of images with few or many instances of the subgraph, for questions that count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ._dice import Dice
from .context import MOST_IMAGES, Case


class Tally(NamedTuple):
    """Images, and how often the subgraph is in each."""

    graphs: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.counts)


def tallies(case: Case) -> tuple[Tally, ...]:
    """Sets with none, one, two, … images that contain the subgraph, in a drawn order; one for all templates.

    The rest are distractors, and there is at least one of them.
    """
    key = "tallies"
    if key not in case.kept:
        case.kept[key] = tuple(_tallies(case, case.dice(key)))
    found: tuple[Tally, ...] = case.kept[key]
    return found


def tallied(case: Case) -> dict[int, int]:
    """The images with the subgraph in which its instances can be counted, and how many each has."""
    there = case.roots(case.subgraph)
    return {g: len(there[g]) for g in case.with_it if case.counted(case.subgraph, g)}


def _tallies(case: Case, dice: Dice) -> Iterator[Tally]:
    counted = list(tallied(case))
    for many in dice.order(range(min(len(counted), MOST_IMAGES) + 1)):
        graphs = tuple(dice.order(counted)[:many])
        if many < MOST_IMAGES:
            graphs = case.around(graphs, case.others, [case.subgraph], dice)
            if len(graphs) == many:
                continue
        if len(graphs) > 1:
            there = case.roots(case.subgraph)
            yield Tally(graphs, tuple(len(there[graph]) for graph in graphs))
