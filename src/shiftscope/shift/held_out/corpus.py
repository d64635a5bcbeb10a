"""Corpus: all questions of a dataset, and what can be drawn from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations

from ...errors import UserError
from ...question import Question
from .facts import Facts

TOGETHER = (15, 6_891)  # so often, of so many questions for development
APART = (50, 248_100)  # so often, of so many questions for training

Pair = tuple[str, str]


class Corpus:
    """Read whenever something is drawn; what may be drawn stands in one order, whatever that of the files."""

    def __init__(self, read: Callable[[], Iterator[tuple[bool, Question]]]) -> None:
        self.read = read  # every question, and whether it is one to train on

    @cached_property
    def programs(self) -> list[str]:
        """The programs without their words."""
        return sorted({Facts(question).anonymous for _, question in self.read()})

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs of names of one program that can be held out and tested.

        As in COVR's released code they occur together in the evaluation questions, and each name is learned
        without the other; how often is in proportion: there 15 and 50 times.
        """
        alone: Counter[str] = Counter()
        learned: Counter[Pair] = Counter()
        tested: Counter[Pair] = Counter()
        sizes = [0, 0]
        for training, question in self.read():
            names = sorted(Facts(question).names)
            sizes[training] += 1
            if training:
                alone.update(names)
            (learned if training else tested).update(combinations(names, 2))
        together, apart = (_scaled(*few, n) for few, n in zip((TOGETHER, APART), sizes, strict=True))
        found = [
            pair
            for pair, times in tested.items()
            if times >= together and all(alone[name] - learned[pair] >= apart for name in pair)
        ]
        if not found:
            raise UserError(
                "no pair of names can be held out: none occurs in the evaluation questions while each "
                "name is learned without the other; take more questions"
            )
        return sorted(found)


def _scaled(times: int, of: int, size: int) -> int:
    """How often is often enough among so many questions; once at least."""
    return max(1, round(times * size / of))
