"""CLEVR programs: `filter_color`, `query_shape`, `equal_integer`, …; the 27 executable functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import did_you_mean
from ..check import Plan, plan_of
from ..program import Node, Notes, Program, ProgramError, node
from ..types import INT, OBJECT
from ._listing import Entry, in_order, read_entry, write_entry

ATTRIBUTES = ("size", "color", "material", "shape")

Meaning = tuple[str, tuple[str, ...]]  # an op and the words that the function's name fixes


def functions() -> dict[str, Meaning]:
    """Official function → our op and its fixed words; value_inputs follow as further words."""
    table: dict[str, Meaning] = {
        "scene": ("scene", ()),
        "unique": ("unique", ()),
        "relate": ("relate", ()),
        "union": ("union", ()),
        "intersect": ("intersect", ()),
        "count": ("count", ()),
        "exist": ("exist", ()),
        "equal_integer": ("equal", ()),
        "equal_object": ("equal", ()),
        "less_than": ("less", ()),
        "greater_than": ("greater", ()),
    }
    for a in ATTRIBUTES:
        table[f"filter_{a}"] = ("filter", (a,))
        table[f"query_{a}"] = ("query", (a,))
        table[f"same_{a}"] = ("same", (a,))
        table[f"equal_{a}"] = ("equal", ())
    return table


class Listed:
    """A dialect whose nodes correspond one to one to ours."""

    def __init__(self, name: str, table: dict[str, Meaning], values: dict[str, int]) -> None:
        self.name = name
        self.table = table
        self.values = values  # how many value_inputs a function takes, where any
        self._nodes: dict[tuple[Any, ...], Node] = {}

    def read(self, listed: Iterable[Any]) -> Program:
        """The program of a file's node list."""
        made: list[Node] = []
        known = self._nodes
        for at, raw in enumerate(listed):
            try:  # the common case: a released node seen before, its inputs before it
                if len(raw) == 3 and type(raw["inputs"]) is type(raw["value_inputs"]) is list:
                    found = known[raw["function"], *raw["inputs"], None, *raw["value_inputs"]]
                    if found.reach < at:
                        made.append(found)
                        continue
            except (KeyError, TypeError):
                pass
            entry = read_entry(raw, at)
            if any(not 0 <= i < at for i in entry.inputs):
                return self._reordered(listed)
            made.append(self._node(at, entry))
            if not entry.notes:
                known[entry.function, *entry.inputs, None, *entry.values] = made[-1]
        return Program(tuple(made))

    def _reordered(self, listed: Iterable[Any]) -> Program:
        entries = [read_entry(raw, at) for at, raw in enumerate(listed)]
        order = in_order(entries)
        place = {old: new for new, old in enumerate(order)}
        nodes = []
        for old in order:
            e = entries[old]
            notes = (*e.notes, ("at", str(old)))
            nodes.append(
                self._node(old, Entry(e.function, tuple(place[i] for i in e.inputs), e.values, notes))
            )
        return Program(tuple(nodes))

    def _node(self, at: int, entry: Entry) -> Node:
        meaning = self.table.get(entry.function)
        if meaning is None:
            hint = did_you_mean(entry.function, self.table)
            raise ProgramError(f"node {at}: unknown op {entry.function!r} in {self.name}{hint}")
        wanted = self.values.get(entry.function, 0)
        if len(entry.values) != wanted:
            raise ProgramError(
                f"node {at} ({entry.function}): expected {wanted} value_inputs, came {len(entry.values)}"
            )
        op, fixed = meaning
        notes: Notes = entry.notes
        return node(op, entry.inputs, fixed + entry.values, notes)

    def write(self, program: Program) -> list[dict[str, Any]]:
        """The program as this dialect lists it; refuses, by name, what the dialect can not say."""
        plan = plan_of(program)
        names = [self.function(i, program, plan) for i in range(len(program))]
        place = [int(n.note("at", str(i))) for i, n in enumerate(program.nodes)]
        listed: list[dict[str, Any]] = [{} for _ in names]
        for i, n in enumerate(program.nodes):
            fixed = self.table[names[i]][1]
            inputs = tuple(place[j] for j in n.inputs)
            listed[place[i]] = write_entry(Entry(names[i], inputs, n.params[len(fixed) :], n.notes))
        return listed

    def function(self, i: int, program: Program, plan: Plan) -> str:
        """The official name of a node."""
        name = official_name(i, program, plan)
        if name not in self.table or plan.steps[i].on_parts:
            raise ProgramError(f"node {i} ({program.nodes[i].op}) has no {self.name} function")
        return name


def official_name(i: int, program: Program, plan: Plan) -> str:
    """What CLEVR calls a node, going by its op, its words and the type of its first input."""
    n = program.nodes[i]
    if n.op in ("filter", "query", "same"):
        return f"{n.op}_{n.params[0]}"
    if n.op == "equal":
        first = plan.types[n.inputs[0]]
        if first.name == "Value":
            return f"equal_{first.of or program.nodes[n.inputs[0]].params[0]}"
        return {INT: "equal_integer", OBJECT: "equal_object"}.get(first, "equal_part")
    return {"less": "less_than", "greater": "greater_than"}.get(n.op, n.op)


VALUES = {"relate": 1} | {f"filter_{a}": 1 for a in ATTRIBUTES}
DIALECT = Listed("CLEVR", functions(), VALUES)
read, write = DIALECT.read, DIALECT.write
