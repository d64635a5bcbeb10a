"""From CLEVR_HYP's listed nodes to ours; `clevr_hyp.py` says which meaning was chosen and why.

A listed node becomes one of our nodes, or several (a description becomes filters), or joins the one that
reads it (the `relate` that only says where an object is added). Notes keep what writing needs to undo that:
`as` the function listed, `implicit` a node that no listed node stands for, `at` the place in the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...edit import ON
from ...errors import did_you_mean
from ...schemas.clevr import SCHEMA
from ..op import get_op
from ..program import Node, Notes, ProgramError, node
from ._listing import Entry, in_order
from .clevr import ATTRIBUTES, VALUES, Meaning

BELOW = "below"  # what the object given rests on
IMPLICIT: Notes = (("implicit", "yes"),)

# How many inputs an action reads and how many value_inputs it takes (None: none, or a description too).
ACTIONS: dict[str, tuple[int, int | None]] = {
    "add": (2, 0),
    "remove": (2, 0),
    "add_abs": (2, 0),
    "remove_abs": (2, 0),
    "add_relate": (2, None),
    "remove_relate": (2, None),
    "add_rel": (3, 1),
    "remove_rel": (3, 1),
    "change_loc": (3, 1),
    "change_loc_rel": (2, 1),
    "change_loc_on": (2, 1),
    "swap": (3, 0),
}
NEW = ("copy", *(f"inherit_{a}" for a in ATTRIBUTES))  # what describes a new object besides `object`
ONE_VALUE = VALUES | {f"{verb}_{a}": 1 for verb in ("not", "change") for a in ATTRIBUTES}


@dataclass(frozen=True, slots=True)
class Before:
    """What a question's program continues: the action's nodes, the last of which is its `scene`."""

    nodes: tuple[Node, ...] = ()
    listed: int = 0  # how many nodes the action's list had


def read_nodes(
    entries: list[Entry], table: dict[str, Meaning], before: Before | None = None
) -> tuple[Node, ...]:
    """Our nodes for the listed ones, after those of the action where there is one."""
    order = in_order(entries)
    reader = _Reader(entries, table, before, keep_places=False)
    nodes = reader.read(order)
    if reader.places == list(range(len(entries))):
        return nodes
    return _Reader(entries, table, before, keep_places=True).read(order)


def describe(values: Sequence[str], where: str) -> tuple[tuple[str, str], ...]:
    """The (attribute, value) pairs of a description; a value's attribute is told by the vocabulary."""
    pairs: list[tuple[str, str]] = []
    for value in values:
        attribute = SCHEMA.attribute_of(value)
        if attribute is None:
            known = [v for a in SCHEMA.attributes for v in a.values]
            raise ProgramError(f"{where}: unknown value {value!r}{did_you_mean(value, known)}")
        if attribute in dict(pairs):
            raise ProgramError(f"{where}: it says the {attribute} twice")
        pairs.append((attribute, value))
    if not pairs:
        raise ProgramError(f"{where}: expected a description in its value_inputs, such as small red cube")
    return tuple(pairs)


def state_of(nodes: Sequence[Node], i: int) -> int:
    """The node whose objects are all of the scene that node i looks at: a scene, or an edit's outcome."""
    while nodes[i].inputs and not get_op(nodes[i].op).edits:
        i = nodes[i].inputs[0]
    return i


def prefixed(notes: Notes, prefix: str) -> Notes:
    return tuple((f"{prefix}.{key}", value) for key, value in notes)


class _Reader:
    def __init__(
        self, entries: list[Entry], table: dict[str, Meaning], before: Before | None, *, keep_places: bool
    ) -> None:
        self.entries, self.table, self.keep_places = entries, table, keep_places
        self.nodes: list[Node] = list(before.nodes) if before else []
        self.scene = len(self.nodes) - 1 if before else None  # what `scene` stands for, if not for itself
        self.first_place = before.listed if before else 0
        self.made: dict[int, int] = {}  # listed node → ours
        self.things: dict[int, int] = {}  # listed object → our description of a new object
        self.places: list[int] = []  # listed nodes in the order in which writing would list them
        self.scenes: Notes = ()  # of the `scene` nodes that the node being made reads after an action
        self.scene_count = 0
        self.readers: list[list[int]] = [[] for _ in entries]
        for at, entry in enumerate(entries):
            for i in entry.inputs:
                self.readers[i].append(at)

    def read(self, order: list[int]) -> tuple[Node, ...]:
        for at in order:
            made = self.entry(at, self.entries[at])
            if made is not None:
                self.made[at] = made
        if self.entries and self.made.get(len(self.entries) - 1) != len(self.nodes) - 1:
            raise ProgramError(f"the last node ({self.entries[-1].function}) gives nothing by itself")
        return tuple(self.nodes)

    def entry(self, at: int, e: Entry) -> int | None:
        """The node for a listed one; None if it only has a meaning for the node that reads it."""
        self.shape(at, e)
        match e.function:
            case "scene" if self.scene is not None:
                if not self.readers[at]:
                    raise ProgramError(f"{self.name(at)} is read by no other node")
                return self.scene
            case "object":
                return None if self.readers[at] else self.new(at)
            case function if function in NEW:
                return None if self.readers[at] else self.new(at)
            case "relate" if self.only_says_where(at):
                return None
            case "relate" if e.values == (BELOW,):
                return self.put(at, "related", (self.one(e.inputs[0], at),), (ON, "object"))
            case "relate":
                return self.put(at, "relate", (self.one(e.inputs[0], at),), e.values)
            case "filter":
                return self.filters(at, self.some(e.inputs[0], at), e.values)
            case function if function in ACTIONS:
                return self.action(at, e)
        op, fixed = self.table[e.function]
        spelled = e.function if e.function in ("and", "or") else ""
        inputs = tuple(self.some(i, at) for i in e.inputs)
        return self.put(at, op, inputs, fixed + e.values, spelled=spelled)

    def shape(self, at: int, e: Entry) -> None:
        if e.function not in self.table:
            hint = did_you_mean(e.function, self.table)
            raise ProgramError(f"node {at}: unknown op {e.function!r} in CLEVR_HYP{hint}")
        arity, words = ACTIONS.get(e.function, (get_op(self.table[e.function][0]).arity, 0))
        if e.function in ("object", "filter"):
            words = None
        words = ONE_VALUE.get(e.function, words)
        if len(e.inputs) != arity:
            raise ProgramError(f"{self.name(at)}: expected {arity} inputs, came {len(e.inputs)}")
        if words is not None and len(e.values) != words:
            raise ProgramError(f"{self.name(at)}: expected {words} value_inputs, came {len(e.values)}")

    def action(self, at: int, e: Entry) -> int:
        first, second = e.inputs[:2]
        match e.function:
            case "add" | "add_abs":
                spelled = "add" if e.function == "add" else ""
                return self.put(at, "add", (self.some(first, at), self.new(second)), spelled=spelled)
            case "remove" | "remove_abs":
                among = self.some(first, at)
                spelled = "remove" if e.function == "remove" else ""
                return self.put(at, "remove", (among, self.some(second, at, among)), spelled=spelled)
            case "add_rel":
                among = self.some(first, at)
                inputs = (among, self.new(second), self.one(e.inputs[2], at, among))
                return self.put(at, "add_beside", inputs, e.values, spelled="add_rel")
            case "change_loc":
                among = self.some(first, at)
                inputs = (among, self.one(second, at, among), self.one(e.inputs[2], at, among))
                return self.put(at, "move", inputs, e.values, spelled="change_loc")
            case "change_loc_rel" | "change_loc_on":
                anchor = self.one(first, at)
                state = state_of(self.nodes, anchor)
                usual = "change_loc_on" if e.values == ("on",) else "change_loc_rel"
                spelled = e.function if e.function != usual else ""
                inputs = (state, self.one(second, at, state), anchor)
                return self.put(at, "move", inputs, e.values, spelled=spelled)
            case "swap":
                among = self.some(first, at)
                return self.put(
                    at, "swap", (among, self.one(second, at, among), self.one(e.inputs[2], at, among))
                )
            case "remove_rel":
                among = self.some(first, at)
                gone = self.some(second, at, among)
                near = self.hidden("relate", (self.one(e.inputs[2], at, among),), e.values)
                return self.removed(at, among, self.hidden("intersect", (gone, near)))
            case "add_relate" if e.values:
                words = [w for pair in describe(e.values[1:], self.name(at)) for w in pair]
                thing = self.hidden("thing", (), tuple(words))
                among = self.some(first, at)
                inputs = (among, thing, self.one(second, at, among))
                return self.put(at, "add_beside", inputs, e.values[:1], spelled="add_relate")
            case "add_relate":
                return self.added_where(at, first, second)
            case "remove_relate" if e.values:
                among = self.some(first, at)
                gone = self.hidden("relate", (self.one(second, at, among),), e.values[:1])
                for pair in describe(e.values[1:], self.name(at)) if e.values[1:] else ():
                    gone = self.hidden("filter", (gone,), pair)
                return self.removed(at, among, gone)
        near = self.some(first, at)  # remove_relate, as the templates have it
        state = state_of(self.nodes, near)
        return self.removed(at, state, self.hidden("intersect", (near, self.some(second, at, state))))

    def removed(self, at: int, among: int, gone: int) -> int:
        return self.put(at, "remove", (among, gone), spelled=self.entries[at].function)

    def added_where(self, at: int, where: int, new: int) -> int:
        """An added object whose place is told by a `relate` node: its anchor and its relation are used."""
        relate = self.entries[where]
        if relate.function != "relate":
            raise ProgramError(f"{self.name(at)}: expected a relate node as input 1, came {relate.function}")
        anchor = self.one(relate.inputs[0], where)
        self.places.append(where)
        notes = prefixed((*relate.notes, *self.place(where)), "relate")
        inputs = (state_of(self.nodes, anchor), self.new(new), anchor)
        return self.put(at, "add_beside", inputs, relate.values, notes=notes)

    def only_says_where(self, at: int) -> bool:
        """Whether a relate node is read by nothing but actions that add an object there."""
        readers = [self.entries[i] for i in self.readers[at]]
        return bool(readers) and all(
            r.function == "add_relate" and not r.values and r.inputs[0] == at and at not in r.inputs[1:]
            for r in readers
        )

    def some(self, i: int, at: int, state: int | None = None) -> int:
        """The objects that listed node i gives; a description gives those of the scene that match it."""
        if self.entries[i].function == "object":
            if state is None:
                raise ProgramError(
                    f"{self.name(at)} reads the description at node {i}, not objects of a scene"
                )
            return self.filters(i, state, self.entries[i].values)
        if i not in self.made:
            raise ProgramError(f"{self.name(at)} can not read {self.name(i)}")
        if self.made[i] == self.scene:
            self.scenes += prefixed((*self.entries[i].notes, *self.place(i)), f"scene{self.scene_count}")
            self.scene_count += 1
            self.places.append(i)
        return self.made[i]

    def one(self, i: int, at: int, state: int | None = None) -> int:
        """The single object that listed node i gives, with a `unique` of our own where the list has none."""
        if self.entries[i].function == "object" and state is not None:
            found = state
            for pair in describe(self.entries[i].values, self.name(i)):
                found = self.hidden("filter", (found,), pair)
            return self.put(i, "unique", (found,), spelled="object")
        found = self.some(i, at)
        return found if self.nodes[found].op == "unique" else self.hidden("unique", (found,))

    def filters(self, at: int, among: int, values: tuple[str, ...]) -> int:
        *wider, last = describe(values, self.name(at))
        for pair in wider:
            among = self.hidden("filter", (among,), pair)
        return self.put(at, "filter", (among,), last, spelled=self.entries[at].function)

    def new(self, i: int) -> int:
        """The description of an object that is not there yet."""
        e = self.entries[i]
        if e.function not in ("object", *NEW):
            raise ProgramError(
                f"{self.name(i)} stands where a description (object) of a new object is expected"
            )
        if i in self.things:
            return self.things[i]
        if e.function == "object":
            words = tuple(w for pair in describe(e.values, self.name(i)) for w in pair)
            self.things[i] = self.put(i, "thing", (), words)
        elif e.function == "copy":
            self.things[i] = self.put(i, "copy", (self.one(e.inputs[0], i),))
        else:
            inputs = (self.new(e.inputs[0]), self.one(e.inputs[1], i))
            self.things[i] = self.put(i, "inherit", inputs, self.table[e.function][1])
        return self.things[i]

    def hidden(self, op: str, inputs: tuple[int, ...], params: tuple[str, ...] = ()) -> int:
        self.nodes.append(node(op, inputs, params, IMPLICIT))
        return len(self.nodes) - 1

    def put(
        self,
        at: int,
        op: str,
        inputs: tuple[int, ...],
        params: tuple[str, ...] = (),
        *,
        spelled: str = "",
        notes: Notes = (),
    ) -> int:
        notes += self.entries[at].notes
        if self.entries[at].function != "object":  # which stands inside the inputs of another
            notes += self.scenes
            self.scenes, self.scene_count = (), 0
        if spelled:
            notes += (("as", spelled),)
        self.places.append(at)
        self.nodes.append(node(op, inputs, params, notes + self.place(at)))
        return len(self.nodes) - 1

    def place(self, at: int) -> Notes:
        return (("at", str(at + self.first_place)),) if self.keep_places else ()

    def name(self, at: int) -> str:
        return f"node {at} ({self.entries[at].function})"
