"""QuestionTable: a whole question answering dataset in columns, with what was odd about its files.

One row per sample (question, image, answer). `formats` reads it, `store` makes it of a dataset, `shortcuts`
and `shift` cut it into sets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrow_array import build_array, read_numbers, wrap_numbers
from .columns import Column
from .scene import Pairs, Scene

Keys = npt.NDArray[np.int64]


def unique_keys(keys: Keys) -> Keys:
    """The distinct numbers, ascending: `np.unique`, which hashes first, takes several times as long."""
    ordered = np.sort(keys)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def number_keys(keys: Keys) -> tuple[Keys, Keys, Keys]:
    """`np.unique` with inverse and counts, a few times as fast; keys must not be negative."""
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > 63:
        found, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return found, place.astype(np.int64), counts.astype(np.int64)
    ordered = np.sort((keys.astype(np.int64) << bits) | np.arange(len(keys)))  # each key with its place behind it
    order = ordered & ((1 << bits) - 1)
    ordered >>= bits
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    place = np.empty(len(keys), np.int64)
    place[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return ordered[starts], place, np.diff(np.append(starts, len(keys)))


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


def build_remarks(account: Iterable[tuple[str, str, Sequence[Id | None]]]) -> tuple[Remark, ...]:
    """Remarks from (what, done, ids of all that it happened to; None for one without), none for nothing."""
    return tuple(
        Remark(what, done, len(ids), tuple(i for i in ids[:EXAMPLES] if i is not None))
        for what, done, ids in account
        if ids
    )


@dataclass(frozen=True, slots=True, eq=False)
class ImageObjects:
    """The kinds of objects in each image; a kind counts once per image.

    Image i (its code in `QuestionTable.images`) shows `kinds[codes[at[i] : at[i + 1]]]`, in alphabetical order.
    """

    kinds: tuple[str, ...]  # alphabetical
    codes: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]  # [image + 1]
    known: npt.NDArray[np.bool_]  # [image] whether the annotations name the image at all


@dataclass(frozen=True, slots=True, eq=False)
class RowOrigin:
    """Where each sample stands in its files, and the rows there, so that they can be written again as they were.

    The numbers are [sample, 2]: which of `files`, and which row of its list, counted from 0.
    """

    files: tuple[Path, ...]
    rows: tuple[Sequence[Any], ...]  # [file] JSON texts, bytes-like
    question: npt.NDArray[np.int32]
    annotation: npt.NDArray[np.int32]
    repaired: frozenset[int] = frozenset()  # samples whose id, image or answer is not what the rows say
    odd_questions: frozenset[int] = frozenset()  # samples whose row not every reader of such files takes as it is
    odd_annotations: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTable:
    """One row per sample (question, image, answer), in the order of the files; every sample has an answer.

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
    objects: ImageObjects | None = None
    annotators: Column | None = None  # JSON of the answers to a sample, one per annotator; -1: one answer is known
    origin: RowOrigin | None = None
    remarks: tuple[Remark, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def take_ids(self, rows: Iterable[int]) -> list[Id]:
        return [self.ids[row] for row in rows]


FEW_VALUES = 10_000  # are numbered sooner than pyarrow's functions are loaded


def encode_column(values: Sequence[Any]) -> Column:
    """Values as numbers into their sorted vocabulary; None becomes -1. Numbers come before text."""
    kinds = set(map(type, values))
    many = len(values) > FEW_VALUES
    if many and kinds <= {str, type(None)} and (column := _encode_text(values)) is not None:
        return column
    if kinds == {int} and 0 <= min(values) <= max(values) < 2**62:
        numbers, codes, _ = number_keys(np.array(values, np.int64))
        return Column(tuple(numbers.tolist()), codes.astype(np.int32))
    found = dict.fromkeys(values)
    found.pop(None, None)
    words = sorted(found, key=lambda v: (isinstance(v, str), v))
    number: dict[Any, int] = {word: k for k, word in enumerate(words)}
    number[None] = -1
    return Column(tuple(words), np.fromiter(map(number.__getitem__, values), np.int32, len(values)))


def _encode_text(values: Sequence[Any]) -> Column | None:
    """Text: the order of UTF-8 is that of its characters. None where it cannot be written so."""
    import pyarrow as pa

    try:
        words, codes = encode_texts(build_array(values, pa.large_string()))
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    return Column(tuple(words.to_pylist()), codes)


def encode_texts(array: Any) -> tuple[Any, npt.NDArray[np.int32]]:
    """The distinct texts of an Arrow array, by code point, and the number of each; -1 where one is missing."""
    import pyarrow.compute as pc

    found = array.dictionary_encode()
    order = read_numbers(pc.sort_indices(found.dictionary))
    rank = np.full(len(order) + 1, -1, np.int32)  # the last for None
    rank[order] = np.arange(len(order))
    return found.dictionary.take(wrap_numbers(order)), rank[read_numbers(found.indices, -1)]


@dataclass(frozen=True, slots=True, eq=False)
class SampleSet:
    """Samples by their places. Sets may overlap: every OOD-Test set is part of the IID-Test."""

    name: str  # "train", "IID-Test", "OOD-Test/QT+KW", …
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class ImageContents:
    """What the images of one file show: object k is `kinds[kind[k]]` in `images[image[k]]`."""

    images: Sequence[Id]
    kinds: Sequence[str]
    image: Keys  # [object]
    kind: Keys


def add_objects(samples: QuestionTable, files: Iterable[ImageContents]) -> QuestionTable:
    """The samples with the objects of their images; images that no sample asks about are passed over."""
    place = {str(name): k for k, name in enumerate(samples.images.values)}
    known = np.zeros(len(place), bool)
    number: dict[str, int] = {}
    images: list[Keys] = [np.zeros(0, np.int64)]
    kinds: list[Keys] = [np.zeros(0, np.int64)]
    for file in files:
        where = np.array([place.get(str(name), -1) for name in file.images], np.int64)
        known[where[where >= 0]] = True
        codes = np.array([number.setdefault(kind, len(number)) for kind in file.kinds], np.int64)
        inside = where[file.image] >= 0 if len(where) else np.zeros(0, bool)
        images.append(where[file.image[inside]])
        kinds.append(codes[file.kind[inside]])
    image, kind = np.concatenate(images), np.concatenate(kinds)
    words = sorted(number)
    rank = np.empty(len(words), np.int64)
    rank[[number[word] for word in words]] = np.arange(len(words))
    width = max(1, len(words))
    key = unique_keys(image * width + rank[kind])
    at = np.searchsorted(key // width, np.arange(len(place) + 1)).astype(np.int64)
    found = ImageObjects(tuple(words), (key % width).astype(np.int32), at, known)
    missing = np.flatnonzero((samples.images.codes >= 0) & ~np.append(known, False)[samples.images.codes])
    what = "questions about images that the object annotations do not name"
    remarks = build_remarks([(what, "kept, in no group by objects", samples.take_ids(missing.tolist()))])
    return replace(samples, objects=found, remarks=(*samples.remarks, *remarks))


def collect_objects(scenes: Iterable[Scene]) -> ImageContents:
    """The kinds of objects in scenes."""
    return build_image_contents((s.id, [k for o in s.objects for k in object_kind(o.attributes)]) for s in scenes)


def object_kind(attributes: Pairs) -> tuple[str, ...]:
    """What kind of thing an object is: its first shape, else its first name, else nothing."""
    named = [v for a, v in attributes if a == "shape"] or [v for a, v in attributes if a == "name"]
    return tuple(named[:1])


def build_image_contents(listed: Iterable[tuple[Id, Iterable[str]]]) -> ImageContents:
    """From each image and the kinds of its objects."""
    number: dict[str, int] = {}
    names: list[Id] = []
    image: list[int] = []
    kind: list[int] = []
    for name, kinds in listed:
        for one in kinds:
            image.append(len(names))
            kind.append(number.setdefault(one, len(number)))
        names.append(name)
    return ImageContents(names, tuple(number), np.array(image, np.int64), np.array(kind, np.int64))
