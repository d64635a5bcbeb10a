"""Heard: the random bits that a question may have been worded with, from its text alone.

The same bits then choose the same phrases for its twins. Bits that made no difference are drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ...rng import seed_of
from ..template import OTHER
from ..wording import ANOTHER, OPTION_BITS, Article, Cut, Gap, Wording

WORD = re.compile(r"[\w'-]+|[^\w\s]")
ARTICLES = ("a", "an")
WINDOW = 8  # bits that choose a way to say a word

Choice = tuple[int, int, int]  # shift, how many ways there are, and which was taken


def dice_of(text: str, wording: Wording, values: list[int]) -> int | None:
    """Bits with which the wording of these values gives the text; None where no bits do."""
    heard = _words(text)
    drawn = seed_of("heard", text)
    for which, cut in enumerate(wording.cuts):
        for kept, choices in _hear(cut, values, heard):
            high = kept << WINDOW
            high += (which - high) % len(wording.cuts)
            low = _bits(choices, drawn & ((1 << OPTION_BITS) - 1), 0)
            if low is not None and wording(values, dice := high << OPTION_BITS | low) == text:
                return dice
    return None


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(text.lower()))


def _hear(cut: Cut, values: list[int], heard: tuple[str, ...]) -> Iterator[tuple[int, tuple[Choice, ...]]]:
    """The ways to get the words out of the text: which optional words were kept, how slots were said."""
    begins = {first: (1 << n, last) for n, (first, last) in enumerate(cut.options)}
    todo: list[tuple[int, int, int, tuple[Choice, ...], bool]] = [(0, 0, 0, (), False)]
    while todo:
        i, at, kept, choices, inside = todo.pop()
        if i in begins and not inside:
            bit, last = begins[i]
            todo.append((last, at, kept, choices, False))
            todo.append((i, at, kept | bit, choices, True))
            continue
        if i == len(cut.tokens):
            if at == len(heard):
                yield kept, choices
            continue
        token = cut.tokens[i]
        if isinstance(token, Gap):
            ways, shift = token.ways[values[token.slot]]
            said = [(_words(way), (*choices, (shift, len(ways), n))) for n, way in enumerate(ways)]
        else:
            said = [(words, choices) for words in _literal(token)]
        for words, chosen in said or [((), choices)]:
            if heard[at : at + len(words)] == words:
                todo.append((i + 1, at + len(words), kept, chosen, False))


def _literal(token: object) -> list[tuple[str, ...]]:
    """What may be read where a text has this."""
    word = token if isinstance(token, str) else getattr(token, "text", "a")
    lowered = word.lower()
    if lowered in ARTICLES or isinstance(token, Article):
        return [(a,) for a in ARTICLES]
    if lowered == ANOTHER:
        return [(ANOTHER,), *((a,) for a in ARTICLES)]
    return [(OTHER,), ()] if lowered == OTHER else [_words(word)]


def _bits(choices: tuple[Choice, ...], drawn: int, fixed: int) -> int | None:
    """The drawn bits, changed outside `fixed` until they choose as told."""
    if not choices:
        return drawn
    (shift, ways, wanted), rest = choices[0], choices[1:]
    window = (drawn >> shift) & ((1 << WINDOW) - 1)
    if ways == 1:
        return _bits(rest, drawn, fixed)
    matters = ways - 1 if ways & (ways - 1) == 0 else (1 << WINDOW) - 1  # of a power of two the last bits
    for change in range(1 << WINDOW):
        if change & ~matters or change & (fixed >> shift):
            continue
        if (window ^ change) % ways == wanted:
            found = _bits(rest, drawn ^ change << shift, fixed | matters << shift)
            if found is not None:
                return found
    return None
