"""Dice: small random choices, one after the other, that are a function of a path."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from ..rng import seed_of

T = TypeVar("T")


class Dice:
    """Choices one after the other; equal paths give equal choices."""

    def __init__(self, *path: str | int) -> None:
        # Not NumPy's generator, which takes longer to make than all the choices drawn from it.
        self._draw = Random(seed_of(*path))

    def below(self, n: int) -> int:
        """A number from 0 to n − 1."""
        return int(self._draw.random() * n)

    def word(self) -> int:
        """64 random bits."""
        return self._draw.getrandbits(64)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._draw.random() * len(options))]

    def one_in(self, n: int) -> bool:
        return self.below(n) == 0

    def shuffled(self, options: Sequence[T]) -> list[T]:
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in options]

    def member(self, mask: int) -> int:
        """A random member of a set that is not empty."""
        for _ in range(self.below(mask.bit_count())):
            mask &= mask - 1
        return (mask & -mask).bit_length() - 1
