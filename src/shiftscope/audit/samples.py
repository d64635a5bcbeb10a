"""Samples: a whole question answering dataset in columns, with what was odd about its files.

Reading is the work of `reading.py`; here is only what the audit looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..result import Column
from .keys import numbered

Id = int | str  # as the file writes it
Rows = npt.NDArray[np.int64]  # places of samples, ascending
EXAMPLES = 5  # ids that a remark names


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a file had too much or too little of: what, what was done about it, and how often."""

    what: str  # "questions without an answer"
    done: str  # "left out", "kept", "renamed", …
    count: int
    examples: tuple[Id, ...] = ()  # the first few

    def __str__(self) -> str:
        named = ", ".join(map(str, self.examples))
        more = ", …" if self.count > len(self.examples) else ""
        return f"{self.what}: {self.count:,}, {self.done}" + (f" ({named}{more})" if named else "")


def remarks(account: Iterable[tuple[str, str, Sequence[Id | None]]]) -> tuple[Remark, ...]:
    """Remarks from (what, done, ids of all that it happened to; None for one without), none for nothing."""
    return tuple(
        Remark(what, done, len(ids), tuple(i for i in ids[:EXAMPLES] if i is not None))
        for what, done, ids in account
        if ids
    )


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """The kinds of objects in each image; a kind counts once an image.

    Image i (its code in `Samples.images`) shows `kinds[codes[at[i] : at[i + 1]]]`, in alphabetical order.
    """

    kinds: tuple[str, ...]  # alphabetical
    codes: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]  # [image + 1]
    known: npt.NDArray[np.bool_]  # [image] whether the annotations name the image at all


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where each sample stands in its files, so that its rows can be written again as they were.

    The numbers are [sample, 2]: which of `files`, and which row of its list, counted from 0; -1: nowhere.
    """

    files: tuple[Path, ...]
    question: npt.NDArray[np.int32]
    annotation: npt.NDArray[np.int32]
    repaired: frozenset[int] = frozenset()  # samples whose id, image or answer is not what the rows say


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """One row a sample (question, image, answer), in the order of the files; every sample has an answer.

    Vocabularies of the columns are sorted, so codes compare as their values do.
    """

    source: str  # "vqa", "gqa", "shiftscope", …
    ids: tuple[Id, ...]
    images: Column  # of Id; -1: none is named
    texts: Column  # the questions; an empty one is ""
    answers: Column  # of str
    types: Column | None = None  # as given; -1: this sample has none
    local: Column | None = None  # GQA's local groups; -1: this sample has none
    splits: Column | None = None  # the splits that the files name, or the files' own names
    objects: Objects | None = None
    origin: Origin | None = None
    remarks: tuple[Remark, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def ids_of(self, rows: Iterable[int]) -> list[Id]:
        return [self.ids[row] for row in rows]


def coded(values: Sequence[Any]) -> Column:
    """Values as numbers into their sorted vocabulary; None becomes -1. Numbers come before text."""
    kinds = set(map(type, values))
    quick = _words(values) if kinds <= {str, type(None)} else _numbers(values) if kinds == {int} else None
    if quick is not None:
        return quick
    found = dict.fromkeys(values)
    found.pop(None, None)
    words = sorted(found, key=lambda v: (isinstance(v, str), v))
    number: dict[Any, int] = {word: k for k, word in enumerate(words)}
    number[None] = -1
    codes = np.fromiter(map(number.__getitem__, values), np.int32, len(values))
    return Column(tuple(words), codes)


def _words(values: Sequence[Any]) -> Column | None:
    """Text: the order of UTF-8 is that of its characters. None where it can not be written so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        found = pa.array(values, pa.large_string()).dictionary_encode()
    except (pa.ArrowInvalid, UnicodeEncodeError):  # half of a surrogate pair
        return None
    order = pc.sort_indices(found.dictionary).to_numpy()
    rank = np.full(len(order) + 1, -1, np.int32)  # the last for None
    rank[order] = np.arange(len(order))
    codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Column(tuple(found.dictionary.take(pa.array(order)).to_pylist()), rank[codes])


def _numbers(values: Sequence[int]) -> Column | None:
    """Whole numbers, unless one needs more than 62 bits or is negative."""
    if not 0 <= min(values) <= max(values) < 2**62:
        return None
    words, codes, _ = numbered(np.array(values, np.int64))
    return Column(tuple(words.tolist()), codes.astype(np.int32))
