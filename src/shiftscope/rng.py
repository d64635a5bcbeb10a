"""Randomness is a path, never a default: `derive("clevr", "train", 17, "layout")`.

Draws one after the other come from streams: of hypothetical actions, of scene graphs, and of what kernels draw
(`KernelStream`); stored datasets depend on each.
"""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.random.bit_generator import ISeedSequence

from .kernels import exact, exact_inline

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


# NumPy takes longer to seed a generator than a scene to draw from it: where kernels are called anyway, one does it.


def derive_by_kernel(*path: str | int) -> np.random.Generator:
    """The same generator, seeded in half the time; but the first call imports Numba."""
    seed: Any = _KernelSeed(seed_of(*path))
    return np.random.Generator(np.random.PCG64(seed))


class _KernelSeed(ISeedSequence):
    """What NumPy's `SeedSequence` makes of a seed of 128 bits, as far as PCG64 asks for it."""

    def __init__(self, seed: int) -> None:
        self._words = np.frombuffer(seed.to_bytes(16, "little"), "<u4")

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return _spread_seed(self._words, np.empty(2 * n_words, np.uint32)).view(dtype)


@exact
def _spread_seed(seed: Any, out: Any) -> Any:
    """`SeedSequence`: four words mixed with each other, then drawn on for as many as there is room for."""
    half, pool = np.uint32(16), np.empty(4, np.uint32)
    turn = np.uint32(0x43B0D7E5)
    for k in range(16):  # each word by itself, then each into the three others
        source, target = (k, k) if k < 4 else ((k - 4) // 3, (k - 4) % 3)
        if k >= 4 and target >= source:
            target += 1
        word = (seed[k] if k < 4 else pool[source]) ^ turn
        turn = np.uint32(turn * np.uint32(0x931E8875))
        word = np.uint32(word * turn)
        word ^= word >> half
        if k >= 4:
            word = np.uint32(np.uint32(0xCA01F9DD) * pool[target] - np.uint32(0x4973F715) * word)
            word ^= word >> half
        pool[target] = word
    turn = np.uint32(0x8B51F9DD)
    for k in range(len(out)):
        word = pool[k % 4] ^ turn
        turn = np.uint32(turn * np.uint32(0x58F38DED))
        word = np.uint32(word * turn)
        out[k] = word ^ word >> half
    return out


# The same numbers inside kernels. PCG64 is a state of 128 bits, multiplied and added to at each step; kernels see it
# as two words.

Stream = npt.NDArray[np.uint64]  # upper and lower half of the state, then of what is added to it
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_UPPER, _LOWER = np.uint64(_MULTIPLIER >> 64), np.uint64(_MULTIPLIER & (1 << 64) - 1)
_HALF = np.uint64(0xFFFFFFFF)


class KernelStream:
    """Numbers that kernels draw from `words`, and Python in between: together those of the generator, in order."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self.words = self._read_words()

    def _read_words(self) -> Stream:
        now: Any = self._generator.bit_generator.state["state"]
        return _split_words(now["state"], now["inc"])

    def draw_below(self, n: int) -> int:
        """A number from 0 to n − 1."""
        source = self._generator.bit_generator
        upper, lower = self.words[:2].tolist()
        before: Any = source.state
        source.state = {**before, "state": {**before["state"], "state": upper << 64 | lower}}
        drawn = int(self._generator.integers(n))
        self.words[:] = self._read_words()
        return drawn


def _split_words(*numbers: int) -> Stream:
    return np.array([half for n in numbers for half in (n >> 64, n & (1 << 64) - 1)], np.uint64)


def plan_skip(draws: int) -> Stream:
    """What `skip_draws` takes to skip so many: the factors of the state and of what is added to it."""
    factor, total = 1, 0
    for _ in range(draws):
        factor, total = (n & (1 << 128) - 1 for n in (factor * _MULTIPLIER, total * _MULTIPLIER + 1))
    return _split_words(factor, total)


@exact_inline
def draw_double(stream: Stream) -> float:
    """As `Generator.random` does: 53 bits, from 0 to below 1."""
    high, low = _multiply(stream[0], stream[1], _UPPER, _LOWER)
    high, low = _add(high, low, stream[2], stream[3])
    stream[0], stream[1] = high, low
    mixed, turn = high ^ low, high >> np.uint64(58)
    bits = mixed >> turn | mixed << (np.uint64(64) - turn & np.uint64(63))
    return np.float64(bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@exact_inline
def skip_draws(stream: Stream, plan: Stream) -> None:
    high, low = _multiply(stream[0], stream[1], plan[0], plan[1])
    stream[0], stream[1] = _add(high, low, *_multiply(stream[2], stream[3], plan[2], plan[3]))


@exact_inline
def _multiply(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The lower 128 bits of a b times c d, each two words."""
    bl, bh, dl, dh = b & _HALF, b >> np.uint64(32), d & _HALF, d >> np.uint64(32)
    across, other = bl * dh, bh * dl
    carry = (bl * dl >> np.uint64(32)) + (across & _HALF) + (other & _HALF)
    high = bh * dh + (across >> np.uint64(32)) + (other >> np.uint64(32)) + (carry >> np.uint64(32))
    return high + a * d + b * c, b * d


@exact_inline
def _add(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a b plus c d, each two words."""
    low = b + d
    return a + c + np.uint64(low < b), low


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
