"""The nine concepts of every sample (VQA-VS §3.3 and appendix B.3): labels for grouping.

Two readings of ours, where the paper says nothing. Words of the question's type are no words of the question:
f(w) and f(w, a) of equation 6 count the samples that have w outside their type, so `color` of "what color is
the" does not count towards the f of `color` elsewhere. And an image that the object annotations do not name
is not an image without objects: its samples have no concept by objects and are in no such group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..result import Column
from .information import Bags, Ranked, bags_of, ranked
from .keys import numbered
from .labels import KO, KOP, KW, KWP, LANGUAGE, QT, SHORTCUTS, Labels, labels_of
from .samples import Samples
from .types import PREFIXES, question_types
from .words import Words, read_words, words_of

NO_OBJECTS = "no object annotations are given"
NOTHING_SHOWN = "the object annotations name none of the images"
NEARLY = 99  # per cent of a type's questions that must begin with it, for a type that is not one of VQA's


@dataclass(frozen=True, slots=True, eq=False)
class Concepts:
    """The labels of each shortcut that can be labelled, and why the others can not."""

    types: str  # how the question types were found
    labels: dict[str, Labels]  # in the order of Table 1
    missing: tuple[tuple[str, str], ...]
    words: Ranked
    objects: Ranked | None


def label(samples: Samples, types: str = "auto", counted: npt.NDArray[np.bool_] | None = None) -> Concepts:
    """Every sample's concepts; f and K of eq. 6 count all samples, or those marked in `counted`."""
    words = read_words(samples.texts.values)
    way, typed = question_types(samples, words, types)
    keywords = ranked(word_bags(samples, words, typed), samples.answers.codes, counted)
    columns = {QT: (typed.codes,), KW: (keywords.first,), KWP: (keywords.first, keywords.second)}
    vocabulary: dict[str, tuple[str, ...]] = {QT: typed.values, KW: words.vocabulary}
    why, keys, seen = NO_OBJECTS, None, known_objects(samples)
    if samples.objects is not None:
        why = "" if seen.any() else NOTHING_SHOWN
    if samples.objects is not None and not why:
        keys = ranked(object_bags(samples), samples.answers.codes, counted)
        columns |= {KO: (keys.first,), KOP: (keys.first, keys.second)}
        vocabulary[KO] = samples.objects.kinds
    labels = {}
    for shortcut in SHORTCUTS if keys else LANGUAGE:
        parts = [p.removesuffix("P") for p in shortcut.split("+")]
        known = None if shortcut in LANGUAGE else seen
        if shortcut in (KWP, KOP):
            labels[shortcut] = labels_of(shortcut, (vocabulary[parts[0]],) * 2, columns[shortcut], known)
        else:
            found = tuple(columns[p][0] for p in parts)
            labels[shortcut] = labels_of(shortcut, tuple(vocabulary[p] for p in parts), found, known)
    missing = tuple((shortcut, why) for shortcut in SHORTCUTS if shortcut not in labels)
    return Concepts(way, labels, missing, keywords, keys)


def word_bags(samples: Samples, words: Words, types: Column) -> Bags:
    """The words of each question outside its type, where the type is how the question begins.

    A type of VQA is always taken so, any other if at least NEARLY per cent of its questions begin with it:
    a learned prefix, but not a dataset's own kind `count`, though some of its questions begin with "Count".
    """
    kinds = len(types.values) + 1
    asked = samples.texts.codes.astype(np.int64) * kinds + (types.codes + 1)
    distinct, of, asked_by = numbered(asked)  # one bag for each text with a type
    text, kind = distinct // kinds, distinct % kinds - 1
    start, end = words.at[text], words.at[text + 1]
    start = start + _prefix_lengths(words, types.values, kind, start, end, asked_by)
    length = end - start
    bag = np.repeat(np.arange(len(distinct)), length)
    step = np.arange(len(bag)) - np.repeat(np.cumsum(length) - length, length)
    return bags_of(bag, words.codes[np.repeat(start, length) + step].astype(np.int64), len(distinct), of)


def _prefix_lengths(
    words: Words,
    types: tuple[str, ...],
    kind: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    asked: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """How many words at the beginning of each text, which so many samples ask, are its type's: all or 0."""
    found = np.zeros(len(kind), np.int64)
    number = {word: k for k, word in enumerate(words.vocabulary)}
    order = np.argsort(kind, kind="stable")
    bounds = np.searchsorted(kind[order], np.arange(len(types) + 1))
    for k, name in enumerate(types):
        mine = order[bounds[k] : bounds[k + 1]]
        total, prefix = int(asked[mine].sum()), words_of(name)
        mine = mine[end[mine] - start[mine] >= len(prefix)]
        for place, word in enumerate(prefix):
            mine = mine[words.codes[start[mine] + place] == number.get(word, -1)]
        if name in PREFIXES or 100 * int(asked[mine].sum()) >= NEARLY * total:
            found[mine] = len(prefix)
    return found


def known_objects(samples: Samples) -> npt.NDArray[np.bool_]:
    """[sample] whether the object annotations name its image, be it as one without objects."""
    if samples.objects is None:
        return np.zeros(len(samples), bool)
    named: npt.NDArray[np.bool_] = np.append(samples.objects.known, False)[samples.images.codes]
    return named


def object_bags(samples: Samples) -> Bags:
    """The kinds of objects in each sample's image."""
    assert samples.objects is not None
    return Bags(samples.objects.codes, samples.objects.at, samples.images.codes.astype(np.int64))
