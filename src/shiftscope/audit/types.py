"""Question types: as given, or the longest of VQA's 65 prefixes, or prefixes learned from the questions.

A learned prefix is one that many questions begin with: from long to short, every prefix that enough of the
questions without a type begin with becomes the type of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..result import Column
from .samples import Samples, coded
from .words import Words, words_of

OTHER = "none of the above"
# The 65 question types of VQA v2, the last for all other questions.
TYPES = (
    *("how many", "is the", "what", "what color is the", "what is the", "is this", "is this a", "what is"),
    *("are the", "what kind of", "is there a", "what type of", "is it", "what are the", "where is the"),
    *("is there", "does the", "what color are the", "are these", "are there", "which", "is"),
    *("what is the man", "is the man", "are", "how", "does this", "what is on the", "what does the"),
    *("how many people are", "what is in the", "what is this", "do", "what are", "are they", "what time"),
    *("what sport is", "are there any", "is he", "what color is", "why", "where are the", "what color"),
    *("who is", "what animal is", "is the woman", "is this an", "do you", "how many people are in"),
    *("what room is", "has", "is this person", "what is the woman", "can you", "why is the"),
    *("is the person", "what is the color of the", "what is the person", "could", "was", "is that a"),
    *("what number is", "what is the name", "what brand", OTHER),
)
PREFIXES = TYPES[:-1]
LONGEST = 6  # words of a learned prefix
ENOUGH = 0.002  # share of the questions that must begin with a learned prefix
MOST = 64  # learned prefixes, besides OTHER
WAYS = ("given", "prefixes", "learned")


def question_types(samples: Samples, words: Words, way: str = "auto") -> tuple[str, Column]:
    """How the types were found, and the type of every sample.

    Given types of VQA are completed: a sample without one gets the longest matching prefix of the 65. In any
    other dataset that gives types, a sample without one has none: -1, the concept NONE.
    """
    if way not in ("auto", *WAYS):
        raise unknown("way to find question types", way, ("auto", *WAYS))
    if way == "auto":
        way = "given" if samples.types is not None else "prefixes" if samples.source == "vqa" else "learned"
    if way == "given":
        if samples.types is None:
            raise UserError("the files give no question types; take --types prefixes or --types learned")
        return way, _completed(samples, samples.types, words)
    prefixes = PREFIXES if way == "prefixes" else learned(words, _asked(samples))
    return way, _spread(matched(words, prefixes), samples.texts)


def _completed(samples: Samples, types: Column, words: Words) -> Column:
    if samples.source != "vqa" or (types.codes >= 0).all():
        return types
    found = _spread(matched(words, PREFIXES), samples.texts)
    return coded([g if g is not None else f for g, f in zip(types.listed(), found.listed(), strict=True)])


def _spread(of_text: Column, texts: Column) -> Column:
    """A column over distinct texts as one over samples; its vocabulary stays as it is, sorted."""
    return of_text.take(texts.codes)


def _asked(samples: Samples) -> npt.NDArray[np.int64]:
    """How many samples ask each distinct text."""
    return np.bincount(samples.texts.codes, minlength=len(samples.texts.values))


def matched(words: Words, prefixes: Sequence[str]) -> Column:
    """For each text the longest prefix that its words begin with, else OTHER."""
    places = _places(words, prefixes)
    longest = max(map(len, places), default=0)
    names: list[str] = []
    codes, at = words.codes.tolist(), words.at.tolist()
    for start, end in pairwise(at):
        key = tuple(codes[start : min(end, start + longest)])
        while key and key not in places:
            key = key[:-1]
        names.append(places[key] if key else OTHER)
    return coded(names)


def _places(words: Words, prefixes: Iterable[str]) -> dict[tuple[int, ...], str]:
    number = {word: k for k, word in enumerate(words.vocabulary)}
    keys = {tuple(number.get(w, -1) for w in words_of(prefix)): prefix for prefix in prefixes}
    return {key: prefix for key, prefix in keys.items() if key and -1 not in key}


def learned(words: Words, asked: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The prefixes that enough questions begin with, most frequent first; `asked` counts each text."""
    enough = max(2, ENOUGH * int(asked.sum()))
    texts = [tuple(words.codes[a:b].tolist()) for a, b in pairwise(words.at.tolist())]
    count = asked.tolist()
    free = set(range(len(texts)))
    found: list[tuple[int, tuple[int, ...]]] = []
    for length in range(LONGEST, 0, -1):
        starts: Counter[tuple[int, ...]] = Counter()
        for t in free:
            if len(texts[t]) >= length:
                starts[texts[t][:length]] += count[t]
        kept = {prefix for prefix, n in starts.items() if n >= enough}
        free = {t for t in free if texts[t][:length] not in kept}
        found += [(starts[prefix], prefix) for prefix in kept]
    found.sort(key=lambda one: (-one[0], one[1]))
    return tuple(" ".join(words.vocabulary[w] for w in prefix) for _, prefix in found[:MOST])
