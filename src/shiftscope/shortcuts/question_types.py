"""Question types: as given, or the longest of VQA's 65 prefixes, or prefixes learned from the questions.

A learned prefix is one that many questions begin with: from long to short, every prefix that enough of the
questions without a type begin with becomes the type of these. Questions are tokenized in lower case, without
punctuation, each distinct text once.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from ..columns import Column
from ..errors import UserError, unknown
from ..formats.vqa import OTHER_TYPE
from ..formats.vqa import SOURCE as VQA
from ..formats.vqa import question_types as vqa_types
from ..question_table import QuestionTable, encode_column

# Words of questions as numbers: lower case, without punctuation, each distinct text read once.

# Letters and digits of any script; an apostrophe or hyphen inside a word belongs to it (what's, t-shirt).
_WORDS = re.compile(r"[^\W_]+(?:['\-][^\W_]+)*")
_TEXT_END = "\n"


@dataclass(frozen=True, slots=True, eq=False)
class TokenizedTexts:
    """Text t reads `vocabulary[codes[at[t] : at[t + 1]]]`, in its order, repetitions included."""

    vocabulary: tuple[str, ...]  # alphabetical (by code point)
    codes: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]  # [text + 1]


def tokenize(text: str) -> list[str]:
    """The words of one text, every letter and apostrophe in one spelling: `dog’s` is `dog's`."""
    plain = text.lower() if text.isascii() else normalize("NFC", text).lower().replace("’", "'")
    return _WORDS.findall(plain)


def tokenize_texts(texts: Sequence[str]) -> TokenizedTexts:
    """The words of many texts. No word reaches over a space, so what stands between spaces is read once."""
    runs = " \n ".join([*(text.replace("\n", " ") for text in texts), ""]).split(" ")
    runs.pop()  # what follows the last end
    distinct = sorted(set(runs) - {_TEXT_END})
    said = [tokenize(run) for run in distinct]
    vocabulary = sorted(set(chain.from_iterable(said)))
    number = {word: k for k, word in enumerate(vocabulary)}
    listed = np.array([number[word] for one in said for word in one], np.int32)
    length = np.array([*map(len, said), 0], np.int64)  # the last for the end of a text
    place = {run: k for k, run in enumerate((*distinct, _TEXT_END))}
    which = np.fromiter(map(place.__getitem__, runs), np.int32, len(runs))
    many = length[which]
    past = np.cumsum(many)
    start = (np.cumsum(length) - length)[which] - (past - many)
    codes = listed[np.repeat(start, many) + np.arange(int(many.sum()))]
    at = np.concatenate([[0], past[which == len(distinct)]])
    return TokenizedTexts(tuple(vocabulary), codes, at)


MAX_PREFIX_WORDS = 6  # words of a learned prefix
MIN_PREFIX_SHARE = 0.002  # share of the questions that must begin with a learned prefix
MAX_PREFIXES = 64  # learned prefixes, besides OTHER
TYPE_SOURCES = ("given", "prefixes", "learned")


def find_question_types(samples: QuestionTable, words: TokenizedTexts, way: str = "auto") -> tuple[str, Column]:
    """How the types were found, and the type of every sample.

    Given types of VQA are completed: a sample without one gets the longest matching prefix of the 65. In any
    other dataset that gives types, a sample without one has none: -1, the concept NONE.
    """
    if way not in ("auto", *TYPE_SOURCES):
        raise unknown("way to find question types", way, ("auto", *TYPE_SOURCES))
    if way == "auto":
        way = "given" if samples.types is not None else "prefixes" if samples.source == VQA else "learned"
    if way == "given":
        if samples.types is None:
            raise UserError("the files give no question types; take --types prefixes or --types learned")
        types = samples.types
        if samples.source == VQA and (types.codes < 0).any():
            found = match_prefixes(words, vqa_types()[:-1]).take(samples.texts.codes).to_list()
            types = encode_column([g if g is not None else f for g, f in zip(types.to_list(), found, strict=True)])
        return way, types
    asked = np.bincount(samples.texts.codes, minlength=len(samples.texts.values))  # [text] samples
    prefixes = vqa_types()[:-1] if way == "prefixes" else learn_prefixes(words, asked)
    return way, match_prefixes(words, prefixes).take(samples.texts.codes)


def match_prefixes(words: TokenizedTexts, prefixes: Sequence[str]) -> Column:
    """For each text the longest prefix that its words begin with, else OTHER."""
    number = {word: k for k, word in enumerate(words.vocabulary)}
    places = {tuple(number.get(w, -1) for w in tokenize(prefix)): prefix for prefix in prefixes}  # -1: in no text
    places.pop((), None)
    longest = max(map(len, places), default=0)
    names: list[str] = []
    codes, at = words.codes.tolist(), words.at.tolist()
    for start, end in pairwise(at):
        key = tuple(codes[start : min(end, start + longest)])
        while key and key not in places:
            key = key[:-1]
        names.append(places[key] if key else OTHER_TYPE)
    return encode_column(names)


def learn_prefixes(words: TokenizedTexts, asked: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The prefixes that enough questions begin with, most frequent first; `asked` counts each text."""
    enough = max(2, MIN_PREFIX_SHARE * int(asked.sum()))
    texts = [tuple(words.codes[a:b].tolist()) for a, b in pairwise(words.at.tolist())]
    count = asked.tolist()
    free = set(range(len(texts)))
    found: list[tuple[int, tuple[int, ...]]] = []
    for length in range(MAX_PREFIX_WORDS, 0, -1):
        starts: Counter[tuple[int, ...]] = Counter()
        for t in free:
            if len(texts[t]) >= length:
                starts[texts[t][:length]] += count[t]
        kept = {prefix for prefix, n in starts.items() if n >= enough}
        free = {t for t in free if texts[t][:length] not in kept}
        found += [(starts[prefix], prefix) for prefix in kept]
    found.sort(key=lambda one: (-one[0], one[1]))
    return tuple(" ".join(words.vocabulary[w] for w in prefix) for _, prefix in found[:MAX_PREFIXES])
