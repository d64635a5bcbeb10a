"""Samples of GQA question files: questions by their ids, with types and the local groups of GQA-OOD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..answer import spell
from ..errors import UserError
from ..formats import _json
from .samples import Samples, coded, remarks

_Row = tuple[str, Any, Any, Any, Any, Any, bool]  # id, image, text, answer, type, local group, odd


def read_gqa_rows(paths: Sequence[Path], splits: Sequence[str] = ()) -> Samples:
    """All answered questions of the files. Their type is GQA's detailed one, else the structural one."""
    rows: list[_Row] = []
    named: list[str | None] = []
    for number, path in enumerate(paths):
        found = list(_rows(path))
        if not found:
            raise UserError(f"{path}: there are no questions in it")
        rows += found
        named += [splits[number] if splits else None] * len(found)
    seen: set[tuple[Any, ...]] = set()
    first: dict[str, int] = {}
    kept: list[int] = []
    ids: list[str] = []
    again: list[str] = []
    renamed: list[str] = []
    for k, row in enumerate(rows):
        if row[3] is None:
            continue
        if row[:4] in seen:
            again.append(row[0])
            continue
        seen.add(row[:4])
        first[row[0]] = first.get(row[0], 0) + 1
        kept.append(k)
        ids.append(row[0] if first[row[0]] == 1 else f"{row[0]}#{first[row[0]]}")
        if first[row[0]] > 1:
            renamed.append(ids[-1])
    if not kept:
        raise UserError(f"{paths[0]}: no question in it has an answer")
    chosen = [rows[k] for k in kept]
    local, types, texts = ([r[c] for r in chosen] for c in (5, 4, 2))
    account = (
        ("questions without an answer", "left out", [r[0] for r in rows if r[3] is None]),
        ("questions that repeat another under its id", "counted once", again),
        ("questions under an id that another has", "kept as ID#2, ID#3, …", renamed),
        ("questions without an image", "kept, without objects", [r[0] for r in chosen if r[1] is None]),
        ("empty questions", "kept, without words", [r[0] for r in chosen if not r[2].strip()]),
        (
            "questions whose types or groups are not words",
            "kept without them",
            [r[0] for r in chosen if r[6]],
        ),
    )
    return Samples(
        source="gqa",
        ids=tuple(ids),
        images=coded([r[1] for r in chosen]),
        texts=coded(texts),
        answers=coded([r[3] for r in chosen]),
        types=coded(types) if any(types) else None,
        local=coded(local) if any(local) else None,
        splits=coded([named[k] for k in kept]) if splits else None,
        remarks=remarks(account),
    )


def _rows(path: Path) -> Iterator[_Row]:
    data = _json.read_bytes(path)
    if _json.first_mark(data[:64]) != b"{":
        raise UserError(f"{path}: expected an object of questions by their ids")
    for name, raw in _fast(data, path) or _json.entries(data, path):
        if not isinstance(raw, dict):
            raise UserError(f"{path}: question {name}: expected an object, came {type(raw).__name__}")
        image, text, answer = raw.get("imageId"), raw.get("question"), raw.get("answer")
        detailed, structural, local = (
            _word(raw, *path)
            for path in (("types", "detailed"), ("types", "structural"), ("groups", "local"))
        )
        yield (
            name,
            str(image) if isinstance(image, str | int) and image != "" else None,
            text if isinstance(text, str) else "",
            spell(answer) if isinstance(answer, str | int) and answer != "" else None,
            detailed or structural or None,
            local or None,
            None in (detailed, structural, local),
        )


def _word(raw: dict[str, Any], key: str, name: str) -> str | None:
    """The word under `name` in what is under `key`, empty if there is none; None if it is not a word."""
    held = raw.get(key)
    found = held.get(name) if isinstance(held, dict) else held
    return "" if found is None else found if isinstance(held, dict) and isinstance(found, str) else None


def _fast(data: bytes, path: Path) -> Iterator[tuple[str, Any]] | None:
    """The questions with only the fields that matter, or None where they can not be read that way."""
    try:
        import msgspec
    except ImportError:
        return None
    word = (str | None, None)
    kinds = msgspec.defstruct("Kinds", [("detailed", *word), ("structural", *word)])
    groups = msgspec.defstruct("Groups", [("local", *word)])
    row = msgspec.defstruct(
        "Row",
        [
            ("imageId", str | int | None, None),
            ("question", *word),
            ("answer", str | int | bool | None, None),
            ("types", kinds | None, None),
            ("groups", groups | None, None),
        ],
    )
    with _json.reading(data, path):
        try:
            found = msgspec.json.decode(data, type=dict[str, row])  # type: ignore[valid-type]
        except msgspec.ValidationError:
            return None
    # Of an id that the file uses twice only the last would be here; the slow reader refuses such a file.
    if data.count(b'"imageId"') != len(found):
        return None
    return ((name, msgspec.to_builtins(r)) for name, r in found.items())
