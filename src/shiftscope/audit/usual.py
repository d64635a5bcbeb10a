"""Usual rows: those of VQA files that every reader of such files takes as they are.

The others are few or none, so whole blocks of rows are checked by decoding them into records (msgspec), and
only a block that is refused is looked at row by row; all of them where msgspec is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..result import Column
from .rows import QUESTIONS

BLOCK = 200  # rows decoded together; more do not stay in the cache


def unusual(rows: Sequence[Any], key: str, images: Column) -> frozenset[int]:
    """The places of rows, in their JSON, that lack a field, have one of another type, or name another image.

    `images` are those of the samples, in the order of the rows; `key` says what the rows are.
    """
    found: set[int] = set()
    names = ["" if image is None else str(image) for image in (*images.values, None)]
    usual = _usual_question if key == QUESTIONS else _usual_annotation
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        true = [names[code] for code in images.codes[start : start + BLOCK].tolist()]
        shown = _decoded(block, key) or [_image(row, usual) for row in block]
        if shown != true or "" in shown:
            pairs = enumerate(zip(shown, true, strict=True), start)
            found.update(k for k, (one, other) in pairs if one == "" or one != other)
    return frozenset(found)


def _image(row: Any, usual: Callable[[dict[str, Any]], bool]) -> str:
    """The image of a row that is as usual, else nothing."""
    raw = json.loads(bytes(row))
    return str(raw["image_id"]) if isinstance(raw, dict) and usual(raw) else ""


def _is_id(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value != "")


def _usual_question(raw: dict[str, Any]) -> bool:
    return all(_is_id(raw.get(f)) for f in ("question_id", "image_id")) and isinstance(
        raw.get("question"), str
    )


def _usual_annotation(raw: dict[str, Any]) -> bool:
    return (
        all(_is_id(raw.get(f)) for f in ("question_id", "image_id"))
        and isinstance(raw.get("question_type"), str)
        and isinstance(raw.get("multiple_choice_answer"), str)
        and isinstance(raw.get("answer_type", ""), str)
        and is_answer_list(raw.get("answers"))
    )


def is_answer_list(listed: Any) -> bool:
    """Whether this is what VQA has under `answers`: records, each with an answer in words."""
    return isinstance(listed, list) and all(
        isinstance(one, dict) and isinstance(one.get("answer"), str) for one in listed
    )


@cache
def _decoder(key: str) -> Any:
    import msgspec

    name: Any = int | str
    answer = msgspec.defstruct("Answer", [("answer", str)], gc=False)
    fields: list[Any] = [("question_id", name), ("image_id", name)]
    if key == QUESTIONS:
        fields += [("question", str)]
    else:
        fields += [("question_type", str), ("multiple_choice_answer", str), ("answers", list[answer])]  # type: ignore[valid-type]
        fields += [("answer_type", str, "")]
    return msgspec.json.Decoder(list[msgspec.defstruct("Row", fields, gc=False)])  # type: ignore[misc]


def _decoded(rows: Sequence[Any], key: str) -> list[str] | None:
    """The images of the rows if all are as usual, else None."""
    try:
        import msgspec
    except ImportError:
        return None
    try:
        found = _decoder(key).decode(b"[" + b",".join(rows) + b"]")
    except msgspec.ValidationError:
        return None
    if any(row.question_id == "" for row in found):
        return None
    return [str(row.image_id) for row in found]
