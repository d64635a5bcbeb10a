"""COVR programs in compositional form: fewer operations, each with a first argument that says which.

    [{"operation": "find", "arguments": ["man"]},
     {"operation": "find", "arguments": ["hat"]},
     {"operation": "filter", "arguments": ["rel", "wearing"], "dependencies": [0, 1]},
     {"operation": "compare", "arguments": ["geq", 2], "dependencies": [2]}]

There is no `unique`: where one object is wanted, the only one of the set is meant, and execution with
`references="default"` takes the first of several. A number that is left out is 0, a truth False. `none` is
`logic_not` right after `map` with `or`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...errors import did_you_mean
from ...schema import Schema
from ..check import plan_program
from ..program import Program, ProgramError, prefix_notes, strip_prefix
from . import covr as original
from .covr import CovrRow
from .covr.reader import (
    COMPARISONS,
    CovrStep,
    build_program,
    replace_names_by_nouns,
    replace_nouns_by_names,
    spell_out_names,
)
from .covr.writer import build_steps

NAME = "compositional COVR"
OTHER = "other"  # after `rel`: the objects of the relation are meant, not its subjects
DEFAULT = (("default", "1"),)  # the note of a number or truth that was left out
FORMS = {  # original operation → ours, and what our first arguments say
    "all": ("map", ("and",)),
    "some": ("map", ("or",)),
    "choose_name": ("choose", ("name",)),
    "choose_attr": ("choose", ("attr",)),
    "choose_relation": ("choose", ("rel",)),
    "query_name": ("query", ("name",)),
    "query_attr": ("query", ("attr",)),
    "verify_attr": ("verify", ("attr",)),
    "filter": ("filter", ("attr",)),
    "with_relation": ("filter", ("rel",)),
    "with_relation_object": ("filter", ("rel", OTHER)),
    **{f"{original.KEEP}{test}": (original.KEEP.removesuffix("_"), (test,)) for test in COMPARISONS},
    **{test: ("compare", (test,)) for test in COMPARISONS},
}
ORIGINAL = {form: operation for operation, form in FORMS.items()}
BY_FIRST = tuple(dict.fromkeys(operation for operation, _ in ORIGINAL))  # whose first argument says which
OPERATIONS = (*original.WORDLESS, "find", "all_same", *original.LOGIC, *BY_FIRST)
_OWN = {"logic_not", *BY_FIRST} - {"filter"}


def sniff(rows: Any) -> bool:
    """Whether rows are in this form and not the original one; those that both have say no."""
    for row in rows if isinstance(rows, list) else ():
        operation, words = (row.get("operation"), row.get("arguments")) if isinstance(row, dict) else ("", ())
        known = original.normalize_operation(operation) if isinstance(operation, str) else ""
        if known in _OWN or (known == "filter" and isinstance(words, list) and len(words) > 1):
            return True
    return False


def read(rows: Any, schema: Schema | None = None) -> Program:
    """The program of a list of rows; `unique` is put in where one object is wanted."""
    steps = _read_steps(original.read_rows(rows, OPERATIONS, NAME), schema)
    return replace_names_by_nouns(build_program(steps, mend=True), schema)


def _read_steps(rows: list[CovrRow], schema: Schema | None) -> list[CovrStep]:
    steps: list[CovrStep] = []
    place: dict[int, int] = {}  # row → step
    reads = Counter(i for row in rows for i in row.inputs)
    for at, row in enumerate(rows):
        said = _find_original(row) if row.operation in BY_FIRST else row
        sub = _read_steps(original.read_sub_rows(said, OPERATIONS, NAME), schema) if row.operation == "map" else []
        step = original.read_step(said, schema, tuple(sub), DEFAULT)
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


def _find_original(row: CovrRow) -> CovrRow:
    """The row with the original operation, whose name says what the first argument does here."""
    first, *words = row.words or (None,)
    options = [one[0] for operation, one in ORIGINAL if operation == row.operation and len(one) == 1]
    if first not in options:
        hint = did_you_mean(first, options) if isinstance(first, str) else ""
        raise ProgramError(f"{row.where}: expected {' or '.join(options)} first, got {first!r}{hint}")
    said: tuple[str, ...] = (first,)
    if first == "rel" and row.operation == "filter" and words[:1] == [OTHER] and len(words) > 1:
        said, words = (first, OTHER), words[1:]
    operation = ORIGINAL[row.operation, said]
    if operation == "query_name":
        original.check_texts(tuple(words), 0, row.where, "nothing else")
    return row._replace(operation=operation, words=tuple(words))


def write(program: Program, schema: Schema | None = None) -> list[dict[str, Any]]:
    """The program as rows; refuses, by name, what the compositional operations cannot say."""
    plan_program(program)
    steps = build_steps(replace_nouns_by_names(program, schema), NAME, mend=True)
    return _write_steps(spell_out_names(steps, schema))


def _write_steps(steps: Sequence[CovrStep]) -> list[dict[str, Any]]:
    rows: list[CovrRow] = []
    place: list[int] = []  # step → row
    for step in steps:
        inputs, notes = tuple(place[i] for i in step.inputs), step.notes
        operation, words = original.write_step(step)
        if step.kind in ("keep", *COMPARISONS) and "default" in dict(notes) and step.words[-1] == "0":
            words = words[:-1]
        if step.kind == "none":
            rows.append(CovrRow("map", ("or", _write_steps(step.sub)), inputs, strip_prefix(notes, "map")))
            inputs = (len(rows) - 1,)
        elif step.sub:
            words = (_write_steps(step.sub),)
        if operation in ("not", "none"):
            operation = "logic_not"
        ours, first = FORMS.get(operation, (operation, ()))
        place.append(len(rows))
        rows.append(CovrRow(ours, (*first, *words), inputs, notes))
    return [original.write_row(row) for row in rows]
