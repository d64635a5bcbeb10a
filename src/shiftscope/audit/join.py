"""Join: every question with its annotation, and an account of all that did not fit.

Nothing is lost without a remark. A row that repeats another word for word counts once; different questions
under one id are all kept, the later ones renamed `ID#2`, `ID#3`, …
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Column
from .samples import Id, Origin, Samples, coded, remarks
from .types import TYPES
from .vqa_rows import AnnotationRows, QuestionRows

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Pairing:
    """Which row of the questions goes with which row of the annotations, and the rows without a partner."""

    rows: Places
    at: Places
    alone: list[int]  # questions
    unasked: list[int]  # annotations


def join(questions: Sequence[QuestionRows], annotations: Sequence[AnnotationRows]) -> Samples:
    """The samples that the files hold together: all questions that have an answer."""
    ids, images = _chained(f.ids for f in questions), _chained(f.images for f in questions)
    texts = _chained(f.texts for f in questions)
    told_ids, told_images = _chained(f.ids for f in annotations), _chained(f.images for f in annotations)
    answers, types = _chained(f.answers for f in annotations), _chained(f.types for f in annotations)

    keys, told_keys = _alike(ids, told_ids)
    asked, again = _once(keys, images, texts)
    told, told_again = _once(told_keys, told_images, answers, types)
    pairing = _paired(asked, told, keys, told_keys) or _matched(
        asked, told, keys, told_keys, images, told_images
    )
    rows, at = pairing.rows, pairing.at
    unanswered: list[Id] = []
    if None in answers:
        known = np.array([answers[j] is not None for j in at.tolist()], bool)
        unanswered = _picked(ids, rows[~known])
        rows, at = rows[known], at[known]
    if not len(rows):
        raise UserError(f"{questions[0].path}: no question in it has an answer in {annotations[0].path}")

    asking, shown, told_shown = _picked(ids, rows), _picked(images, rows), _picked(told_images, at)
    other = [] if shown == told_shown else [k for k in range(len(rows)) if _differ(shown[k], told_shown[k])]
    if None in shown:
        shown = [t if s is None else s for s, t in zip(shown, told_shown, strict=True)]
    names, renamed = _distinct(asking)
    text = coded(["" if t is None else t for t in _picked(texts, rows)])
    kinds = coded(_picked(types, at))
    account = (
        ("questions without an id", "left out", [None] * keys.count(None)),
        ("questions that repeat another under its id", "counted once", _picked(ids, again)),
        ("questions without an annotation", "left out", _picked(ids, pairing.alone)),
        ("questions without an answer", "left out", unanswered),
        ("annotations without an id", "left out", [None] * told_keys.count(None)),
        ("annotations that repeat another under its id", "counted once", _picked(told_ids, told_again)),
        ("annotations without a question", "left out", _picked(told_ids, pairing.unasked)),
        ("questions under an id that another has", "kept as ID#2, ID#3, …", renamed),
        ("answers that no annotation names", "most annotators'", _picked(names, _voted(annotations, at))),
        ("questions annotated for another image", "kept with the question's image", _picked(names, other)),
        ("questions without an image", "kept, without objects", _picked(names, _nothing(shown))),
        ("empty questions", "kept, without words", _picked(names, _blank(text))),
        (
            "questions without a type",
            "typed by their first words",
            _picked(names, np.flatnonzero(kinds.codes < 0)),
        ),
        ("questions of a type that VQA has not", "kept with it", _picked(names, _foreign(kinds))),
    )
    files = (*(f.path for f in questions), *(f.path for f in annotations))
    places = _places(questions, rows, 0), _places(annotations, at, len(questions))
    repaired = {int(k) for k in _voted(annotations, at)}
    for true, written in ((names, asking), (names, _picked(told_ids, at)), (shown, _picked(images, rows))):
        if true != written:
            repaired |= {k for k, one in enumerate(true) if not _same(one, written[k])}
    return Samples(
        source="vqa",
        ids=tuple(names),
        images=coded(shown),
        texts=text,
        answers=coded(_picked(answers, at)),
        types=_known(kinds),
        splits=_known(coded(_picked(_chained(f.splits for f in questions), rows))),
        origin=Origin(files, *places, frozenset(repaired)),
        remarks=remarks(account),
    )


def _chained(columns: Iterable[Sequence[Any]]) -> list[Any]:
    """All values one after the other; of one file its own list, so it must not be changed."""
    first, *others = columns
    return list(chain(first, *others)) if others or not isinstance(first, list) else first


def _picked(values: list[Any], rows: Places | Sequence[int]) -> list[Any]:
    """The values of some rows; the list itself where these are all, so it must not be changed."""
    if not isinstance(rows, np.ndarray):
        return [values[k] for k in rows]
    if len(rows) == len(values) and (np.diff(rows) == 1).all():
        return values
    return list(map(values.__getitem__, rows.tolist()))


def _alike(ids: list[Any], others: list[Any]) -> tuple[list[Any], list[Any]]:
    """Ids that can be compared: as they are, or all as text if one side writes text and the other numbers."""
    kinds = set(map(type, ids)) | set(map(type, others))
    if len(kinds - {type(None)}) <= 1:
        return ids, others
    first, second = ([None if i is None else str(i) for i in side] for side in (ids, others))
    return first, second


def _once(keys: list[Any], *said: list[Any]) -> tuple[Places, list[int]]:
    """The rows with an id that say something new under it, and those that repeat a row word for word."""
    if len(set(keys)) == len(keys) and None not in keys:
        return np.arange(len(keys)), []
    seen: set[Any] = set()
    kept: list[int] = []
    again: list[int] = []
    for k, row in enumerate(zip(keys, *said, strict=True)):
        if row[0] is not None:
            (again if row in seen else kept).append(k)
            seen.add(row)
    return np.array(kept, np.int64), again


def _paired(asked: Places, told: Places, keys: list[Any], told_keys: list[Any]) -> _Pairing | None:
    """The pairing of ids that stand for one row on either side; None where one stands for several."""
    mine, theirs = _picked(keys, asked), _picked(told_keys, told)
    if mine == theirs and len(set(mine)) == len(mine):  # the usual case: both files have one order
        return _Pairing(asked, told, [], [])
    if len(set(theirs)) < len(told) or len(set(mine)) < len(asked):
        return None
    at = _found(mine, theirs)
    at[at >= 0] = told[at[at >= 0]]
    used = np.zeros(len(told_keys), bool)
    used[at[at >= 0]] = True
    return _Pairing(asked[at >= 0], at[at >= 0], asked[at < 0].tolist(), told[~used[told]].tolist())


def _found(wanted: list[Any], among: list[Any]) -> Places:
    """The place of each wanted id among others, -1 where it is not there."""
    kinds = set(map(type, wanted)) | set(map(type, among))
    if kinds == {int} and all(s and -(2**62) < min(s) <= max(s) < 2**62 for s in (wanted, among)):
        # Ordinary numbers: several times faster than a dict.
        ids, sought = np.array(among, np.int64), np.array(wanted, np.int64)
        order = np.argsort(ids)
        place = order[np.searchsorted(ids, sought, sorter=order) % len(ids)]
        return np.where(ids[place] == sought, place, -1)
    number = {one: k for k, one in enumerate(among)}
    return np.array([number.get(one, -1) for one in wanted], np.int64)


def _matched(
    asked: Places,
    told: Places,
    keys: list[Any],
    told_keys: list[Any],
    images: list[Any],
    shown: list[Any],
) -> _Pairing:
    """The pairing where an id stands for several rows: the same image first, then the order of the files.

    An image that either side does not name may be any. Every row stands in two queues, under its id and under
    its id and image, and is passed over where it was taken from the other.
    """
    waiting: defaultdict[tuple[Any, ...], deque[int]] = defaultdict(deque)
    for j in told.tolist():
        waiting[told_keys[j],].append(j)
        waiting[told_keys[j], _image(shown[j])].append(j)
    taken: set[int] = set()

    def first(*queue: Any) -> int | None:
        rows = waiting.get(queue, deque())
        while rows and rows[0] in taken:
            rows.popleft()
        return rows[0] if rows else None

    rows: list[int] = []
    at: list[int] = []
    alone: list[int] = []
    for k in asked.tolist():
        image, key = _image(images[k]), keys[k]
        fits = [j for j in (first(key, image), first(key, None)) if j is not None] if image else []
        found = min(fits, default=first(key))
        if found is None:
            alone.append(k)
            continue
        taken.add(found)
        rows.append(k)
        at.append(found)
    left = [j for j in told.tolist() if j not in taken]
    return _Pairing(np.array(rows, np.int64), np.array(at, np.int64), alone, left)


def _image(image: Id | None) -> str | None:
    return None if image is None else str(image)


def _same(one: Id | None, written: Id | None) -> bool:
    """Whether an id is what a row says, be it as a number here and as text there."""
    return one == written or (one is not None and written is not None and str(one) == str(written))


def _differ(image: Id | None, other: Id | None) -> bool:
    return image != other and image is not None and other is not None and str(image) != str(other)


def _distinct(ids: list[Any]) -> tuple[list[Id], list[Id]]:
    """The ids with a number after those that were used before, and the ids so made."""
    taken = set(ids)
    if len(taken) == len(ids):
        return ids, []
    used: dict[Id, int] = {}  # how far the numbers after an id have come
    names: list[Id] = []
    made: list[Id] = []
    for one in ids:
        number = used.get(one, 0) + 1
        while number > 1 and f"{one}#{number}" in taken:
            number += 1
        used[one] = number
        names.append(one if number == 1 else f"{one}#{number}")
        if number > 1:
            taken.add(names[-1])
            made.append(names[-1])
    return names, made


def _voted(annotations: Sequence[AnnotationRows], at: Places) -> list[int]:
    """The samples whose answer is the annotators' vote."""
    voted = [start + row for start, f in _starts(annotations) for row in f.voted]
    return np.flatnonzero(np.isin(at, voted)).tolist() if voted else []


def _nothing(values: list[Any]) -> list[int]:
    return [k for k, value in enumerate(values) if value is None] if None in values else []


def _blank(texts: Column) -> Places:
    blank = [k for k, text in enumerate(texts.values) if not text.strip()]
    return np.flatnonzero(np.isin(texts.codes, blank)) if blank else np.zeros(0, np.int64)


def _foreign(types: Column) -> Places:
    foreign = [k for k, name in enumerate(types.values) if name not in TYPES]
    return np.flatnonzero(np.isin(types.codes, foreign)) if foreign else np.zeros(0, np.int64)


def _starts(files: Sequence[Any]) -> list[tuple[int, Any]]:
    ends = np.cumsum([0, *(len(f.ids) for f in files)]).tolist()
    return list(zip(ends, files, strict=False))


def _places(files: Sequence[Any], rows: Places, before: int) -> npt.NDArray[np.int32]:
    """[row, 2] the file (counted from `before`) and the place in it of rows of all files in a row."""
    starts = np.array([start for start, _ in _starts(files)])
    file = np.searchsorted(starts, rows, side="right") - 1
    return np.stack([file + before, rows - starts[file]], axis=1).astype(np.int32)


def _known(column: Column) -> Column | None:
    return column if column.values else None
