"""Join: question rows with their annotation rows, one name per question, and an account of all that did not fit.

Nothing is lost without a remark. A row that repeats another word for word counts once; different questions
under one id are all kept, the later ones renamed `ID#2`, `ID#3`, …
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .question_table import Id, QuestionTable, build_remarks, encode_column

RowIndices = npt.NDArray[np.int64]
Account = Sequence[tuple[str, str, Sequence[Id | None]]]  # what, what was done about it, ids of all it happened to
RowRemarks = Sequence[tuple[str, str, Sequence[int]]]  # the same by row


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """Which question row goes with which annotation row, and the remarks about rows that are left out."""

    questions: RowIndices
    annotations: RowIndices
    questions_left: Account
    annotations_left: Account


def build_question_table(
    source: str,
    ids: list[Id],
    images: list[Id | None],
    texts: list[str | None],
    left_out: Account,
    kept: RowRemarks = (),
    typed: RowRemarks = (),
    **columns: list[Any],
) -> QuestionTable:
    """The table of rows that have an id and an answer; each gets a name of its own.

    Further columns are lists; one without any value is dropped. The remarks come in the order of the parameters.
    """
    names, renamed = rename_repeated_ids(ids)
    text = encode_column(["" if t is None else t for t in texts])
    blank = [k for k, one in enumerate(text.values) if not one.strip()]
    by_row: RowRemarks = (
        *kept,
        ("questions without an image", "kept, without objects", find_missing(images)),
        ("empty questions", "kept, without words", np.flatnonzero(np.isin(text.codes, blank)).tolist()),
        *typed,
    )
    account = (
        *left_out,
        ("questions under an id that another has", "kept as ID#2, ID#3, …", renamed),
        *((what, done, take_values(names, rows)) for what, done, rows in by_row),
    )
    encoded = {name: encode_column(values) for name, values in columns.items()}
    optional: dict[str, Any] = {name: column for name, column in encoded.items() if column.values}
    remarks = build_remarks(account)
    return QuestionTable(source, tuple(names), encode_column(images), text, remarks=remarks, **optional)


def take_values(values: list[Any], rows: RowIndices | Sequence[int]) -> list[Any]:
    """The values of some rows; the list itself where these are all, so it must not be changed."""
    if not isinstance(rows, np.ndarray):
        return [values[k] for k in rows]
    if len(rows) == len(values) and (np.diff(rows) == 1).all():
        return values
    return list(map(values.__getitem__, rows.tolist()))


def find_missing(values: list[Any]) -> list[int]:
    return [k for k, value in enumerate(values) if value is None] if None in values else []


def rename_repeated_ids(ids: list[Id]) -> tuple[list[Id], list[Id]]:
    """The ids with a number after those that were used before, and the ids so made."""
    taken = set(ids)
    if len(taken) == len(ids):
        return ids, []
    used: dict[Id, int] = {}  # the last number after each id
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


def drop_repeats(keys: list[Any], *columns: list[Any]) -> tuple[RowIndices, list[int]]:
    """The rows with an id that say something new under it, and those that repeat a row word for word."""
    if len(set(keys)) == len(keys) and None not in keys:
        return np.arange(len(keys)), []
    seen: set[Any] = set()
    kept: list[int] = []
    again: list[int] = []
    for k, row in enumerate(zip(keys, *columns, strict=True)):
        if row[0] is not None:
            (again if row in seen else kept).append(k)
            seen.add(row)
    return np.array(kept, np.int64), again


def pair_rows(
    ids: list[Any], images: list[Any], columns: Sequence[list[Any]],
    other_ids: list[Any], other_images: list[Any], other_columns: Sequence[list[Any]],
) -> RowPairs:  # fmt: skip
    """Each question row with its annotation row; `columns` are further values that distinguish rows of one id."""
    keys, other_keys = ids, other_ids
    if len({*map(type, ids), *map(type, other_ids)} - {type(None)}) > 1:  # text on one side, numbers on the other
        keys, other_keys = ([None if i is None else str(i) for i in side] for side in (ids, other_ids))
    rows, again = drop_repeats(keys, images, *columns)
    others, others_again = drop_repeats(other_keys, other_images, *other_columns)
    first, second = take_values(keys, rows), take_values(other_keys, others)
    unique = len(set(first)) == len(first) and len(set(second)) == len(second)
    if first == second and unique:  # the usual case: both files have one order
        at = others
    elif unique:
        place = _locate_ids(first, second)
        at = np.where(place >= 0, others[place], -1) if len(others) else place
    else:
        at = _pair_repeated_ids(rows, others, keys, other_keys, images, other_images)
    alone = rows[at < 0].tolist()
    used = np.zeros(len(other_keys), bool)
    used[at[at >= 0]] = True
    unasked = others[~used[others]].tolist()
    return RowPairs(
        rows[at >= 0],
        at[at >= 0],
        (
            ("questions without an id", "left out", [None] * keys.count(None)),
            ("questions that repeat another under its id", "counted once", take_values(ids, again)),
            ("questions without an annotation", "left out", take_values(ids, alone)),
        ),
        (
            ("annotations without an id", "left out", [None] * other_keys.count(None)),
            ("annotations that repeat another under its id", "counted once", take_values(other_ids, others_again)),
            ("annotations without a question", "left out", take_values(other_ids, unasked)),
        ),
    )


def _locate_ids(wanted: list[Any], among: list[Any]) -> RowIndices:
    """The place of each wanted id among others, -1 where it is not there."""
    kinds = {*map(type, wanted), *map(type, among)}
    if kinds == {int} and all(s and -(2**62) < min(s) <= max(s) < 2**62 for s in (wanted, among)):
        # Ordinary numbers: several times faster than a dict.
        ids, sought = np.array(among, np.int64), np.array(wanted, np.int64)
        order = np.argsort(ids)
        place = order[np.searchsorted(ids, sought, sorter=order) % len(ids)]
        return np.where(ids[place] == sought, place, -1)
    number = {one: k for k, one in enumerate(among)}
    return np.array([number.get(one, -1) for one in wanted], np.int64)


def _pair_repeated_ids(
    rows: RowIndices, others: RowIndices, keys: list[Any], other_keys: list[Any], images: list[Any], shown: list[Any]
) -> RowIndices:
    """[row] its annotation, or -1, where an id stands for several rows: first by image, then in the files' order.

    An image that either side does not name may be any. Every annotation stands in two queues, under its id
    and under its id and image, and is passed over where it was taken from the other.
    """
    waiting: defaultdict[tuple[Any, ...], deque[int]] = defaultdict(deque)
    for j in others.tolist():
        waiting[other_keys[j],].append(j)
        waiting[other_keys[j], None if shown[j] is None else str(shown[j])].append(j)
    taken: set[int] = set()

    def find_first(*queue: Any) -> int | None:
        left = waiting.get(queue, deque())
        while left and left[0] in taken:
            left.popleft()
        return left[0] if left else None

    at: list[int] = []
    for k in rows.tolist():
        image, key = images[k], keys[k]
        found = find_first(key)
        if image is not None:
            fits = [j for j in (find_first(key, str(image)), find_first(key, None)) if j is not None]
            found = min(fits, default=found)
        at.append(-1 if found is None else found)
        if found is not None:
            taken.add(found)
    return np.array(at, np.int64)


def is_other_id(one: Id | None, written: Id | None) -> bool:
    """Whether an id is not what a row says, be it as a number here and as text there."""
    return one != written and (one is None or written is None or str(one) != str(written))
