"""COVR programs: rows such as `find`, `with_relation`, `keep_if_values_count_eq`; the original operations.

    [{"operation": "find", "arguments": ["hat"]},
     {"operation": "find", "arguments": ["man"]},
     {"operation": "with_relation", "arguments": ["wearing"], "dependencies": [1, 0]},
     {"operation": "count", "dependencies": [2]}]

A row reads earlier rows by number. `with_relation` keeps those of its first set that are in the relation to
any of its second, `with_relation_object` those of the second that the first are in the relation to. All, some
and none have as their argument a sub-program that gives the objects for which it is true. `choose_relation`
follows `relation_between_nouns`, `unique` and `query_name`, which here are one node together.

A word names no attribute: `color=red` written here reads back as any attribute's `red`, unless the schema is
given to tell.

Fields of a row that would be empty may be left out. Operations are read as the files spell them
(`with_relation`) and as the papers do (`WithRelation`, `And`); notes keep the spelling, and which fields
there were, so that writing gives back what was read. `covr_compositional` shares the rows.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ....errors import did_you_mean
from ....scene import FREE
from ....schema import Schema
from ...check import plan_program
from ...program import MAX_NODES, Notes, Program, ProgramError, prefix_notes, strip_prefix
from .reader import (
    COMPARISONS,
    QUANTIFIERS,
    CovrStep,
    build_program,
    replace_names_by_nouns,
    replace_nouns_by_names,
    spell_out_names,
)
from .writer import build_steps

FIELDS = ("operation", "arguments", "dependencies")
PAPER_SPELLINGS = {  # as the papers write it → as the files do
    "and": "logic_and",
    "or": "logic_or",
    "not": "logic_not",
    "exist": "exists",
    "query_attribute": "query_attr",
    "verify_attribute": "verify_attr",
    "choose_attribute": "choose_attr",
}
LOGIC = {"logic_and": "and", "logic_or": "or", "logic_not": "not"}
WORDLESS = (  # operations that take no words and are a kind of step of the same name
    *("scene", "unique_images", "group_by_images", "keys", "count", "exists"),
    "query_common_attribute",
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class CovrRow(NamedTuple):
    """One row."""

    operation: str  # as the files spell it
    words: tuple[Any, ...]
    inputs: tuple[int, ...]
    notes: Notes = ()
    where: str = ""


def read_rows(raw: Any, known: Iterable[str], notation: str, within: str = "") -> list[CovrRow]:
    """The rows of a program, their shape checked."""
    if not isinstance(raw, list) or not raw:
        raise ProgramError(f"{within or 'a program'}: expected a list of rows, got {_shorten(raw)}")
    if len(raw) > MAX_NODES:
        raise ProgramError(f"a program of {len(raw)} rows; {MAX_NODES} is the most")
    rows = []
    for at, row in enumerate(raw):
        where = f"{within}, its row {at}" if within else f"row {at}"
        if not isinstance(row, dict) or not isinstance(row.get("operation"), str):
            raise ProgramError(f"{where}: expected an operation with arguments and dependencies")
        if strange := sorted(map(str, row.keys() - set(FIELDS))):
            raise ProgramError(f"{where} has an unknown field {strange[0]!r}")
        spelled = row["operation"]
        operation = normalize_operation(spelled)
        if operation not in known:
            hint = did_you_mean(operation, known)
            raise ProgramError(f"{where}: unknown op {spelled!r} in {notation}{hint}")
        where += f" ({spelled})"
        words, inputs = row.get("arguments", []), row.get("dependencies", [])
        if not isinstance(words, list) or not isinstance(inputs, list):
            raise ProgramError(f"{where}: its arguments and dependencies must be lists")
        for i in inputs:
            if type(i) is not int or not 0 <= i < at:
                raise ProgramError(f"{where} reads row {_shorten(i)}, which does not come before it")
        notes: Notes = (("spelled", spelled),) if spelled != operation else ()
        if tuple(row) != _list_default_fields(words, inputs):
            notes += (("fields", " ".join(row)),)
        rows.append(CovrRow(operation, tuple(words), tuple(inputs), notes, where))
    return rows


@lru_cache(maxsize=1024)
def normalize_operation(operation: str) -> str:
    """`WithRelation` → `with_relation`."""
    snake = _HUMP.sub("_", operation).lower()
    return PAPER_SPELLINGS.get(snake, snake)


def _list_default_fields(words: Any, inputs: Any) -> tuple[str, ...]:
    """The fields a row has by default: those that are not empty."""
    return ("operation", *(["arguments"] if words else []), *(["dependencies"] if inputs else []))


def write_row(row: CovrRow) -> dict[str, Any]:
    """The row as its file had it; as the files do if it never was in one."""
    notes = dict(row.notes)
    spelled = notes.get("spelled", row.operation)
    made = {
        "operation": spelled if normalize_operation(spelled) == row.operation else row.operation,
        "arguments": list(row.words),
        "dependencies": list(row.inputs),
    }
    wanted = _list_default_fields(row.words, row.inputs)
    noted = notes.get("fields", "").split()
    return {field: made[field] for field in dict.fromkeys([*noted, *wanted])}


def check_texts(words: tuple[Any, ...], many: int, where: str, what: str) -> tuple[str, ...]:
    """So many words that are text."""
    if len(words) != many:
        raise ProgramError(f"{where}: expected {what}, got {len(words)} arguments")
    wrong = next((word for word in words if not isinstance(word, str) or not word), None)
    if wrong is not None:
        raise ProgramError(f"{where}: expected {what}, got {_shorten(wrong)}")
    return words


def read_alternatives(words: tuple[Any, ...], where: str, what: str) -> tuple[tuple[str, ...], Notes]:
    """A word, or a list of words any of which will do; a note marks a list of one."""
    if len(words) == 1 and isinstance(words[0], list) and words[0]:
        listed = tuple(words[0])
        return check_texts(listed, len(listed), where, what), (("listed", "1"),) if len(listed) == 1 else ()
    return check_texts(words, 1, where, what), ()


def read_numbers(words: tuple[Any, ...], where: str) -> tuple[tuple[str, ...], Notes]:
    """Whole numbers; a note marks those written as text."""
    for word in words:
        text = str(word) if type(word) is int else word
        if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 10):
            raise ProgramError(f"{where}: expected a whole number, got {_shorten(word)}")
    quoted = "".join("1" if isinstance(word, str) else "0" for word in words)
    return tuple(map(str, words)), (("text", quoted),) if "1" in quoted else ()


def read_sub_rows(row: CovrRow, known: Iterable[str], notation: str) -> list[CovrRow]:
    """The rows of a quantifier's sub-program."""
    if len(row.words) != 1 or not isinstance(row.words[0], list):
        raise ProgramError(f"{row.where}: expected a sub-program, a list of rows")
    rows = read_rows(row.words[0], known, notation, row.where)
    for inner in rows:
        if any(isinstance(w, list) and any(isinstance(r, dict) for r in w) for w in inner.words):
            raise ProgramError(f"{inner.where}: a sub-program cannot stand inside another")
    return rows


def check_no_words(row: CovrRow) -> tuple[()]:
    if row.words:
        raise ProgramError(f"{row.where}: expected no arguments, got {len(row.words)}")
    return ()


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


NAME = "COVR"
KEEP = "keep_if_values_count_"
BETWEEN = ("relation_between_nouns", "unique", "query_name")  # the rows before a `choose_relation`
OPERATIONS = (
    *WORDLESS,
    *("find", "filter", "with_relation", "with_relation_object", "unique", "assert_unique"),
    *(KEEP + test for test in COMPARISONS),
    *COMPARISONS,
    *("logic_and", "logic_or", "query_name", "query_attr", "verify_attr", "choose_name", "choose_attr"),
    *("relation_between_nouns", "choose_relation", "all_same"),
    *QUANTIFIERS,
)


def read(rows: Any, schema: Schema | None = None) -> Program:
    """The program of a list of rows."""
    return replace_names_by_nouns(build_program(_read_steps(read_rows(rows, OPERATIONS, NAME), schema)), schema)


def _read_steps(rows: list[CovrRow], schema: Schema | None) -> list[CovrStep]:
    steps: list[CovrStep] = []
    place: dict[int, int] = {}  # row → step
    between: dict[int, tuple[int, ...]] = {}  # row of a relation in the making → the rows it is made of
    made: set[int] = set()  # the relations that a `choose_relation` took
    for at, row in enumerate(rows):
        parts = next((between[i] for i in row.inputs if i in between), ())
        begins = len(parts) < len(BETWEEN) and row.operation == BETWEEN[len(parts)]
        ends = row.operation == "choose_relation" and len(parts) == len(BETWEEN)
        if begins:
            check_no_words(row)
        elif not ends and (parts or row.operation == "choose_relation"):
            raise ProgramError(f"{row.where}: expected {', '.join(BETWEEN)} and choose_relation in this order")
        if parts and len(row.inputs) != 1:
            raise ProgramError(f"{row.where}: expected 1 dependency, got {len(row.inputs)}")
        if begins:
            between[at] = (*parts, at)
            continue
        inputs = row.inputs
        if ends:  # the notes of the rows before it are kept under their numbers
            made.update(parts)
            inputs = rows[parts[0]].inputs
            notes = tuple(note for k, i in enumerate(parts) for note in prefix_notes(rows[i].notes, str(k)))
            row = row._replace(notes=row.notes + notes)
        sub: tuple[CovrStep, ...] = ()
        if row.operation in QUANTIFIERS:
            sub = tuple(_read_steps(read_sub_rows(row, OPERATIONS, NAME), schema))
        place[at] = len(steps)
        steps.append(read_step(row, schema, sub)._replace(inputs=tuple(place[i] for i in inputs)))
    loose = next((at for at in between if at not in made), None)
    if loose is not None:
        raise ProgramError(f"{rows[loose].where}: no choose_relation reads it")
    return steps


def read_step(row: CovrRow, schema: Schema | None, sub: tuple[CovrStep, ...] = (), default: Notes = ()) -> CovrStep:
    """The step a row says, its inputs left open; `default` is the note of a number or truth left out, if one may be."""
    kind, words, notes = (row.operation, (), ()) if sub else _read_words(row, schema, default)
    return CovrStep(kind, (), words, sub, row.notes + notes, row.where)


def _read_words(row: CovrRow, schema: Schema | None, default: Notes) -> tuple[str, tuple[str, ...], Notes]:
    """The kind of step that a row says, its words, and the notes that say how they were written."""
    operation, words, where = row.operation, row.words, row.where
    if operation in LOGIC:
        left_out = len(row.inputs) == 1 and operation != "logic_not"
        return LOGIC[operation], check_no_words(row), default if left_out else ()
    if operation in COMPARISONS:
        said, notes = read_numbers(words, where)
        if default and len(said) + len(row.inputs) == 1:
            said, notes = (*said, "0"), notes + default
        if len(said) + len(row.inputs) != 2:
            got = f"{len(row.inputs)} dependencies and {len(said)} numbers"
            raise ProgramError(f"{where}: expected two to compare, got {got}")
        return operation, said, notes
    if operation.startswith(KEEP):
        said, notes = read_numbers(words, where)
        if default and not said:
            said, notes = ("0",), default
        if len(said) != 1:
            raise ProgramError(f"{where}: expected a whole number, got {len(said)} of them")
        return "keep", (operation.removeprefix(KEEP), *said), notes
    match operation:
        case "find":
            return operation, *read_alternatives(words, where, "a name")
        case "filter":
            said, notes = read_alternatives(words, where, "a value")
            return operation, _build_pairs(said, schema), notes
        case "with_relation" | "with_relation_object" if len(row.inputs) != 1:
            return operation, check_texts(words, 1, where, "a relation"), ()
        case "with_relation" | "with_relation_object":  # one that reads a single set says null for the other
            if words[:1] != (None,):
                raise ProgramError(f"{where}: expected 2 dependencies, or null before the relation")
            return operation, check_texts(words[1:], 1, where, "a relation after null"), ()
        case "query_name":
            return "query", ("name", *check_no_words(row)), ()
        case "query_attr":
            return "query", check_texts(words, 1, where, "an attribute"), ()
        case "verify_attr":
            return "verify", _build_pairs(check_texts(words, 1, where, "a value"), schema), ()
        case "choose_name":
            return "choose", ("name", *check_texts(words, 2, where, "two names")), ()
        case "choose_attr":
            both = check_texts(words, 2, where, "two values")
            return "choose", (*_build_pairs(both[:1], schema), both[1]), ()
        case "choose_relation":
            return operation, check_texts(words, 2, where, "two relations"), ()
        case "all_same":
            return operation, check_texts(words, 1, where, "an attribute"), ()
    return operation, check_no_words(row), ()


def _build_pairs(values: tuple[str, ...], schema: Schema | None) -> tuple[str, ...]:
    """Each value after the attribute that it is one of; without a schema any that has it."""
    return tuple(word for v in values for word in ((schema.attribute_of(v) if schema else None) or FREE, v))


def write(program: Program, schema: Schema | None = None) -> list[dict[str, Any]]:
    """The program as rows; refuses, by name, what the original operations cannot say.

    With a schema, a find lists the names that it accepts; of solids, which have no names, shapes are written as names.
    """
    plan_program(program)
    steps = _remove_negations(build_steps(replace_nouns_by_names(program, schema), NAME))
    return _write_steps(spell_out_names(steps, schema))


OPPOSITE = {"some": "none", "none": "some", "gt": "leq", "leq": "gt", "lt": "geq", "geq": "lt"}


def _remove_negations(steps: list[CovrStep]) -> list[CovrStep]:
    """The steps with each negation replaced by the opposite; there is no operation for it."""
    denied = {i for step in steps if step.kind == "not" for i in step.inputs}
    denied -= {i for step in steps if step.kind != "not" for i in step.inputs}
    said: list[CovrStep] = []
    for step in steps:
        if step.kind == "not":
            inner = said[step.inputs[0]]
            if inner.kind not in OPPOSITE:
                raise ProgramError(f"that {inner.kind} does not hold cannot be said in {NAME}")
            step = inner._replace(kind=OPPOSITE[inner.kind])
        said.append(step)
    kept = [at for at in range(len(steps)) if at not in denied]
    place = {at: k for k, at in enumerate(kept)}
    return [said[at]._replace(inputs=tuple(place[i] for i in said[at].inputs)) for at in kept]


def _write_steps(steps: Sequence[CovrStep]) -> list[dict[str, Any]]:
    rows: list[CovrRow] = []
    place: list[int] = []  # step → row
    for step in steps:
        inputs = tuple(place[i] for i in step.inputs)
        if step.kind == "choose_relation":
            for k, operation in enumerate(BETWEEN):
                rows.append(CovrRow(operation, (), inputs, strip_prefix(step.notes, str(k))))
                inputs = (len(rows) - 1,)
        operation, words = write_step(step)
        place.append(len(rows))
        rows.append(CovrRow(operation, (_write_steps(step.sub),) if step.sub else words, inputs, step.notes))
    return [write_row(row) for row in rows]


def write_step(step: CovrStep) -> tuple[str, tuple[Any, ...]]:
    """Operation and arguments of a step; a sub-program is left to the caller."""
    kind, words, notes = step.kind, step.words, step.notes
    if kind in COMPARISONS or kind == "keep":
        test, numbers = (kind, words) if kind != "keep" else (KEEP + words[0], words[1:])
        as_text = dict(notes).get("text", "").ljust(len(numbers), "0")
        return test, tuple(w if q == "1" else int(w) for w, q in zip(numbers, as_text, strict=False))
    match kind:
        case "find" | "filter":
            said = words if kind == "find" else words[1::2]
            return kind, said if len(said) == 1 and "listed" not in dict(notes) else (list(said),)
        case "with_relation" | "with_relation_object":
            return kind, words if len(step.inputs) == 2 else (None, *words)
        case "and" | "or":
            return f"logic_{kind}", ()
        case "query":
            return ("query_name", ()) if words == ("name",) else ("query_attr", words)
        case "verify":
            return "verify_attr", words[1:]
        case "choose":
            return ("choose_name" if words[0] == "name" else "choose_attr"), words[1:]
    return kind, words
