"""Dice: cheap draws that are a function of a random path alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...rng import seed_of

T = TypeVar("T")
LOW = 1 << 48  # below it, what is left of the bits is too little for a fair draw


class Dice:
    """Draws one after the other from the bits of a path's seed."""

    __slots__ = ("_bits", "_path", "_times")

    def __init__(self, *path: str | int) -> None:
        self._path, self._times = path, 0
        self._bits = 0  # many dice are never thrown

    def below(self, size: int) -> int:
        """A number from 0 to size − 1."""
        if self._bits < LOW:
            self._bits = seed_of(*self._path, self._times)
            self._times += 1
        self._bits, drawn = divmod(self._bits, size)
        return drawn

    def one(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def order(self, options: Sequence[T]) -> list[T]:
        """All of them, in a drawn order."""
        left = list(options)
        for k in range(len(left) - 1, 0, -1):
            other = self.below(k + 1)
            left[k], left[other] = left[other], left[k]
        return left
