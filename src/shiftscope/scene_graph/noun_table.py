"""Noun table: what one noun says of all the nouns of a vocabulary at once, as `OpenSchemaSource` says it of each.

The first look-ups of related images spend most of their time on such verdicts, which are the same few sets compared
over and over: here they are bits, and a kernel compares them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import exact, exact_inline


class KnownNoun(NamedTuple):
    """What is known of a name."""

    head: str  # the last words of the name that are known
    own: bool  # whether that is the whole name
    inside: frozenset[str]  # all that it contains, itself included; empty where the schema does not know it
    lines: frozenset[int]  # of nouns that annotators use for one thing
    sides: frozenset[tuple[int, int]]  # of a person: the lines of opposite people it is in, and on which side
    endings: tuple[str, ...]  # of longer names that it contains: a picnic table is a table


UNKNOWN = -1
OWN, VAGUE, WHOLE, INNER = 1, 2, 4, 8  # what a name is: its own head, vague, all of a kind, known to the schema
FIRST_SIDES = 0x5555555555555555  # the bits of side 0
ZERO, ONE = np.uint64(0), np.uint64(1)
Bits = NDArray[np.uint64]  # [word, set]
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
        self._marks = np.array(
            [
                noun.own * OWN
                + (name in vague) * VAGUE
                + (noun.head in whole_kinds) * WHOLE
                + bool(noun.inside) * INNER
                for name, noun in zip(names, self._known, strict=True)
            ],
            np.uint8,
        )
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
        found = np.empty(len(self._known), np.int8)
        _compare_nouns(k, self._inside, self._lines, self._sides[0], self._heads, self._marks, self._unknown, found)
        for keys, table in ((noun.endings, self._by_tail), (_list_tails(name), self._by_ending)):
            for key in keys:
                found[table.get(key, [])] = 0
        found[k] = 0
        return found


@exact
def _compare_nouns(
    k: int, inside: Bits, lines: Bits, sides: Any, heads: Any, marks: Any, unknown: int, found: Verdicts
) -> None:
    """The verdict on each noun beside noun k, as far as its words do not tell; the first rule that applies decides."""
    own, first = marks[k], np.uint64(FIRST_SIDES)
    inside_words, line_words = np.flatnonzero(inside[:, k]), np.flatnonzero(lines[:, k])
    opposite = (sides[k] & first) << ONE | sides[k] >> ONE & first
    for other in range(len(found)):
        mark = marks[other]
        if (own | mark) & VAGUE or _share_item(lines, line_words, k, other):
            found[other] = 0
        elif not own & mark & INNER or (heads[k] == heads[other] and not own & mark & OWN):
            found[other] = unknown
        elif _share_item(inside, inside_words, k, other):
            found[other] = 0
        elif (own | mark) & WHOLE:
            found[other] = unknown
        else:  # of persons: a man may be a player, but no woman
            found[other] = not (sides[k] and sides[other]) or (sides[other] & opposite) != ZERO


@exact_inline
def _share_item(bits: Bits, words: Any, one: int, other: int) -> bool:
    """Whether two sets do; `words` are those of the first that have any."""
    shared = ZERO
    for word in words:
        shared |= bits[word, one] & bits[word, other]
    return bool(shared != ZERO)


def _pack_sets(sets: Sequence[frozenset[Any]], items: Iterable[Any] = ()) -> Bits:
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
