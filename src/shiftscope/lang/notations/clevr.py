"""CLEVR programs: `filter_color`, `query_shape`, `equal_integer`, …; the 27 executable functions."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...errors import did_you_mean
from ..check import ProgramPlan, plan_program
from ..op import INT, OBJECT
from ..program import Node, Notes, Program, ProgramError, node

# Entries are function, inputs, value_inputs. The generator writes `type` for `function` and leaks `_output`; notes
# keep which it was, so that writing gives back what was read.


class ClevrEntry(NamedTuple):
    """One listed node."""

    function: str
    inputs: tuple[int, ...]
    values: tuple[str, ...]
    notes: Notes = ()


_RELEASED_KEYS = {"function", "inputs", "value_inputs"}
_KEYS = {"function", "type", "inputs", "value_inputs", "side_inputs", "_output"}


def read_entry(raw: Any, at: int) -> ClevrEntry:
    """One node of a file, its shape checked."""
    try:
        notes: Notes = ()
        if raw.keys() != _RELEASED_KEYS:
            if strange := sorted(raw.keys() - _KEYS):
                raise ProgramError(f"node {at} has an unknown field {strange[0]!r}")
            output = (("output", json.dumps(raw["_output"])),) if "_output" in raw else ()
            notes = (("keys", " ".join(raw)), *output)
        function = raw.get("function") or raw["type"]
        inputs = tuple(raw.get("inputs", ()))
        values = tuple(raw.get("value_inputs") or raw.get("side_inputs") or ())
    except (AttributeError, KeyError, TypeError):
        raise ProgramError(f"node {at} must have a function (or type), inputs and value_inputs") from None
    if not isinstance(raw.get("inputs", []), list):
        raise ProgramError(f"node {at} ({function}): its inputs must be a list of node numbers")
    if not isinstance(function, str) or not all(isinstance(v, str) for v in values):
        raise ProgramError(f"node {at}: its function and value_inputs must be text")
    if not all(type(i) is int for i in inputs):
        raise ProgramError(f"node {at} ({function}): its inputs must be node numbers")
    return ClevrEntry(function, inputs, values, notes)


def write_entry(entry: ClevrEntry) -> dict[str, Any]:
    """The node as the file had it; in the released form if it never was in a file."""
    notes = dict(entry.notes)
    made: dict[str, Any] = {}
    for key in notes.get("keys", "function inputs value_inputs").split():
        match key:
            case "function" | "type":
                made[key] = entry.function
            case "inputs":
                made[key] = list(entry.inputs)
            case "value_inputs" | "side_inputs":
                made[key] = list(entry.values)
            case "_output":
                made[key] = json.loads(notes["output"])
    return made


def order_entries(entries: list[ClevrEntry]) -> list[int]:
    """The listed nodes' numbers so that inputs come first; as listed whenever that already holds."""
    size = len(entries)
    for at, entry in enumerate(entries):
        for i in entry.inputs:
            if not 0 <= i < size:
                raise ProgramError(f"node {at} ({entry.function}) reads node {i}; there are only {size} nodes")
    if all(i < at for at, entry in enumerate(entries) for i in entry.inputs):
        return list(range(size))
    order: list[int] = []
    state = [0] * size  # 0 not seen, 1 under way, 2 done
    for start in range(size):
        stack = [start]
        while stack:
            at = stack[-1]
            if state[at] == 0:
                state[at] = 1
                for i in reversed(entries[at].inputs):
                    if state[i] == 1:
                        raise ProgramError(f"the program is cyclic at node {i} ({entries[i].function})")
                    if state[i] == 0:
                        stack.append(i)
            else:
                stack.pop()
                if state[at] == 1:
                    state[at] = 2
                    order.append(at)
    if order[-1] != size - 1:
        raise ProgramError(f"the last node ({entries[-1].function}) is read by another; which is the answer?")
    return order


ATTRIBUTES = ("size", "color", "material", "shape")
Meaning = tuple[str, tuple[str, ...]]  # an op and the words that the function's name fixes
FUNCTIONS: dict[str, Meaning] = {  # the words that follow the fixed ones are the value_inputs
    **{name: (name, ()) for name in ("scene", "unique", "relate", "union", "intersect", "count", "exist")},
    **dict.fromkeys(("equal_integer", "equal_object", *(f"equal_{a}" for a in ATTRIBUTES)), ("equal", ())),
    "less_than": ("less", ()),
    "greater_than": ("greater", ()),
    **{f"{op}_{a}": (op, (a,)) for op in ("filter", "query", "same") for a in ATTRIBUTES},
}


class ClevrNotation:
    """A notation whose nodes correspond one to one to ours."""

    def __init__(
        self, name: str, table: dict[str, Meaning], values: dict[str, int], marked: frozenset[str] = frozenset()
    ) -> None:
        self.name = name
        self.table = table
        self.values = values  # how many value_inputs a function takes, where any
        self.marked = marked  # functions that make a notation look at a program more closely
        self._nodes: dict[tuple[Any, ...], Node] = {}
        self._marked_nodes: dict[tuple[Any, ...], Node] = {}

    def read(self, listed: Iterable[Any]) -> Program:
        """The program of a file's node list."""
        return self._read_marked(listed)[0]

    def _read_marked(self, listed: Iterable[Any]) -> tuple[Program, bool]:
        """The program, and whether any of its functions is marked."""
        made: list[Node] = []
        known = self._nodes
        marked = False
        for at, raw in enumerate(listed):
            try:  # the common case: a released node seen before, its inputs before it
                if len(raw) == 3 and type(raw["inputs"]) is type(raw["value_inputs"]) is list:
                    found = known[raw["function"], *raw["inputs"], None, *raw["value_inputs"]]
                    if found.reach < at:
                        made.append(found)
                        continue
            except KeyError as error:
                again = self._marked_nodes.get(error.args[0])
                if again is not None and again.reach < at:
                    made.append(again)
                    marked = True
                    continue
            except TypeError:
                pass
            entry = read_entry(raw, at)
            if any(not 0 <= i < at for i in entry.inputs):
                return self._read_reordered(listed)
            made.append(self._build_node(at, entry))
            marks = entry.function in self.marked
            marked = marked or marks
            if not entry.notes:
                kept = self._marked_nodes if marks else known
                kept[entry.function, *entry.inputs, None, *entry.values] = made[-1]
        return Program(tuple(made)), marked

    def _read_reordered(self, listed: Iterable[Any]) -> tuple[Program, bool]:
        entries = [read_entry(raw, at) for at, raw in enumerate(listed)]
        order = order_entries(entries)
        place = {old: new for new, old in enumerate(order)}
        nodes = []
        for old in order:
            inputs = tuple(place[i] for i in entries[old].inputs)
            notes = (*entries[old].notes, ("at", str(old)))
            nodes.append(self._build_node(old, entries[old]._replace(inputs=inputs, notes=notes)))
        return Program(tuple(nodes)), any(entry.function in self.marked for entry in entries)

    def _build_node(self, at: int, entry: ClevrEntry) -> Node:
        meaning = self.table.get(entry.function)
        if meaning is None:
            hint = did_you_mean(entry.function, self.table)
            raise ProgramError(f"node {at}: unknown op {entry.function!r} in {self.name}{hint}")
        wanted = self.values.get(entry.function, 0)
        if len(entry.values) != wanted:
            raise ProgramError(f"node {at} ({entry.function}): expected {wanted} value_inputs, got {len(entry.values)}")
        return node(meaning[0], entry.inputs, meaning[1] + entry.values, entry.notes)

    def write(self, program: Program) -> list[dict[str, Any]]:
        """The program as this notation lists it; refuses, by name, what the notation cannot say."""
        plan = plan_program(program)
        names = [self.name_function(i, program, plan) for i in range(len(program))]
        place = [int(n.note("at", str(i))) for i, n in enumerate(program.nodes)]
        listed: list[dict[str, Any]] = [{} for _ in names]
        for i, n in enumerate(program.nodes):
            fixed = self.table[names[i]][1]
            inputs = tuple(place[j] for j in n.inputs)
            listed[place[i]] = write_entry(ClevrEntry(names[i], inputs, n.params[len(fixed) :], n.notes))
        return listed

    def name_function(self, i: int, program: Program, plan: ProgramPlan) -> str:
        """The official name of a node."""
        name = get_official_name(i, program, plan)
        if name not in self.table or plan.steps[i].on_parts:
            raise ProgramError(f"node {i} ({program.nodes[i].op}) has no {self.name} function")
        return name


def get_official_name(i: int, program: Program, plan: ProgramPlan) -> str:
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
NOTATION = ClevrNotation("CLEVR", FUNCTIONS, VALUES)
read, write = NOTATION.read, NOTATION.write
