"""COVR programs in compositional form: fewer operations, each with a first argument that says which.

    [{"operation": "find", "arguments": ["man"]},
     {"operation": "find", "arguments": ["hat"]},
     {"operation": "filter", "arguments": ["rel", "wearing"], "dependencies": [0, 1]},
     {"operation": "compare", "arguments": ["geq", 2], "dependencies": [2]}]

There is no `unique`: where one object is wanted, the only one of the set is meant, and execution with
`references="default"` takes the first of several. A number that is left out is 0, a truth False. `none` is
`logic_not` right after `map` with `or`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...errors import did_you_mean
from ...schema import Schema
from ..check import plan_of
from ..program import Program, ProgramError
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
    spelling,
    sub_rows,
    texts,
    write_row,
)
from ._covr_steps import COMPARISONS, Step
from ._covr_write import steps_of

NAME = "compositional COVR"
KEEP = "keep_if_values_count"
MAPS = {"and": "all", "or": "some"}
FIRST = {  # operation → what its first argument may be
    "map": tuple(MAPS),
    "choose": ("name", "attr", "rel"),
    "query": ("name", "attr"),
    "verify": ("attr",),
    "filter": ("attr", "rel"),
    KEEP: tuple(COMPARISONS),
    "compare": tuple(COMPARISONS),
}
OPERATIONS = (*PLAIN, "find", "all_same", *LOGIC, *FIRST)
_OWN = {"map", "choose", "query", "verify", "compare", "logic_not", KEEP}
OTHER = "other"  # after `rel`: the objects of the relation are meant, not its subjects
DEFAULT = (("default", "1"),)  # the note of a number or truth that was left out


def sniff(rows: Any) -> bool:
    """Whether rows are in this form and not the original one; those that both have say no."""
    for row in rows if isinstance(rows, list) else ():
        operation, words = (row.get("operation"), row.get("arguments")) if isinstance(row, dict) else ("", ())
        known = spelling(operation) if isinstance(operation, str) else ""
        if known in _OWN or (known == "filter" and isinstance(words, list) and len(words) > 1):
            return True
    return False


def read(rows: Any, schema: Schema | None = None) -> Program:
    """The program of a list of rows; `unique` is put in where one object is wanted."""
    return meant(program_of(_steps(read_rows(rows, OPERATIONS, NAME), schema), mend=True), schema)


def _steps(rows: list[Row], schema: Schema | None) -> list[Step]:
    steps: list[Step] = []
    place: dict[int, int] = {}  # row → step
    reads = Counter(i for row in rows for i in row.inputs)
    for at, row in enumerate(rows):
        step = _step(row, schema)._replace(where=row.where)
        if step.kind == "not" and row.inputs == (at - 1,) and reads[at - 1] == 1:
            denied = steps[place[at - 1]]
            if denied.kind == "some":  # the rows are one step; notes of the second keep their names
                notes = (*step.notes, *((f"map.{key}", value) for key, value in denied.notes))
                steps[-1] = denied._replace(kind="none", notes=notes)
                place[at] = len(steps) - 1
                continue
        place[at] = len(steps)
        steps.append(step._replace(inputs=tuple(place[i] for i in row.inputs)))
    return steps


def _step(row: Row, schema: Schema | None) -> Step:
    """The step a row says, its inputs left open."""
    operation, words, where, notes = row.operation, row.words, row.where, row.notes
    if operation in PLAIN:
        return Step(operation, (), nothing(row), (), notes)
    if operation in LOGIC:
        alone = len(row.inputs) == 1 and operation != "logic_not"
        return Step(LOGIC[operation], (), nothing(row), (), notes + (DEFAULT if alone else ()))
    if operation in FIRST:
        return _first(row, words[0] if words else None, words[1:], schema)
    if operation == "find":
        said, more = any_of(words, where, "a name")
        return Step("find", (), said, (), notes + more)
    return Step("all_same", (), texts(words, 1, where, "an attribute"), (), notes)


def _first(row: Row, first: Any, words: tuple[Any, ...], schema: Schema | None) -> Step:
    """The step of an operation whose first argument says which it is."""
    where, notes = row.where, row.notes
    options = FIRST[row.operation]
    if first not in options:
        hint = did_you_mean(first, options) if isinstance(first, str) else ""
        raise ProgramError(f"{where}: expected {' or '.join(options)} first, came {first!r}{hint}")
    match row.operation, first:
        case "map", _:
            sub = _steps(sub_rows(row, words, OPERATIONS, NAME), schema)
            return Step(MAPS[first], (), (), tuple(sub), notes)
        case ("compare", _):
            said, more = compared(row, words, DEFAULT)
            return Step(first, (), said, (), notes + more)
        case ("keep_if_values_count", _):
            said, more = numbers(words, where)
            if len(said) > 1:
                raise ProgramError(f"{where}: expected a whole number, came {len(said)} of them")
            return Step("keep", (), (first, *(said or ("0",))), (), notes + more + (() if said else DEFAULT))
        case "filter", "attr":
            said, more = any_of(words, where, "a value")
            return Step("filter", (), pairs_of(said, schema), (), notes + more)
        case "filter", _:
            turned = words[:1] == (OTHER,) and len(words) > 1
            kind = "with_relation_object" if turned else "with_relation"
            return Step(kind, (), relation(row, words[turned:]), (), notes)
        case "query", "name":
            return Step("query", (), ("name", *texts(words, 0, where, "nothing else")), (), notes)
        case "query", _:
            return Step("query", (), texts(words, 1, where, "an attribute"), (), notes)
        case "choose", "rel":
            return Step("choose_relation", (), texts(words, 2, where, "two relations"), (), notes)
        case "choose", "name":
            return Step("choose", (), ("name", *texts(words, 2, where, "two names")), (), notes)
        case "choose", _:
            both = texts(words, 2, where, "two values")
            return Step("choose", (), (attribute_of(both[0], schema), *both), (), notes)
    return Step("verify", (), pairs_of(texts(words, 1, where, "a value"), schema), (), notes)


def write(program: Program, schema: Schema | None = None) -> list[dict[str, Any]]:
    """The program as rows; refuses, by name, what the compositional operations can not say."""
    plan_of(program)
    return _written(steps_of(said(program, schema), NAME, mend=True))


def _written(steps: list[Step]) -> list[dict[str, Any]]:
    rows: list[Row] = []
    place: list[int] = []  # step → row
    for step in steps:
        inputs = tuple(place[i] for i in step.inputs)
        notes = step.notes
        if step.kind == "none":
            inner = tuple((k.removeprefix("map."), v) for k, v in notes if k.startswith("map."))
            rows.append(Row("map", ("or", _written(list(step.sub))), inputs, inner))
            inputs = (len(rows) - 1,)
        operation, words = _said(step)
        place.append(len(rows))
        rows.append(Row(operation, words, inputs, notes))
    return [write_row(row) for row in rows]


def _said(step: Step) -> tuple[str, tuple[Any, ...]]:
    """Operation and arguments of a step."""
    kind, words, notes = step.kind, step.words, step.notes
    left_out = "default" in dict(notes) and words[-1:] == ("0",)
    match kind:
        case "find":
            return kind, said_any(words, notes)
        case "filter":
            return kind, ("attr", *said_any(words[1::2], notes))
        case "with_relation":
            return "filter", ("rel", *said_relation(step))
        case "with_relation_object":
            return "filter", ("rel", OTHER, *said_relation(step))
        case "keep":
            return KEEP, (words[0], *said_numbers(() if left_out else words[1:], notes))
        case "and" | "or":
            return f"logic_{kind}", ()
        case "not" | "none":
            return "logic_not", ()
        case "all" | "some":
            return "map", ("and" if kind == "all" else "or", _written(list(step.sub)))
        case "query":
            return kind, ("name",) if words == ("name",) else ("attr", *words)
        case "verify":
            return kind, ("attr", *words[1:])
        case "choose":
            return kind, ("name" if words[0] == "name" else "attr", *words[1:])
        case "choose_relation":
            return "choose", ("rel", *words)
    if kind in COMPARISONS:
        return "compare", (kind, *said_numbers(words[:-1] if left_out else words, notes))
    return kind, words
