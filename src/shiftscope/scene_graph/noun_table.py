"""Noun table: what one noun says of all the nouns of a vocabulary at once, as `OpenSchemaSource` says it of each.

The first look-ups of related images spend most of their time on such verdicts, which are the same few sets compared
over and over: here they are bits.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class KnownNoun(NamedTuple):
    """What is known of a name."""

    head: str  # the last words of the name that are known
    own: bool  # whether that is the whole name
    inside: frozenset[str]  # all that it contains, itself included; empty where the schema does not know it
    lines: frozenset[int]  # of nouns that annotators use for one thing
    sides: frozenset[tuple[int, int]]  # of a person: the lines of opposite people it is in, and on which side
    endings: tuple[str, ...]  # of longer names that it contains: a picnic table is a table


UNKNOWN = -1
Verdicts = NDArray[np.int8]  # 1: they exclude each other, 0: they do not, or UNKNOWN


class NounTable:
    """Names, and what is known of them as bits."""

    def __init__(
        self,
        names: Sequence[str],
        describe: Callable[[str], KnownNoun],
        vague: frozenset[str],
        whole_kinds: Mapping[str, str],
        unknown: int = UNKNOWN,
    ) -> None:
        """`unknown` is the verdict on two names of which nothing is known; a name that is none of these has none."""
        self._unknown = unknown
        self._places = {name: k for k, name in enumerate(names)}
        self._known = [describe(name) for name in names]
        self._inside = _pack_sets([noun.inside for noun in self._known])
        self._lines = _pack_sets([noun.lines for noun in self._known])
        self._sides = _pack_sets([noun.sides for noun in self._known], [(n, s) for n in range(-1, 29) for s in (0, 1)])
        heads: dict[str, int] = {}
        self._heads = np.array([heads.setdefault(noun.head, len(heads)) for noun in self._known], np.int32)
        self._own, self._vague, self._whole, self._inner = np.array(
            [
                (noun.own, name in vague, noun.head in whole_kinds, bool(noun.inside))
                for name, noun in zip(names, self._known, strict=True)
            ],
            bool,
        ).T.reshape(4, -1)
        self._by_ending, self._by_tail = (dict[str, list[int]]() for _ in range(2))
        for k, (name, noun) in enumerate(zip(names, self._known, strict=True)):
            for ending in noun.endings:
                self._by_ending.setdefault(ending, []).append(k)
            for tail in _list_tails(name):
                self._by_tail.setdefault(tail, []).append(k)

    def judge(self, name: str) -> Verdicts:
        """The verdict on each of the names beside this one; none where it is not one of them."""
        if name not in self._places:
            return np.full(len(self._known), UNKNOWN, np.int8)
        k = self._places[name]
        noun = self._known[k]
        found = np.ones(len(self._known), np.int8)
        if noun.sides:  # of persons: a man may be a player, but no woman
            sides, own = self._sides[0], int(self._sides[0, k])
            opposite = np.uint64((own & _FIRST_SIDES) << 1 | own >> 1 & _FIRST_SIDES)
            found[(sides != 0) & (sides & opposite == 0)] = 0
        found[self._whole | self._whole[k]] = self._unknown
        found[_overlap(self._inside, k)] = 0
        found[~self._inner | ((self._heads == self._heads[k]) & ~(self._own & self._own[k]))] = self._unknown
        if not self._inner[k]:
            found[:] = self._unknown
        found[self._vague | _overlap(self._lines, k)] = 0
        for keys, table in ((noun.endings, self._by_tail), (_list_tails(name), self._by_ending)):
            for key in keys:
                found[table.get(key, [])] = 0
        if self._vague[k]:
            found[:] = 0
        found[k] = 0
        return found


_FIRST_SIDES = 0x5555555555555555  # the bits of side 0


def _overlap(bits: NDArray[np.uint64], k: int) -> NDArray[np.bool_]:
    """[set] whether it shares an item with set k."""
    shared = np.zeros(bits.shape[1], bool)
    for word in np.flatnonzero(bits[:, k]):
        shared |= bits[word] & bits[word, k] != 0
    return shared


def _pack_sets(sets: Sequence[frozenset[Any]], items: Iterable[Any] = ()) -> NDArray[np.uint64]:
    """[word, set] each as bits."""
    numbers = {item: k for k, item in enumerate(items or sorted(frozenset().union(*sets)))}
    packed = np.zeros((len(numbers) // 64 + 1, len(sets)), np.uint64)
    for k, some in enumerate(sets):
        for item in some:
            number = numbers[item]
            packed[number >> 6, k] |= np.uint64(1 << (number & 63))
    return packed


def _list_tails(name: str) -> list[str]:
    """What a longer name ends in, from each of its spaces on."""
    return [name[k:] for k, letter in enumerate(name) if letter == " "]
