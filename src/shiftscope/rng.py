"""Randomness is a path, never a default: `derive("clevr", "train", 17, "layout")`.

Draws one after the other come from two streams, of hypothetical actions and of scene graphs; stored datasets depend
on both.
"""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

import numpy as np

_SIZES = [size.to_bytes(4, "little") for size in range(64)]


def seed_of(*path: str | int) -> int:
    """128 bits that depend on every step of the path, on its order and on each step's type."""
    parts: list[bytes] = []
    for step in path:
        if isinstance(step, str):
            text = f"s{step}".encode()
        elif isinstance(step, int) and step is not True and step is not False:
            text = f"i{step}".encode()
        else:
            raise TypeError(f"a random path is made of str and int, not {type(step).__name__}")
        size = len(text)
        parts += (_SIZES[size] if size < len(_SIZES) else size.to_bytes(4, "little")), text
    return int.from_bytes(blake2b(b"".join(parts), digest_size=16).digest(), "little")


def derive(*path: str | int) -> np.random.Generator:
    """A generator that is a function of the path alone: same on every machine, process and run."""
    return np.random.Generator(np.random.PCG64(seed_of(*path)))


T = TypeVar("T")
FEWEST_BITS = 1 << 48  # below it, too few bits are left for a fair draw


class RandomChoices:
    """From a Mersenne twister that the path seeds; for hypothetical actions."""

    def __init__(self, *path: str | int) -> None:
        # Not NumPy's generator, which takes longer to make than all the choices drawn from it.
        self._draw = Random(seed_of(*path))

    def draw_below(self, n: int) -> int:
        """A number from 0 to n − 1."""
        return int(self._draw.random() * n)

    def draw_bits(self) -> int:
        """64 random bits."""
        return self._draw.getrandbits(64)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._draw.random() * len(options))]

    def happens_one_in(self, n: int) -> bool:
        return self.draw_below(n) == 0

    def shuffle(self, options: Sequence[T]) -> list[T]:
        left = list(options)
        return [left.pop(self.draw_below(len(left))) for _ in options]

    def pick_member(self, mask: int) -> int:
        """A random member of a set that is not empty."""
        for _ in range(self.draw_below(mask.bit_count())):
            mask &= mask - 1
        return (mask & -mask).bit_length() - 1


class PathDice:
    """From the bits of the path's seed, cheap where most are never used; for scene graphs."""

    __slots__ = ("_bits", "_path", "_times")

    def __init__(self, *path: str | int) -> None:
        self._path, self._times = path, 0
        self._bits = 0

    def draw_below(self, size: int) -> int:
        """A number from 0 to size − 1."""
        if self._bits < FEWEST_BITS:
            self._bits = seed_of(*self._path, self._times)
            self._times += 1
        self._bits, drawn = divmod(self._bits, size)
        return drawn

    def draw_one(self, options: Sequence[T]) -> T:
        return options[self.draw_below(len(options))]

    def shuffle(self, options: Sequence[T]) -> list[T]:
        """All of them, in a drawn order."""
        left = list(options)
        for k in range(len(left) - 1, 0, -1):
            other = self.draw_below(k + 1)
            left[k], left[other] = left[other], left[k]
        return left
