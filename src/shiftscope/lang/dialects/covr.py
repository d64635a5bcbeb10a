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
"""

from __future__ import annotations

from typing import Any

from ...schema import Schema
from ..check import plan_of
from ..program import Notes, Program, ProgramError
from ._covr_nouns import meant, said
from ._covr_read import program_of
from ._covr_rows import (
    LOGIC,
    PLAIN,
    Row,
    any_of,
    attribute_of,
    compared,
    nothing,
    numbers,
    pairs_of,
    read_rows,
    relation,
    said_any,
    said_numbers,
    said_relation,
    sub_rows,
    texts,
    write_row,
)
from ._covr_steps import COMPARISONS, QUANTIFIERS, Step
from ._covr_write import steps_of

NAME = "COVR"
KEEP = "keep_if_values_count_"
BETWEEN = ("relation_between_nouns", "unique", "query_name")  # the rows before a `choose_relation`
OPERATIONS = (
    *PLAIN,
    *("find", "filter", "with_relation", "with_relation_object", "unique", "assert_unique"),
    *(KEEP + test for test in COMPARISONS),
    *COMPARISONS,
    *("logic_and", "logic_or", "query_name", "query_attr", "verify_attr", "choose_name", "choose_attr"),
    *("relation_between_nouns", "choose_relation", "all_same"),
    *QUANTIFIERS,
)


def read(rows: Any, schema: Schema | None = None) -> Program:
    """The program of a list of rows."""
    return meant(program_of(_steps(read_rows(rows, OPERATIONS, NAME), schema)), schema)


def _steps(rows: list[Row], schema: Schema | None) -> list[Step]:
    steps: list[Step] = []
    place: dict[int, int] = {}  # row → step
    between: dict[int, tuple[int, ...]] = {}  # row of a relation in the making → the rows it is made of
    made: set[int] = set()  # the relations that a `choose_relation` took
    for at, row in enumerate(rows):
        parts = next((between[i] for i in row.inputs if i in between), ())
        if len(parts) < len(BETWEEN) and row.operation == BETWEEN[len(parts)]:
            nothing(row)
            if parts:
                _only_input(row)
            between[at] = (*parts, at)
            continue
        if row.operation == "choose_relation" and len(parts) == len(BETWEEN):
            _only_input(row)
            made.update(parts)
            step, inputs = _chosen(row, [rows[i] for i in parts]), rows[parts[0]].inputs
        elif parts or row.operation == "choose_relation":
            raise ProgramError(
                f"{row.where}: expected {', '.join(BETWEEN)} and choose_relation in this order"
            )
        else:
            step, inputs = _step(row, schema), row.inputs
        place[at] = len(steps)
        steps.append(step._replace(inputs=tuple(place[i] for i in inputs), where=row.where))
    loose = next((at for at in between if at not in made), None)
    if loose is not None:
        raise ProgramError(f"{rows[loose].where}: no choose_relation reads it")
    return steps


def _only_input(row: Row) -> None:
    if len(row.inputs) != 1:
        raise ProgramError(f"{row.where}: expected 1 dependency, came {len(row.inputs)}")


def _chosen(row: Row, parts: list[Row]) -> Step:
    """The step of a `choose_relation`, the notes of the rows before it kept under their numbers."""
    notes = tuple((f"{k}.{key}", value) for k, part in enumerate(parts) for key, value in part.notes)
    words = texts(row.words, 2, row.where, "two relations")
    return Step("choose_relation", (), words, (), row.notes + notes)


def _step(row: Row, schema: Schema | None) -> Step:
    """The step a row says, its inputs left open."""
    operation, words, where, notes = row.operation, row.words, row.where, row.notes
    if operation in PLAIN or operation in ("unique", "assert_unique"):
        return Step(operation, (), nothing(row), (), notes)
    if operation in LOGIC:
        return Step(LOGIC[operation], (), nothing(row), (), notes)
    if operation in COMPARISONS:
        said, more = compared(row, words)
        return Step(operation, (), said, (), notes + more)
    if operation.startswith(KEEP):
        if len(words) != 1:
            raise ProgramError(f"{where}: expected a whole number, came {len(words)} arguments")
        said, more = numbers(words, where)
        return Step("keep", (), (operation.removeprefix(KEEP), *said), (), notes + more)
    if operation in QUANTIFIERS:
        sub = sub_rows(row, words, OPERATIONS, NAME)
        return Step(operation, (), (), tuple(_steps(sub, schema)), notes)
    match operation:
        case "find":
            said, more = any_of(words, where, "a name")
            return Step("find", (), said, (), notes + more)
        case "filter":
            said, more = any_of(words, where, "a value")
            return Step("filter", (), pairs_of(said, schema), (), notes + more)
        case "with_relation" | "with_relation_object":
            return Step(operation, (), relation(row, words), (), notes)
        case "query_name":
            return Step("query", (), ("name", *nothing(row)), (), notes)
        case "query_attr":
            return Step("query", (), texts(words, 1, where, "an attribute"), (), notes)
        case "verify_attr":
            return Step("verify", (), pairs_of(texts(words, 1, where, "a value"), schema), (), notes)
        case "choose_name":
            return Step("choose", (), ("name", *texts(words, 2, where, "two names")), (), notes)
        case "choose_attr":
            both = texts(words, 2, where, "two values")
            return Step("choose", (), (attribute_of(both[0], schema), *both), (), notes)
    return Step("all_same", (), texts(words, 1, where, "an attribute"), (), notes)


def write(program: Program, schema: Schema | None = None) -> list[dict[str, Any]]:
    """The program as rows; refuses, by name, what the original operations can not say.

    With the schema of solids, which have no names, their shapes are said as names.
    """
    plan_of(program)
    return _written(_without_not(steps_of(said(program, schema), NAME)))


OPPOSITE = {"some": "none", "none": "some", "gt": "leq", "leq": "gt", "lt": "geq", "geq": "lt"}


def _without_not(steps: list[Step]) -> list[Step]:
    """The steps with each denial said by the opposite; there is no operation for it."""
    denied = {i for step in steps if step.kind == "not" for i in step.inputs}
    denied -= {i for step in steps if step.kind != "not" for i in step.inputs}
    said: list[Step] = []
    for step in steps:
        if step.kind == "not":
            inner = said[step.inputs[0]]
            if inner.kind not in OPPOSITE:
                raise ProgramError(f"that {inner.kind} does not hold can not be said in {NAME}")
            step = inner._replace(kind=OPPOSITE[inner.kind])
        said.append(step)
    kept = [at for at in range(len(steps)) if at not in denied]
    place = {at: k for k, at in enumerate(kept)}
    return [said[at]._replace(inputs=tuple(place[i] for i in said[at].inputs)) for at in kept]


def _written(steps: list[Step]) -> list[dict[str, Any]]:
    rows: list[Row] = []
    place: list[int] = []  # step → row
    for step in steps:
        inputs = tuple(place[i] for i in step.inputs)
        if step.kind == "choose_relation":
            for k, operation in enumerate(BETWEEN):
                rows.append(Row(operation, (), inputs, _prefixed(step.notes, k)))
                inputs = (len(rows) - 1,)
        operation, words = _said(step)
        place.append(len(rows))
        rows.append(Row(operation, words, inputs, step.notes))
    return [write_row(row) for row in rows]


def _prefixed(notes: Notes, k: int) -> Notes:
    mark = f"{k}."
    return tuple((key.removeprefix(mark), value) for key, value in notes if key.startswith(mark))


def _said(step: Step) -> tuple[str, tuple[Any, ...]]:
    """Operation and arguments of a step."""
    kind, words, notes = step.kind, step.words, step.notes
    match kind:
        case "find":
            return kind, said_any(words, notes)
        case "filter":
            return kind, said_any(words[1::2], notes)
        case "with_relation" | "with_relation_object":
            return kind, said_relation(step)
        case "keep":
            return KEEP + words[0], said_numbers(words[1:], notes)
        case "and" | "or":
            return f"logic_{kind}", ()
        case "query":
            return ("query_name", ()) if words == ("name",) else ("query_attr", words)
        case "verify":
            return "verify_attr", words[1:]
        case "choose":
            return ("choose_name" if words[0] == "name" else "choose_attr"), words[1:]
        case "all" | "some" | "none":
            return kind, (_written(list(step.sub)),)
    return kind, said_numbers(words, notes) if kind in COMPARISONS else words
