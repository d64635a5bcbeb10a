"""From our nodes to CLEVR_HYP's listed ones: the reverse of `_hyp_read.py`, for programs from anywhere.

A node whose form says so reads around the implicit ones below it; what is read by no listed node although
something reads it in our program (the scene that an anchor already tells) is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...edit import ON
from ..check import plan_of
from ..program import Node, Notes, Program, ProgramError
from ..types import OBJECT
from ._hyp_read import BELOW, describe, state_of
from ._listing import Entry, write_entry
from .clevr import Meaning, official_name


class _Row(NamedTuple):
    entry: Entry  # its inputs are numbers of rows
    place: str  # where the file had it, if it was in one
    needed: bool  # listed even if no other row reads it


def write_nodes(
    program: Program,
    which: Iterable[int],
    table: dict[str, Meaning],
    *,
    scene: int = -1,
    first_place: int = 0,
) -> list[dict[str, Any]]:
    """The chosen nodes as a list; inputs from node `scene` are listed as `scene` nodes of their own."""
    writer = _Writer(program, table, scene)
    chosen = list(which)
    for i in chosen:
        if not writer.on_demand(i) or not writer.uses[i]:
            writer.row(i)
    return _placed(_pruned(writer.rows, writer.row(chosen[-1])), first_place)


def _pruned(rows: list[_Row], last: int) -> list[tuple[int, _Row]]:
    """The rows that are the answer, are read, or never were to be read; with the numbers they had."""
    kept: list[tuple[int, _Row]] = []
    read: set[int] = {last}
    for i in reversed(range(len(rows))):
        if i in read or rows[i].needed:
            read.update(rows[i].entry.inputs)
            kept.append((i, rows[i]))
    return kept[::-1]


def _placed(rows: list[tuple[int, _Row]], first_place: int) -> list[dict[str, Any]]:
    """The list in the file's order, where every row knows its place and none contradict, else as made."""
    places = {i: int(row.place) - first_place if row.place else -1 for i, row in rows}
    listed = _numbered(rows, places)
    if listed is None:
        listed = _numbered(rows, {i: place for place, (i, _) in enumerate(rows)})
    assert listed is not None
    return listed


def _numbered(rows: list[tuple[int, _Row]], places: dict[int, int]) -> list[dict[str, Any]] | None:
    size = len(set(places.values()))
    if set(places.values()) != set(range(size)):
        return None
    listed: list[dict[str, Any] | None] = [None] * size
    for i, row in rows:
        inputs = tuple(places[j] for j in row.entry.inputs)
        made = write_entry(row.entry._replace(inputs=inputs))
        if listed[places[i]] not in (None, made):
            return None
        listed[places[i]] = made
    return [made for made in listed if made is not None]


class _Writer:
    def __init__(self, program: Program, table: dict[str, Meaning], scene: int) -> None:
        self.nodes, self.table, self.scene = program.nodes, table, scene
        self.program, self.plan = program, plan_of(program)
        self.uses = Counter(j for n in self.nodes for j in n.inputs)
        self.rows: list[_Row] = []
        self.row_of: dict[int, int] = {}
        self.scene_count = 0

    def on_demand(self, i: int) -> bool:
        """Whether a node is listed only when another reads it: a description, or what no list had."""
        n = self.nodes[i]
        return n.op in ("thing", "copy", "inherit") or n.note("as") == "object" or bool(n.note("implicit"))

    def row(self, i: int) -> int:
        if i not in self.row_of:
            n = self.nodes[i]
            outer, self.scene_count = self.scene_count, 0
            function, inputs, values = self.listed(i, n)
            if function not in self.table or self.plan.steps[i].on_parts:
                raise ProgramError(f"node {i} ({n.op}) has no CLEVR_HYP function")
            self.row_of[i] = self.put(Entry(function, inputs, values, n.notes), not self.uses[i])
            self.scene_count = outer
        return self.row_of[i]

    def put(self, entry: Entry, needed: bool = False) -> int:
        self.rows.append(_Row(entry, dict(entry.notes).get("at", ""), needed))
        return len(self.rows) - 1

    def listed(self, i: int, n: Node) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        """Function, inputs (numbers of rows) and value_inputs of a node."""
        spelled = n.note("as")
        match n.op:
            case "thing":
                return "object", (), self.description(i, n)
            case "unique" if spelled == "object" and self.hidden(n.inputs[0], "filter"):
                return "object", (), self.filters(n.inputs[0])[1]
            case "filter" if spelled == "object":
                return "object", (), self.filters(i)[1]
            case "filter" if spelled == "filter":
                base, words = self.filters(i)
                return "filter", self.some(n, base), words
            case "copy":
                return "copy", self.one(n, n.inputs[0]), ()
            case "inherit":
                return f"inherit_{n.params[0]}", self.some(n, n.inputs[0]) + self.one(n, n.inputs[1]), ()
            case "relate":
                return "relate", self.one(n, n.inputs[0]), n.params
            case "related" if n.params == (ON, "object") and self.single(n.inputs[0]):
                return "relate", self.one(n, n.inputs[0]), (BELOW,)
            case "swap":
                among, one, other = n.inputs
                return "swap", self.some(n, among) + self.one(n, one) + self.one(n, other), ()
            case "add":
                return spelled or "add_abs", self.some(n, *n.inputs), ()
            case "add_beside":
                return self.added_beside(n, spelled)
            case "remove":
                return self.removed(n, spelled)
            case "move":
                return self.moved(n, spelled)
            case "exclude" | "change":
                verb = {"exclude": "not"}.get(n.op, n.op)
                return f"{verb}_{n.params[0]}", self.some(n, n.inputs[0]), n.params[1:]
            case "intersect" | "union":
                return spelled or n.op, self.some(n, *n.inputs), ()
        function = official_name(i, self.program, self.plan)
        op, fixed = self.table.get(function, ("", ()))
        if op != n.op:  # such as `and`, which is of sets here and of truths with us
            raise ProgramError(f"node {i} ({n.op}) has no CLEVR_HYP function")
        return function, self.some(n, *n.inputs), n.params[len(fixed) :]

    def added_beside(self, n: Node, spelled: str) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        among, thing, anchor = n.inputs
        if spelled == "add_relate" and self.hidden(thing, "thing"):
            words = self.description(thing, self.nodes[thing])
            return "add_relate", self.some(n, among) + self.one(n, anchor), n.params + words
        if spelled == "add_rel" or not self.whole(among, anchor):
            return "add_rel", self.some(n, among, thing) + self.one(n, anchor), n.params
        where = Entry("relate", self.one(n, anchor), n.params, _without_prefix(n.notes, "relate"))
        return "add_relate", (self.put(where), *self.some(n, thing)), ()

    def removed(self, n: Node, spelled: str) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        among, gone = n.inputs
        both = self.nodes[gone].inputs if self.hidden(gone, "intersect") else ()
        if spelled == "remove_relate" and both and self.whole(among, both[0]):
            return "remove_relate", self.some(n, *both), ()
        if spelled == "remove_rel" and both and self.hidden(both[1], "relate"):
            near = self.nodes[both[1]]
            return "remove_rel", self.some(n, among, both[0]) + self.one(n, near.inputs[0]), near.params
        if spelled == "remove_relate":
            at, words = self.filters(gone) if self.hidden(gone, "filter") else (gone, ())
            if self.hidden(at, "relate"):
                near = self.nodes[at]
                inputs = self.some(n, among) + self.one(n, near.inputs[0])
                return "remove_relate", inputs, near.params + words
        return "remove" if spelled == "remove" else "remove_abs", self.some(n, among, gone), ()

    def moved(self, n: Node, spelled: str) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        among, mover, anchor = n.inputs
        if spelled == "change_loc" or not self.whole(among, anchor):
            return "change_loc", self.some(n, among) + self.one(n, mover) + self.one(n, anchor), n.params
        usual = "change_loc_on" if n.params == ("on",) else "change_loc_rel"
        return spelled or usual, self.one(n, anchor) + self.one(n, mover), n.params

    def some(self, n: Node, *inputs: int) -> tuple[int, ...]:
        return tuple(self.input(n, i) for i in inputs)

    def one(self, n: Node, i: int) -> tuple[int]:
        """An input that must be one object: a `unique` that the file left out is left out again."""
        if self.hidden(i, "unique"):
            i = self.nodes[i].inputs[0]
        return (self.input(n, i),)

    def input(self, n: Node, i: int) -> int:
        if i != self.scene:
            return self.row(i)
        notes = _without_prefix(n.notes, f"scene{self.scene_count}")
        self.scene_count += 1
        return self.put(Entry("scene", (), (), notes))

    def filters(self, i: int) -> tuple[int, tuple[str, ...]]:
        """What a filter and the implicit filters directly below it look at, and all their values."""
        words = [self.nodes[i].params[1]]
        i = self.nodes[i].inputs[0]
        while self.hidden(i, "filter"):
            words.append(self.nodes[i].params[1])
            i = self.nodes[i].inputs[0]
        return i, tuple(reversed(words))

    def description(self, i: int, n: Node) -> tuple[str, ...]:
        pairs = tuple(zip(n.params[::2], n.params[1::2], strict=True))
        if describe(n.params[1::2], f"node {i} ({n.op})") != pairs:
            raise ProgramError(f"node {i} ({n.op}): CLEVR_HYP can not describe an object so")
        return n.params[1::2]

    def single(self, i: int) -> bool:
        """Whether a node gives exactly one object."""
        return self.plan.types[i] == OBJECT

    def hidden(self, i: int, op: str) -> bool:
        """Whether it is a node of that op which stood in no list."""
        return self.nodes[i].op == op and bool(self.nodes[i].note("implicit"))

    def whole(self, among: int, other: int) -> bool:
        """Whether `among` is all of the scene that the other looks at, so that naming it adds nothing."""
        state = state_of(self.nodes, other)
        return among == state or self.nodes[among].op == self.nodes[state].op == "scene"


def _without_prefix(notes: Notes, prefix: str) -> Notes:
    return tuple((key.removeprefix(f"{prefix}."), v) for key, v in notes if key.startswith(f"{prefix}."))
