"""Words of questions as numbers: lower case, without punctuation, each distinct text read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

# Letters and digits of any script; an apostrophe or hyphen inside a word belongs to it (what's, t-shirt).
_WORD = r"[^\W_]+(?:['\-][^\W_]+)*"
_WORDS = re.compile(_WORD)
_END = "\n"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Text t reads `vocabulary[codes[at[t] : at[t + 1]]]`, in its order, repetitions included."""

    vocabulary: tuple[str, ...]  # alphabetical (by code point)
    codes: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]  # [text + 1]


def words_of(text: str) -> list[str]:
    """The words of one text."""
    return _WORDS.findall(_plain(text))


def _plain(text: str) -> str:
    """In lower case, every letter and apostrophe in one spelling: `dog’s` is `dog's`."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", text).lower().replace("’", "'")


def read_words(texts: Sequence[str]) -> Words:
    """The words of many texts. No word reaches over a space, so what stands between spaces is read once."""
    runs = " \n ".join([*(text.replace("\n", " ") for text in texts), ""]).split(" ")
    runs.pop()  # what follows the last end
    distinct = sorted(set(runs) - {_END})
    said = [words_of(run) for run in distinct]
    vocabulary = sorted(set(chain.from_iterable(said)))
    number = {word: k for k, word in enumerate(vocabulary)}
    listed = np.array([number[word] for one in said for word in one], np.int32)
    length = np.array([*map(len, said), 0], np.int64)  # the last for the end of a text
    place = {run: k for k, run in enumerate((*distinct, _END))}
    which = np.fromiter(map(place.__getitem__, runs), np.int32, len(runs))
    many = length[which]
    past = np.cumsum(many)
    start = (np.cumsum(length) - length)[which] - (past - many)
    codes = listed[np.repeat(start, many) + np.arange(int(many.sum()))]
    at = np.concatenate([[0], past[which == len(distinct)]])
    return Words(tuple(vocabulary), codes, at)
