"""Scan: the first reading of a file, which keeps of every sample the numbers that later passes need.

Numbers are into vocabularies of the part; the keys of ids and images are the same in all parts. A part has at most
`sample_rows.BATCH_ROWS` samples, however large its file is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrow_array import read_numbers
from ...errors import UserError
from ...formats.sample_rows import (
    IN_GROUP_NONE,
    UNANSWERED,
    VOTED,
    IdTexts,
    SampleRows,
    build_objects_error,
    digest_rows,
    iterate_rows,
)
from ...question_table import EXAMPLES, Id, ImageContents, Remark, encode_texts
from ...records import content_id
from ..audit import SPLIT_PATH
from ..concepts import ConceptBags, Ints, build_bags, gather_slices
from ..sample_keys import SampleKeys, hash_texts
from ..tokens import tokenize_array
from .counts import VOCABULARY_NAMES, Vocabularies
from .spool import Array, Spool, build_texts, locate_texts, pack_texts, unpack_texts

SCAN_VERSION = 1  # raise it when a scan of the same file keeps something else
NO_IMAGE, EMPTY, UNTYPED = "questions without an image", "empty questions", "questions without a type"
UNKNOWN_OBJECTS = "questions about images that the object annotations do not name"
# In the order in which an audit in memory remarks on them, with what is done about each.
REMARKS = (
    (UNANSWERED, "left out"),
    (VOTED, "most annotators'"),
    (NO_IMAGE, "kept, without objects"),
    (EMPTY, "kept, without words"),
    (UNTYPED, IN_GROUP_NONE),
    (UNKNOWN_OBJECTS, "kept, in no group by objects"),
)


@dataclass(frozen=True, slots=True)
class ScanJob:
    """A file to be read."""

    spool: Spool
    path: Path
    split: str  # of the whole file; "" where the rows say it
    seed: int  # of the split
    objects: str = ""  # in the spool, where they are given apart


@dataclass(frozen=True, slots=True)
class ScannedPart:
    """Some of the samples of a file, one after the other."""

    name: str  # in the spool
    path: Path
    split: str
    number: int  # of the batch in its file
    samples: int
    images: int  # distinct
    known: int  # images whose objects are known
    remarks: tuple[tuple[str, int, tuple[Id, ...]], ...]  # what, how often, the first few
    splits: tuple[tuple[str | None, int, tuple[tuple[int, Id], ...]], ...]  # by split; the first few rows and ids
    says_objects: bool


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """What a scan returns: the parts, and what their samples have."""

    key: str  # of the file's content and of all that the scan depends on
    digest: str  # of the file's content
    parts: tuple[ScannedPart, ...]
    vocabularies: Vocabularies


def scan_file(job: ScanJob) -> ScannedFile:
    """Read a file, or take what an earlier scan of the same content kept."""
    state = read_state(job.path)
    digest = digest_rows(job.path)
    key = content_id([SCAN_VERSION, digest, job.split, job.seed, job.objects])[:24]
    name = f"scan-{key}"
    if not job.spool.has(name):
        objects = ObjectLookup.load(job.spool, job.objects) if job.objects else None
        listed, every = [], Vocabularies()
        for number, rows in enumerate(iterate_rows(job.path, job.split)):
            told, found = _scan_rows(job, f"{name}-{number}", rows, objects)
            every = every.merge(found)
            listed.append(told)
        if read_state(job.path) != state:
            raise build_change_error(job.path)
        record = {"parts": listed} | {v: sorted(getattr(every, v)) for v in VOCABULARY_NAMES}
        job.spool.save(name, record | {"samples": every.samples})
    told = job.spool.load_record(name)
    vocabularies = Vocabularies(told["samples"], *(frozenset(told[v]) for v in VOCABULARY_NAMES))
    parts = [_read_part(job, f"{name}-{k}", k, one) for k, one in enumerate(told["parts"])]
    return ScannedFile(key, digest, tuple(parts), vocabularies)


def read_state(path: Path) -> tuple[int, ...]:
    """What a change of a file changes."""
    try:
        at = path.stat()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    return at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


def build_change_error(path: Path) -> UserError:
    return UserError(f"{path} was changed while it was audited; run the same command again")


def _read_part(job: ScanJob, name: str, number: int, told: dict[str, Any]) -> ScannedPart:
    remarks = tuple((what, n, tuple(ids)) for what, n, ids in told["remarks"])
    splits = tuple((what, n, tuple((row, one) for row, one in ids)) for what, n, ids in told["splits"])
    counts = told["samples"], told["images"], told["known"]
    return ScannedPart(name, job.path, job.split, number, *counts, remarks, splits, told["says_objects"])


def merge_remarks(parts: Iterable[ScannedPart], typed: bool, objects: bool) -> tuple[Remark, ...]:
    """The remarks of all parts, in their order, as an audit in memory makes them."""
    counts: dict[str, int] = {}
    examples: dict[str, list[Id]] = {}
    for part in parts:
        for what, count, ids in part.remarks:
            counts[what] = counts.get(what, 0) + count
            examples.setdefault(what, []).extend(ids[: EXAMPLES - len(examples.get(what, ()))])
    left_out = {UNTYPED} - ({UNTYPED} if typed else set()) | (set() if objects else {UNKNOWN_OBJECTS})
    return tuple(
        Remark(what, done, counts[what], tuple(examples[what]))
        for what, done in REMARKS
        if counts.get(what) and what not in left_out
    )


def _scan_rows(
    job: ScanJob, name: str, rows: SampleRows, objects: "ObjectLookup | None"
) -> tuple[dict[str, Any], Vocabularies]:
    """Keep a part; what is told of it is plain JSON."""
    texts, text = encode_texts(rows.texts)
    words = tokenize_array(texts)
    answers, answer = encode_texts(rows.answers)
    types, kind = encode_texts(rows.types)
    splits, split = encode_texts(rows.splits)
    images = _scan_images(job.path, rows, objects)
    spoken = build_texts(words.vocabulary)
    vocabularies = {"words": spoken, "answers": answers, "types": types, "splits": splits, "kinds": images.kinds}
    packed = {}
    for field, values in vocabularies.items():
        packed[f"{field}_data"], packed[f"{field}_at"] = pack_texts(values)
    keys = hash_texts(rows.ids.texts, *SPLIT_PATH, job.seed)
    silent = np.flatnonzero(np.diff(words.at) == 0).tolist()
    blank = [k for k in silent if not texts[k].as_py().strip()]
    happened: dict[str, Sequence[int] | Array] = {
        VOTED: rows.voted,
        NO_IMAGE: np.flatnonzero(images.of < 0),
        EMPTY: np.flatnonzero(np.isin(text, blank)),
        UNTYPED: np.flatnonzero(kind < 0),
        UNKNOWN_OBJECTS: np.flatnonzero((images.of >= 0) & ~np.append(images.known, False)[images.of]),
    }
    remarks = [(what, *_name_rows(rows, at)) for what, at in happened.items()]
    remarks.append((UNANSWERED, len(rows.unanswered), rows.unanswered[:EXAMPLES]))
    named = []
    for code in np.unique(split).tolist():
        at = np.flatnonzero(split == code)
        count, ids = _name_rows(rows, at)
        first_rows = [(int(k), one) for k, one in zip(at[:EXAMPLES], ids, strict=True)]
        named.append((None if code < 0 else splits[code].as_py(), count, first_rows))
    told = {
        "samples": len(rows),
        "images": len(images.keys),
        "known": int(images.known.sum()),
        "remarks": [one for one in remarks if one[1]],
        "splits": named,
        "says_objects": rows.objects is not None or objects is not None,
    }
    job.spool.save_array(f"{name}.ids", np.sort(keys))
    job.spool.save_array(f"{name}.images", images.keys)
    job.spool.save(
        name, told, **packed, key=keys, answer=answer, type=kind, split=split, text=text, word_codes=words.codes,
        word_at=words.at, image=images.of, known=images.known, object_codes=images.codes, object_at=images.at,
    )  # fmt: skip
    found = (frozenset(values.to_pylist()) for values in vocabularies.values())
    return told, Vocabularies(len(rows), *found)


def _name_rows(rows: SampleRows, at: Sequence[int] | Array) -> tuple[int, list[Id]]:
    return len(at), rows.ids.to_ids([int(k) for k in at[:EXAMPLES]])


# Images and their objects.


@dataclass(frozen=True, slots=True, eq=False)
class PartImages:
    """The distinct images of a part: image i shows `kinds[codes[at[i] : at[i + 1]]]`, if that is known."""

    of: npt.NDArray[np.int32]  # [sample] or -1
    keys: SampleKeys  # [image, 3] two of its name, one of its objects; by the first
    known: npt.NDArray[np.bool_]  # [image]
    codes: npt.NDArray[np.int32]
    at: Ints
    kinds: Any


@dataclass(frozen=True, slots=True, eq=False)
class ObjectLookup:
    """Objects that are given apart from the samples, by the name of the image as text."""

    images: Any  # Arrow large_string, each once
    kinds: Any
    bags: ConceptBags

    @staticmethod
    def save(spool: Spool, name: str, files: Iterable[ImageContents]) -> None:
        """Keep the objects of files, in which an image may occur again."""
        place: dict[str, int] = {}
        number: dict[str, int] = {}
        image, kind = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for file in files:
            where = np.array([place.setdefault(str(name), len(place)) for name in file.images] or [0], np.int64)
            codes = np.array([number.setdefault(one, len(number)) for one in file.kinds] or [0], np.int64)
            image.append(where[file.image])
            kind.append(codes[file.kind])
        bags = build_bags(np.concatenate(image), np.concatenate(kind), len(place), np.zeros(0, np.int64))
        names, kinds = (pack_texts(build_texts(list(texts))) for texts in (place, number))
        spool.save(
            name, {}, images_data=names[0], images_at=names[1], kinds_data=kinds[0], kinds_at=kinds[1],
            codes=bags.codes, at=bags.at,
        )  # fmt: skip

    @staticmethod
    def load(spool: Spool, name: str) -> "ObjectLookup":
        _, file = spool.load(name)
        names, kinds = (unpack_texts(file[f"{name}_data"], file[f"{name}_at"]) for name in ("images", "kinds"))
        return ObjectLookup(names, kinds, ConceptBags(file["codes"], file["at"], np.zeros(0, np.int64)))

    def find(self, texts: Any) -> tuple[npt.NDArray[np.bool_], Ints, Ints]:
        """Of each name, whether it is known; and its objects as pairs of (name, kind)."""
        place = locate_texts(texts, self.images)
        known = np.flatnonzero(place >= 0)
        which, kind = gather_slices(self.bags.codes, self.bags.at[place[known]], self.bags.at[place[known] + 1])
        return place >= 0, known[which], kind.astype(np.int64)


def _scan_images(path: Path, rows: SampleRows, objects: ObjectLookup | None) -> PartImages:
    import pyarrow as pa

    of, first = _number_images(rows.images)
    names = rows.images.take(first)
    if objects is not None:
        if rows.objects is not None:
            from ...formats import OBJECTS_TWICE

            raise UserError(OBJECTS_TWICE)
        known, image, kind = objects.find(names.texts)
        kinds = objects.kinds
    elif rows.objects is not None:
        _refuse_objects_alone(path, rows)
        told = read_numbers(rows.objects.is_valid())
        flat, at = rows.objects.values, np.asarray(read_numbers(rows.objects.offsets), np.int64)
        kinds, code = encode_texts(flat)
        shown = np.where(told[:, None], np.stack([at[:-1], at[1:]], axis=1), 0)
        _refuse_other_objects(rows.images, of, first, _hash_bags(told, kinds, code, shown[:, 0], shown[:, 1]))
        known = told[first]
        image, showing = gather_slices(code, shown[first, 0], shown[first, 1])
        kind = showing.astype(np.int64)
    else:
        known, kinds = np.zeros(len(first), bool), pa.array([], pa.large_string())
        image = kind = np.zeros(0, np.int64)
    bags = build_bags(image, kind, len(first), of.astype(np.int64))
    bag = _hash_bags(known, kinds, bags.codes, bags.at[:-1], bags.at[1:])
    keys = np.stack([*_hash_names(names), bag], axis=1) if len(first) else np.zeros((0, 3), np.uint64)
    return PartImages(of, keys[np.argsort(keys[:, 0], kind="stable")], known, bags.codes, bags.at, kinds)


def _number_images(images: IdTexts) -> tuple[npt.NDArray[np.int32], Ints]:
    """[sample] the number of its image, -1 for none; and of each image the first sample. 7 and "7" are two."""
    _, codes = encode_texts(images.texts)
    mixed = codes.astype(np.int64) * 2 + images.numeric
    there = np.flatnonzero(codes >= 0)
    found, first, of = np.unique(mixed[there], return_index=True, return_inverse=True)
    numbers = np.full(len(codes), -1, np.int32)
    numbers[there] = of
    return numbers, there[first] if len(found) else np.zeros(0, np.int64)


def _hash_names(images: IdTexts) -> Iterator[SampleKeys]:
    for which in ("first", "second"):
        numbers, texts = (hash_texts(images.texts, "audit", "image", which, kind) for kind in ("number", "text"))
        yield np.where(images.numeric, numbers, texts)


def _hash_bags(known: Array, kinds: Any, codes: Array, start: Array, end: Array) -> SampleKeys:
    """A key of each set of kinds, whatever its order and repetitions; 0 for one that is not known."""
    each = hash_texts(kinds, "audit", "kind") if len(kinds) else np.zeros(0, np.uint64)
    which, code = gather_slices(codes, start, end)
    bags = build_bags(which, code.astype(np.int64), len(start), np.zeros(0, np.int64))
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each[bags.codes], dtype=np.uint64)])
    return np.where(known, total[bags.at[1:]] - total[bags.at[:-1]] + np.uint64(1), np.uint64(0))


def _refuse_objects_alone(path: Path, rows: SampleRows) -> None:
    alone = read_numbers(rows.images.texts.is_null()) & read_numbers(rows.objects.is_valid())
    if alone.any():
        (one,) = rows.ids.to_ids([int(np.argmax(alone))])
        raise UserError(f"{path}: question {one} names objects, but no image_id")


def _refuse_other_objects(images: IdTexts, of: Array, first: Ints, bag: SampleKeys) -> None:
    asked = np.flatnonzero(of >= 0)
    other = asked[bag[asked] != bag[first[of[asked]]]]
    if len(other):
        raise build_objects_error(images.to_ids([int(other[0])])[0])


def find_rows_by_key(path: Path, split: str, field: str, keys: SampleKeys, seed: int) -> list[tuple[int, int, int, Id]]:
    """Of the ids or images with these keys in a file: key, part, row and name; for a word about repeated ones."""
    found = []
    for number, rows in enumerate(iterate_rows(path, split)):
        if field == "ids":
            column, key = rows.ids, hash_texts(rows.ids.texts, *SPLIT_PATH, seed)
        else:
            there = read_numbers(rows.images.texts.is_valid())
            column = IdTexts(rows.images.texts.fill_null(""), rows.images.numeric)
            key = np.where(there, next(_hash_names(column)), 0)
        at = np.flatnonzero(np.isin(key, keys))
        names = column.take(at).to_ids()
        found += [(int(key[k]), number, int(k), name) for k, name in zip(at.tolist(), names, strict=True)]
    return found
