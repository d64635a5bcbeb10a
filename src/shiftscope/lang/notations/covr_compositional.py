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
from ..check import plan_program
from ..program import Program, ProgramError, prefix_notes, strip_prefix
from .covr import (
    LOGIC,
    WORDLESS,
    CovrRow,
    build_pairs,
    check_no_words,
    check_texts,
    find_attribute,
    normalize_operation,
    read_alternatives,
    read_comparison,
    read_numbers,
    read_relation,
    read_rows,
    read_sub_rows,
    write_alternatives,
    write_numbers,
    write_relation,
    write_row,
)
from .covr.reader import COMPARISONS, CovrStep, build_program, replace_names_by_nouns, replace_nouns_by_names
from .covr.writer import build_steps

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
OPERATIONS = (*WORDLESS, "find", "all_same", *LOGIC, *FIRST)
_OWN = {"map", "choose", "query", "verify", "compare", "logic_not", KEEP}
OTHER = "other"  # after `rel`: the objects of the relation are meant, not its subjects
DEFAULT = (("default", "1"),)  # the note of a number or truth that was left out


def sniff(rows: Any) -> bool:
    """Whether rows are in this form and not the original one; those that both have say no."""
    for row in rows if isinstance(rows, list) else ():
        operation, words = (row.get("operation"), row.get("arguments")) if isinstance(row, dict) else ("", ())
        known = normalize_operation(operation) if isinstance(operation, str) else ""
        if known in _OWN or (known == "filter" and isinstance(words, list) and len(words) > 1):
            return True
    return False


def read(rows: Any, schema: Schema | None = None) -> Program:
    """The program of a list of rows; `unique` is put in where one object is wanted."""
    return replace_names_by_nouns(
        build_program(_read_steps(read_rows(rows, OPERATIONS, NAME), schema), mend=True), schema
    )


def _read_steps(rows: list[CovrRow], schema: Schema | None) -> list[CovrStep]:
    steps: list[CovrStep] = []
    place: dict[int, int] = {}  # row → step
    reads = Counter(i for row in rows for i in row.inputs)
    for at, row in enumerate(rows):
        step = _read_step(row, schema)._replace(where=row.where)
        if step.kind == "not" and row.inputs == (at - 1,) and reads[at - 1] == 1:
            denied = steps[place[at - 1]]
            if denied.kind == "some":  # the rows are one step; notes of the second keep their names
                notes = (*step.notes, *prefix_notes(denied.notes, "map"))
                steps[-1] = denied._replace(kind="none", notes=notes)
                place[at] = len(steps) - 1
                continue
        place[at] = len(steps)
        steps.append(step._replace(inputs=tuple(place[i] for i in row.inputs)))
    return steps


def _read_step(row: CovrRow, schema: Schema | None) -> CovrStep:
    """The step a row says, its inputs left open."""
    operation, words, where, notes = row.operation, row.words, row.where, row.notes
    if operation in WORDLESS:
        return CovrStep(operation, (), check_no_words(row), (), notes)
    if operation in LOGIC:
        alone = len(row.inputs) == 1 and operation != "logic_not"
        return CovrStep(LOGIC[operation], (), check_no_words(row), (), notes + (DEFAULT if alone else ()))
    if operation in FIRST:
        return _read_by_first_word(row, words[0] if words else None, words[1:], schema)
    if operation == "find":
        said, more = read_alternatives(words, where, "a name")
        return CovrStep("find", (), said, (), notes + more)
    return CovrStep("all_same", (), check_texts(words, 1, where, "an attribute"), (), notes)


def _read_by_first_word(row: CovrRow, first: Any, words: tuple[Any, ...], schema: Schema | None) -> CovrStep:
    """The step of an operation whose first argument says which it is."""
    where, notes = row.where, row.notes
    options = FIRST[row.operation]
    if first not in options:
        hint = did_you_mean(first, options) if isinstance(first, str) else ""
        raise ProgramError(f"{where}: expected {' or '.join(options)} first, got {first!r}{hint}")
    match row.operation, first:
        case "map", _:
            sub = _read_steps(read_sub_rows(row, words, OPERATIONS, NAME), schema)
            return CovrStep(MAPS[first], (), (), tuple(sub), notes)
        case ("compare", _):
            said, more = read_comparison(row, words, DEFAULT)
            return CovrStep(first, (), said, (), notes + more)
        case ("keep_if_values_count", _):
            said, more = read_numbers(words, where)
            if len(said) > 1:
                raise ProgramError(f"{where}: expected a whole number, got {len(said)} of them")
            return CovrStep("keep", (), (first, *(said or ("0",))), (), notes + more + (() if said else DEFAULT))
        case "filter", "attr":
            said, more = read_alternatives(words, where, "a value")
            return CovrStep("filter", (), build_pairs(said, schema), (), notes + more)
        case "filter", _:
            turned = words[:1] == (OTHER,) and len(words) > 1
            kind = "with_relation_object" if turned else "with_relation"
            return CovrStep(kind, (), read_relation(row, words[turned:]), (), notes)
        case "query", "name":
            return CovrStep("query", (), ("name", *check_texts(words, 0, where, "nothing else")), (), notes)
        case "query", _:
            return CovrStep("query", (), check_texts(words, 1, where, "an attribute"), (), notes)
        case "choose", "rel":
            return CovrStep("choose_relation", (), check_texts(words, 2, where, "two relations"), (), notes)
        case "choose", "name":
            return CovrStep("choose", (), ("name", *check_texts(words, 2, where, "two names")), (), notes)
        case "choose", _:
            both = check_texts(words, 2, where, "two values")
            return CovrStep("choose", (), (find_attribute(both[0], schema), *both), (), notes)
    return CovrStep("verify", (), build_pairs(check_texts(words, 1, where, "a value"), schema), (), notes)


def write(program: Program, schema: Schema | None = None) -> list[dict[str, Any]]:
    """The program as rows; refuses, by name, what the compositional operations cannot say."""
    plan_program(program)
    return _write_steps(build_steps(replace_nouns_by_names(program, schema), NAME, mend=True))


def _write_steps(steps: list[CovrStep]) -> list[dict[str, Any]]:
    rows: list[CovrRow] = []
    place: list[int] = []  # step → row
    for step in steps:
        inputs = tuple(place[i] for i in step.inputs)
        notes = step.notes
        if step.kind == "none":
            rows.append(CovrRow("map", ("or", _write_steps(list(step.sub))), inputs, strip_prefix(notes, "map")))
            inputs = (len(rows) - 1,)
        operation, words = _write_step(step)
        place.append(len(rows))
        rows.append(CovrRow(operation, words, inputs, notes))
    return [write_row(row) for row in rows]


def _write_step(step: CovrStep) -> tuple[str, tuple[Any, ...]]:
    """Operation and arguments of a step."""
    kind, words, notes = step.kind, step.words, step.notes
    left_out = "default" in dict(notes) and words[-1:] == ("0",)
    match kind:
        case "find":
            return kind, write_alternatives(words, notes)
        case "filter":
            return kind, ("attr", *write_alternatives(words[1::2], notes))
        case "with_relation":
            return "filter", ("rel", *write_relation(step))
        case "with_relation_object":
            return "filter", ("rel", OTHER, *write_relation(step))
        case "keep":
            return KEEP, (words[0], *write_numbers(() if left_out else words[1:], notes))
        case "and" | "or":
            return f"logic_{kind}", ()
        case "not" | "none":
            return "logic_not", ()
        case "all" | "some":
            return "map", ("and" if kind == "all" else "or", _write_steps(list(step.sub)))
        case "query":
            return kind, ("name",) if words == ("name",) else ("attr", *words)
        case "verify":
            return kind, ("attr", *words[1:])
        case "choose":
            return kind, ("name" if words[0] == "name" else "attr", *words[1:])
        case "choose_relation":
            return "choose", ("rel", *words)
    if kind in COMPARISONS:
        return "compare", (kind, *write_numbers(words[:-1] if left_out else words, notes))
    return kind, words
