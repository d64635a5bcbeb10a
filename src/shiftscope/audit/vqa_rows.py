"""The rows of VQA files as columns: only the fields that an audit looks at, decoded as fast as they come.

A file whose every row has fields of the usual types is decoded into records by msgspec. Any other is read
row by row, and what is not usable in a row becomes None; so is every file where msgspec is not installed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..answer import spell
from ..errors import UserError
from ..formats import _json
from .samples import Id


@dataclass(frozen=True, slots=True, eq=False)
class QuestionRows:
    """The questions of one file; None where a row lacks the field."""

    path: Path
    ids: Sequence[Id | None]
    images: Sequence[Id | None]
    texts: Sequence[str | None]
    splits: Sequence[str | None]


@dataclass(frozen=True, slots=True, eq=False)
class AnnotationRows:
    """The annotations of one file; None where a row lacks the field."""

    path: Path
    ids: Sequence[Id | None]
    images: Sequence[Id | None]
    answers: Sequence[str | None]
    types: Sequence[str | None]
    voted: frozenset[int]  # rows whose answer is the most frequent of the annotators', as none was named


def read_question_rows(path: Path) -> QuestionRows:
    """The questions of a file, wrapped in an object or a bare list."""
    data = _json.read_bytes(path)
    found = _fast(data, path, "questions")
    if found is not None:
        rows, subset = found
        splits = [r.split or subset for r in rows]
        ids, images = [r.question_id for r in rows], [r.image_id for r in rows]
        return QuestionRows(path, _usable(ids), _usable(images), [r.question for r in rows], splits)
    plain, subset = _slow(data, path, "questions")
    return QuestionRows(
        path,
        [_id(r.get("question_id")) for r in plain],
        [_id(r.get("image_id")) for r in plain],
        [_text(r.get("question")) for r in plain],
        [_text(r.get("split")) or subset for r in plain],
    )


def read_annotation_rows(path: Path) -> AnnotationRows:
    """The annotations of a file, wrapped in an object or a bare list."""
    data = _json.read_bytes(path)
    found = _fast(data, path, "annotations")
    if found is not None:
        rows, _ = found
        answers = [r.multiple_choice_answer for r in rows]
        if all(answers):
            ids, images = [r.question_id for r in rows], [r.image_id for r in rows]
            types = [r.question_type or None for r in rows]
            return AnnotationRows(path, _usable(ids), _usable(images), answers, types, frozenset())
    plain, _ = _slow(data, path, "annotations")
    named = [_answer(r.get("multiple_choice_answer")) for r in plain]
    votes = {k: _vote(r.get("answers")) for k, r in enumerate(plain) if named[k] is None}
    return AnnotationRows(
        path,
        [_id(r.get("question_id")) for r in plain],
        [_id(r.get("image_id")) for r in plain],
        [votes[k] if a is None else a for k, a in enumerate(named)],
        [_text(r.get("question_type")) or None for r in plain],
        frozenset(k for k, vote in votes.items() if vote is not None),
    )


@cache
def _records(key: str) -> tuple[Any, Any]:
    """Decoders of a bare list of rows, and of an object that holds it under `key`."""
    import msgspec

    name = int | str | None
    fields: dict[str, list[tuple[str, Any, Any]]] = {
        "questions": [("question", str | None, None), ("split", str | None, None)],
        "annotations": [("multiple_choice_answer", str | None, None), ("question_type", str | None, None)],
    }
    row = msgspec.defstruct(
        "Row", [("question_id", name, None), ("image_id", name, None), *fields[key]], gc=False
    )
    whole = msgspec.defstruct("Whole", [(key, list[row]), ("data_subtype", str | None, None)])  # type: ignore[valid-type]
    return msgspec.json.Decoder(list[row]), msgspec.json.Decoder(whole)  # type: ignore[valid-type]


def _fast(data: bytes, path: Path, key: str) -> tuple[list[Any], str | None] | None:
    """The rows and the split that the file names, or None if any row is not of the usual types."""
    start = _json.first_mark(data[:64])
    if start not in (b"[", b"{"):
        _json.decode(data, path)
        raise UserError(f"{path}: expected an object or a list at top level")
    try:
        import msgspec
    except ImportError:
        return None
    bare, wrapped = _records(key)
    with _json.reading(data, path):
        try:
            if start == b"[":
                rows, subset = bare.decode(data), None
            else:
                whole = wrapped.decode(data)
                rows, subset = getattr(whole, key), whole.data_subtype
        except msgspec.ValidationError:
            return None
    if not rows:
        raise UserError(f"{path}: there are no {key} in it")
    return rows, subset


def _slow(data: bytes, path: Path, key: str) -> tuple[list[dict[str, Any]], str | None]:
    bare = _json.first_mark(data[:64]) == b"["
    rows = [r if isinstance(r, dict) else {} for r in _json.elements(data, None if bare else key, path)]
    if not rows:
        raise UserError(f"{path}: there are no {key} in it")
    subset = None if bare else _text(_json.decode(data, path).get("data_subtype"))
    return rows, subset


def _usable(ids: list[Id | None]) -> list[Id | None]:
    """The ids with empty ones as None."""
    return [None if i == "" else i for i in ids] if "" in ids else ids


def _id(value: Any) -> Id | None:
    return value if type(value) is int or (isinstance(value, str) and value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _answer(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return spell(value) if isinstance(value, bool | int) else None


def _vote(listed: Any) -> str | None:
    """The answer that most annotators gave; of equally frequent ones the first alphabetically."""
    rows = listed if isinstance(listed, list) else []
    said = (_answer(r.get("answer") if isinstance(r, dict) else r) for r in rows)
    counts = Counter(a for a in said if a is not None)
    return min(counts, key=lambda a: (-counts[a], a)) if counts else None
