"""Dice: small random choices, drawn in bulk from a generator that is a function of its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..bits import members
from ..rng import derive

T = TypeVar("T")


class Dice:
    """Choices one after the other; equal paths give equal choices."""

    def __init__(self, *path: str | int) -> None:
        self._generator = derive(*path)
        self._drawn: list[float] = []

    def below(self, n: int) -> int:
        """A number from 0 to n − 1."""
        if not self._drawn:
            self._drawn = self._generator.random(64).tolist()
        return int(self._drawn.pop() * n)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def one_in(self, n: int) -> bool:
        return self.below(n) == 0

    def shuffled(self, options: Sequence[T]) -> list[T]:
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in options]

    def member(self, mask: int) -> int:
        """A random member of a set that is not empty."""
        return self.pick(list(members(mask)))
