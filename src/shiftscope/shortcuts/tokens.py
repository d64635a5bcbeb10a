"""Tokens: the words of questions, in lower case and without punctuation, as numbers into their vocabulary."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from ..arrow_array import build_array, read_numbers
from ..question_table import FEW_VALUES

# Letters and digits of any script; an apostrophe or hyphen inside a word belongs to it (what's, t-shirt).
_WORDS = re.compile(r"[^\W_]+(?:['\-][^\W_]+)*")


Ints = npt.NDArray[np.int64]


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
    if len(texts) > FEW_VALUES:
        import pyarrow as pa

        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            return tokenize_array(build_array(texts, pa.large_string()))
    listed = [text.split(" ") for text in texts]
    place: dict[str, int] = {}
    which = [place.setdefault(run, len(place)) for runs in listed for run in runs]
    return _collect_words(place, np.array(which, np.int64), np.cumsum([0, *map(len, listed)]))


def tokenize_array(texts: Any) -> TokenizedTexts:
    """The same for an Arrow array of texts (large_string)."""
    import pyarrow.compute as pc

    split = pc.split_pattern(texts, " ")
    found = split.flatten().dictionary_encode()
    at = read_numbers(split.offsets).astype(np.int64)
    return _collect_words(found.dictionary.to_pylist(), read_numbers(found.indices).astype(np.int64), at - at[0])


def _collect_words(runs: Iterable[str], which: Ints, ends: Ints) -> TokenizedTexts:
    """From what stands between spaces: the distinct ones, the number of each in its order, and where each text ends."""
    said = [tokenize(run) for run in runs]
    vocabulary = sorted(set(chain.from_iterable(said)))
    number = {word: k for k, word in enumerate(vocabulary)}
    listed = np.array([number[word] for one in said for word in one], np.int32)
    length = np.array([*map(len, said)], np.int64)
    many = length[which]
    past = np.concatenate([[0], np.cumsum(many)])
    start = (np.cumsum(length) - length)[which] - past[:-1]
    codes = listed[np.repeat(start, many) + np.arange(int(past[-1]))]
    return TokenizedTexts(tuple(vocabulary), codes, past[ends])
