"""Rows as COVR's files list them: `{"operation": "filter", "arguments": ["red"], "dependencies": [0]}`.

Fields that would be empty may be left out; a quantifier has its sub-program, a list of rows, as an argument.
Operations are read as the files spell them (`with_relation`) and as the papers do (`WithRelation`, `And`);
notes keep the spelling, and which fields there were, so that writing gives back what was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from ...errors import did_you_mean
from ...scene import FREE
from ...schema import Schema
from ..program import MAX_NODES, Notes, ProgramError
from ._covr_steps import Step

FIELDS = ("operation", "arguments", "dependencies")
SPELLED = {  # as the papers write it → as the files do
    "and": "logic_and",
    "or": "logic_or",
    "not": "logic_not",
    "exist": "exists",
    "query_attribute": "query_attr",
    "verify_attribute": "verify_attr",
    "choose_attribute": "choose_attr",
}
LOGIC = {"logic_and": "and", "logic_or": "or", "logic_not": "not"}
PLAIN = (  # operations that take no words and are a kind of step of the same name
    *("scene", "unique_images", "group_by_images", "keys", "count", "exists"),
    "query_common_attribute",
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Row(NamedTuple):
    """One row."""

    operation: str  # as the files spell it
    words: tuple[Any, ...]
    inputs: tuple[int, ...]
    notes: Notes = ()
    where: str = ""


def read_rows(raw: Any, known: Iterable[str], notation: str, within: str = "") -> list[Row]:
    """The rows of a program, their shape checked."""
    if not isinstance(raw, list) or not raw:
        raise ProgramError(f"{within or 'a program'}: expected a list of rows, came {_short(raw)}")
    if len(raw) > MAX_NODES:
        raise ProgramError(f"a program of {len(raw)} rows; {MAX_NODES} is the most")
    return [_read_row(row, at, known, notation, within) for at, row in enumerate(raw)]


def _read_row(raw: Any, at: int, known: Iterable[str], notation: str, within: str) -> Row:
    where = f"{within}, its row {at}" if within else f"row {at}"
    if not isinstance(raw, dict) or not isinstance(raw.get("operation"), str):
        raise ProgramError(f"{where}: expected an operation with arguments and dependencies")
    strange = sorted(map(str, raw.keys() - set(FIELDS)))
    if strange:
        raise ProgramError(f"{where} has an unknown field {strange[0]!r}")
    spelled = raw["operation"]
    operation = spelling(spelled)
    if operation not in known:
        hint = did_you_mean(operation, known)
        raise ProgramError(f"{where}: unknown op {spelled!r} in {notation}{hint}")
    where += f" ({spelled})"
    words, inputs = raw.get("arguments", []), raw.get("dependencies", [])
    if not isinstance(words, list) or not isinstance(inputs, list):
        raise ProgramError(f"{where}: its arguments and dependencies must be lists")
    for i in inputs:
        if type(i) is not int or not 0 <= i < at:
            raise ProgramError(f"{where} reads row {_short(i)}, which does not come before it")
    notes: Notes = (("spelled", spelled),) if spelled != operation else ()
    if tuple(raw) != _fields(words, inputs):
        notes += (("fields", " ".join(raw)),)
    return Row(operation, tuple(words), tuple(inputs), notes, where)


@lru_cache(maxsize=1024)
def spelling(operation: str) -> str:
    """`WithRelation` → `with_relation`."""
    snake = _HUMP.sub("_", operation).lower()
    return SPELLED.get(snake, snake)


def _fields(words: Any, inputs: Any) -> tuple[str, ...]:
    """The fields a row has by default: those that are not empty."""
    return ("operation", *(["arguments"] if words else []), *(["dependencies"] if inputs else []))


def write_row(row: Row) -> dict[str, Any]:
    """The row as its file had it; as the files do if it never was in one."""
    notes = dict(row.notes)
    spelled = notes.get("spelled", row.operation)
    made = {
        "operation": spelled if spelling(spelled) == row.operation else row.operation,
        "arguments": list(row.words),
        "dependencies": list(row.inputs),
    }
    wanted = _fields(row.words, row.inputs)
    noted = notes.get("fields", "").split()
    return {field: made[field] for field in dict.fromkeys([*noted, *wanted])}


def texts(words: tuple[Any, ...], many: int, where: str, what: str) -> tuple[str, ...]:
    """So many words that are text."""
    if len(words) != many:
        raise ProgramError(f"{where}: expected {what}, came {len(words)} arguments")
    wrong = next((word for word in words if not isinstance(word, str) or not word), None)
    if wrong is not None:
        raise ProgramError(f"{where}: expected {what}, came {_short(wrong)}")
    return words


def any_of(words: tuple[Any, ...], where: str, what: str) -> tuple[tuple[str, ...], Notes]:
    """A word, or a list of words any of which will do; a note tells a list of one."""
    if len(words) == 1 and isinstance(words[0], list) and words[0]:
        listed = tuple(words[0])
        return texts(listed, len(listed), where, what), (("listed", "1"),) if len(listed) == 1 else ()
    return texts(words, 1, where, what), ()


def said_any(words: tuple[str, ...], notes: Notes) -> tuple[Any, ...]:
    """The argument that says any of the words."""
    return words if len(words) == 1 and "listed" not in dict(notes) else (list(words),)


def numbers(words: tuple[Any, ...], where: str) -> tuple[tuple[str, ...], Notes]:
    """Whole numbers; a note tells which were written as text."""
    for word in words:
        text = str(word) if type(word) is int else word
        if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 10):
            raise ProgramError(f"{where}: expected a whole number, came {_short(word)}")
    quoted = "".join("1" if isinstance(word, str) else "0" for word in words)
    return tuple(map(str, words)), (("text", quoted),) if "1" in quoted else ()


def said_numbers(words: tuple[str, ...], notes: Notes) -> tuple[Any, ...]:
    quoted = dict(notes).get("text", "").ljust(len(words), "0")
    return tuple(w if q == "1" else int(w) for w, q in zip(words, quoted, strict=False))


def compared(row: Row, words: tuple[Any, ...], default: Notes = ()) -> tuple[tuple[str, ...], Notes]:
    """The numbers that a comparison has besides what it reads; 0 where one is left out and that is noted."""
    said, notes = numbers(words, row.where)
    if default and len(said) + len(row.inputs) == 1:
        said, notes = (*said, "0"), notes + default
    if len(said) + len(row.inputs) != 2:
        came = f"{len(row.inputs)} dependencies and {len(said)} numbers"
        raise ProgramError(f"{row.where}: expected two to compare, came {came}")
    return said, notes


def relation(row: Row, words: tuple[Any, ...]) -> tuple[str, ...]:
    """The relation of a row; one that reads a single set says null for the other."""
    if len(row.inputs) != 1:
        return texts(words, 1, row.where, "a relation")
    if words[:1] != (None,):
        raise ProgramError(f"{row.where}: expected 2 dependencies, or null before the relation")
    return texts(words[1:], 1, row.where, "a relation after null")


def said_relation(step: Step) -> tuple[Any, ...]:
    return step.words if len(step.inputs) == 2 else (None, *step.words)


def sub_rows(row: Row, raw: tuple[Any, ...], known: Iterable[str], notation: str) -> list[Row]:
    """The rows of a quantifier's sub-program."""
    if len(raw) != 1 or not isinstance(raw[0], list):
        raise ProgramError(f"{row.where}: expected a sub-program, a list of rows")
    rows = read_rows(raw[0], known, notation, row.where)
    for inner in rows:
        if any(isinstance(w, list) and any(isinstance(r, dict) for r in w) for w in inner.words):
            raise ProgramError(f"{inner.where}: a sub-program can not stand inside another")
    return rows


def nothing(row: Row) -> tuple[()]:
    if row.words:
        raise ProgramError(f"{row.where}: expected no arguments, came {len(row.words)}")
    return ()


def attribute_of(value: str, schema: Schema | None) -> str:
    """The attribute that a word is a value of; without a schema any that has it."""
    return (schema.attribute_of(value) if schema else None) or FREE


def pairs_of(values: tuple[str, ...], schema: Schema | None) -> tuple[str, ...]:
    return tuple(word for v in values for word in (attribute_of(v, schema), v))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
