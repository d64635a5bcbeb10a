"""Filters: which examples a list shows, as the query of its address says it, and as a mask over the rows.

f.kind=count&f.split=test   facts, those of the questions or of the runs
q=red cube                  words of the text
run.0=wrong                 what came of a run: right, wrong, unanswered, not run; or asked, not right
pair=0.1.first              where two runs part: first, second (only that one is right), both, neither, differ
group.QT=what color         a shortcut's group; part.QT=tail its part
worst=0.2                   the third of the worst slices of a run
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

from ..columns import Column
from ..errors import UserError, unknown
from ..report.measure import spell_fact
from ..report.sections.worst_slices import WorstSlice, describe_slice, find_slice_rows, search_slices
from ..result import Bools
from .collection import NOT_RUN, RIGHT, UNANSWERED, WRONG, OpenedData

FACT, RUN, GROUP, PART = "f.", "run.", "group.", "part."
ASKED, NOT_RIGHT = "asked", "not right"
OUTCOME_SETS = {  # what a filter by outcome lets through
    ASKED: (RIGHT, WRONG, UNANSWERED),
    RIGHT: (RIGHT,),
    NOT_RIGHT: (WRONG, UNANSWERED),
    WRONG: (WRONG,),
    UNANSWERED: (UNANSWERED,),
    NOT_RUN: (NOT_RUN,),
}
PAIR_OUTCOMES = {
    "first": "only {0} is right",
    "second": "only {1} is right",
    "both": "both are right",
    "neither": "neither is right",
    "differ": "{0} and {1} answer differently",
}


@dataclass(frozen=True, slots=True)
class ExampleFilter:
    """The conditions of a list, all of which hold; in the order of the address."""

    conditions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, query: Iterable[tuple[str, str]]) -> ExampleFilter:
        """The part of an address's query that filters; the rest is left alone."""
        return cls(tuple((k, v) for k, v in query if v and (k in ("q", "pair", "worst") or k.startswith(_PREFIXES))))

    def get(self, name: str) -> str:
        return next((value for key, value in self.conditions if key == name), "")

    def change(self, **changes: str) -> ExampleFilter:
        """With other values of some conditions (dots are written __); an empty one drops the condition."""
        new = {name.replace("__", "."): value for name, value in changes.items()}
        kept = [(k, v) for k, v in self.conditions if k not in new]
        return ExampleFilter((*kept, *((k, v) for k, v in new.items() if v)))

    def to_query(self, **more: object) -> str:
        """The end of an address, with its question mark; nothing where there is nothing to say."""
        listed = [*self.conditions, *((k, str(v)) for k, v in more.items() if v not in (None, ""))]
        return f"?{urlencode(listed)}" if listed else ""

    def select(self, data: OpenedData) -> Bools:
        """The rows that it lets through; a condition on what is not there is a UserError."""
        rows = np.ones(len(data.index), bool)
        for name, value in self.conditions:
            rows &= _select(data, name, value)
        return rows

    def describe(self, data: OpenedData) -> list[tuple[str, str]]:
        """Each condition in words, with the name by which it is dropped."""
        return [(_describe(data, name, value), name) for name, value in self.conditions]


_PREFIXES = (FACT, RUN, GROUP, PART)


def match_value(column: Column, value: str) -> Bools:
    """The rows whose value reads so."""
    codes = [k for k, v in enumerate(column.values) if str(v) == value]
    return np.isin(column.codes, codes) if codes else np.zeros(len(column), bool)


def _select(data: OpenedData, name: str, value: str) -> Bools:
    if name == "q":
        return data.index.search(value)
    if name == "pair":
        return select_parting(data, *read_pair(data, value))
    if name == "worst":
        run, slice_ = read_worst(data, value)
        view = data.runs[run]
        inside = np.append(find_slice_rows((view.run,), slice_), False)
        return np.asarray(inside[view.places], bool)
    if name.startswith(FACT):
        fact = name.removeprefix(FACT)
        if fact not in data.fact_names:
            raise unknown("fact", fact, data.fact_names, data.name)
        return match_value(data.column(fact), value)
    if name.startswith(RUN):
        if value not in OUTCOME_SETS:
            raise unknown("outcome", value, OUTCOME_SETS)
        outcome = data.runs[read_run_number(data, name.removeprefix(RUN))].outcome
        return np.asarray(sum(outcome.equals(one) for one in OUTCOME_SETS[value]), bool)
    columns = {} if data.marks is None else data.marks.groups if name.startswith(GROUP) else data.marks.parts
    shortcut = name.partition(".")[2]
    if shortcut not in columns:
        raise unknown("shortcut", shortcut, columns, data.name)
    return match_value(columns[shortcut], value)


def read_place(text: str, size: int) -> int | None:
    """A number below `size`, as an address writes it; None for anything else, however long."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 12 and int(text) < size else None


def read_run_number(data: OpenedData, text: str) -> int:
    run = read_place(text, len(data.runs))
    if run is None:
        raise UserError(f"there is no run {text!r} here; there are {len(data.runs)}, counted from 0")
    return run


def read_pair(data: OpenedData, text: str) -> tuple[int, int, str]:
    """`0.1.first`: two runs, and how they part."""
    one, _, rest = text.partition(".")
    other, _, how = rest.partition(".")
    if how not in PAIR_OUTCOMES:
        raise unknown("way to part", how, PAIR_OUTCOMES)
    return read_run_number(data, one), read_run_number(data, other), how


def read_worst(data: OpenedData, text: str) -> tuple[int, WorstSlice]:
    """`0.2`: the third of the worst slices of the first run."""
    number, _, place = text.partition(".")
    run = read_run_number(data, number)
    found = search_slices((data.runs[run].run,)).slices
    at = read_place(place, len(found))
    if at is None:
        raise UserError(f"there is no slice {place!r} of that run; there are {len(found)}, counted from 0")
    return run, found[at]


def select_parting(data: OpenedData, one: int, other: int, how: str) -> Bools:
    """The rows that both runs were asked, and in which they part so."""
    first, second = data.runs[one], data.runs[other]
    asked = (first.places >= 0) & (second.places >= 0)
    if how == "differ":
        answers = _get_codes(data, one, other)
        return np.asarray(asked & (answers[0] != answers[1]), bool)
    a, b = first.outcome.equals(RIGHT), second.outcome.equals(RIGHT)
    chosen = {"first": a & ~b, "second": b & ~a, "both": a & b, "neither": ~a & ~b}[how]
    return np.asarray(asked & chosen, bool)


def _get_codes(data: OpenedData, one: int, other: int) -> list[np.typing.NDArray[np.int64]]:
    """The answers of two runs in the rows of the index, over one list of words; -1 for none."""
    words: dict[str, int] = {}
    found = []
    for view in (data.runs[one], data.runs[other]):
        column = view.run.records.answer
        codes = np.array([*(words.setdefault(str(v), len(words)) for v in column.values), -1], np.int64)
        found.append(np.append(codes[column.codes], -1)[view.places])
    return found


def _describe(data: OpenedData, name: str, value: str) -> str:
    if name == "q":
        return f"text contains “{value}”"
    if name == "pair":
        one, other, how = read_pair(data, value)
        return PAIR_OUTCOMES[how].format(data.runs[one].name, data.runs[other].name)
    if name == "worst":
        run, slice_ = read_worst(data, value)
        return f"{describe_slice(slice_)} ({data.runs[run].name})"
    if name.startswith(RUN):
        return f"{data.runs[read_run_number(data, name.removeprefix(RUN))].name}: {value}"
    kind, _, rest = name.partition(".")
    if kind == "f":
        return f"{FACT_LABELS.get(rest, spell_fact(rest))}: {spell_fact(value)}"
    return f"{rest} {kind}: {value}"


FACT_LABELS = {"kind": "type", "length": "words", "steps": "program steps", "family": "template number"}
