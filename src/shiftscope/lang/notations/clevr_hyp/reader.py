"""From CLEVR_HYP's listed nodes to ours; the package's docstring says which meaning was chosen and why.

A listed node becomes one of our nodes, or several (a description becomes filters), or joins the one that
reads it (the `relate` that only says where an object is added). Notes keep what writing needs to undo that:
`as` the function listed, `implicit` a node that no listed node stands for, `at` the place in the list.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ....edit import ON
from ....errors import did_you_mean
from ....schemas.clevr import SCHEMA
from ...op import get_op
from ...program import Node, Notes, ProgramError, node, prefix_notes
from ..clevr import ATTRIBUTES, VALUES, ClevrEntry, Meaning, order_entries

BELOW = "below"  # what the object given rests on
Words = tuple[str, ...]
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
NEW = ("object", "copy", *(f"inherit_{a}" for a in ATTRIBUTES))  # what describes a new object
ONE_VALUE = VALUES | {f"{verb}_{a}": 1 for verb in ("not", "change") for a in ATTRIBUTES}


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What a question's program continues: the action's nodes, the last of which is its `scene`."""

    nodes: tuple[Node, ...] = ()
    listed: int = 0  # how many nodes the action's list had


def read_nodes(
    entries: list[ClevrEntry], table: dict[str, Meaning], before: ActionContext | None = None
) -> tuple[Node, ...]:
    """Our nodes for the listed ones, after those of the action where there is one."""
    order = order_entries(entries)
    reader = _ClevrHypReader(entries, table, before, keep_places=False)
    nodes = reader.read(order)
    in_order = reader.places == list(range(len(entries)))  # as writing would list them
    return nodes if in_order else _ClevrHypReader(entries, table, before, keep_places=True).read(order)


def parse_description(values: Sequence[str], where: str) -> tuple[tuple[str, str], ...]:
    """The (attribute, value) pairs of a description; a value's attribute follows from the vocabulary."""
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


def find_state(nodes: Sequence[Node], i: int) -> int:
    """The node whose objects are all of the scene that node i looks at: a scene, or an edit's outcome."""
    while nodes[i].inputs and not get_op(nodes[i].op).edits:
        i = nodes[i].inputs[0]
    return i


class _ClevrHypReader:
    def __init__(
        self, entries: list[ClevrEntry], table: dict[str, Meaning], before: ActionContext | None, *, keep_places: bool
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
            made = self.convert_entry(at, self.entries[at])
            if made is not None:
                self.made[at] = made
        if self.entries and self.made.get(len(self.entries) - 1) != len(self.nodes) - 1:
            raise ProgramError(f"the last node ({self.entries[-1].function}) gives nothing by itself")
        return tuple(self.nodes)

    def convert_entry(self, at: int, e: ClevrEntry) -> int | None:
        """The node for a listed one; None if it only has a meaning for the node that reads it."""
        self.check_shape(at, e)
        match e.function:
            case "scene" if self.scene is not None:
                if not self.readers[at]:
                    raise ProgramError(f"{self.name_entry(at)} is read by no other node")
                return self.scene
            case function if function in NEW:
                return None if self.readers[at] else self.build_new_object(at)
            case "relate" if self.is_only_location(at):
                return None
            case "relate" if e.values == (BELOW,):
                return self.append_node(at, "related", (self.resolve_one(e.inputs[0], at),), (ON, "object"))
            case "relate":
                return self.append_node(at, "relate", (self.resolve_one(e.inputs[0], at),), e.values)
            case "filter":
                return self.append_filters(at, self.resolve_set(e.inputs[0], at), e.values)
            case "change":
                pairs = parse_description(e.values, self.name_entry(at))
                words = tuple(w for pair in pairs for w in pair)
                alone = "change" if len(pairs) == 1 else ""
                return self.append_node(at, "change", (self.resolve_set(e.inputs[0], at),), words, spelled=alone)
            case function if function in ACTIONS:
                return self.convert_action(at, e)
        op, fixed = self.table[e.function]
        spelled = e.function if e.function in ("and", "or") else ""
        inputs = tuple(self.resolve_set(i, at) for i in e.inputs)
        return self.append_node(at, op, inputs, fixed + e.values, spelled=spelled)

    def check_shape(self, at: int, e: ClevrEntry) -> None:
        if e.function not in self.table:
            hint = did_you_mean(e.function, self.table)
            raise ProgramError(f"node {at}: unknown op {e.function!r} in CLEVR_HYP{hint}")
        arity, words = ACTIONS.get(e.function, (get_op(self.table[e.function][0]).arity, 0))
        if e.function in ("object", "filter", "change"):
            words = None
        words = ONE_VALUE.get(e.function, words)
        if len(e.inputs) != arity:
            raise ProgramError(f"{self.name_entry(at)}: expected {arity} inputs, got {len(e.inputs)}")
        if words is not None and len(e.values) != words:
            raise ProgramError(f"{self.name_entry(at)}: expected {words} value_inputs, got {len(e.values)}")

    def convert_action(self, at: int, e: ClevrEntry) -> int:
        function, first, second, values = e.function, *e.inputs[:2], e.values
        several, one, append = self.resolve_set, self.resolve_one, self.append_node
        match function:
            case "add" | "add_abs":
                spelled = "add" if function == "add" else ""
                return append(at, "add", (several(first, at), self.build_new_object(second)), spelled=spelled)
            case "add_relate" if not values:
                return self.append_add(at, first, second)
            case "change_loc_rel" | "change_loc_on":
                anchor = one(first, at)
                among = find_state(self.nodes, anchor)
                usual = "change_loc_on" if values == ("on",) else "change_loc_rel"
                inputs = (among, one(second, at, among), anchor)
                return append(at, "move", inputs, values, spelled=function if function != usual else "")
            case "remove_relate" if not values:  # as the templates have it
                near = several(first, at)
                among = find_state(self.nodes, near)
                gone = self.append_hidden("intersect", (near, several(second, at, among)))
                return append(at, "remove", (among, gone), spelled=function)
            case "add_relate":
                words = tuple(w for pair in parse_description(values[1:], self.name_entry(at)) for w in pair)
                thing = self.append_hidden("thing", (), words)
                among = several(first, at)
                return append(at, "add_beside", (among, thing, one(second, at, among)), values[:1], spelled=function)
        among = several(first, at)
        match function:
            case "remove" | "remove_abs":
                spelled = "remove" if function == "remove" else ""
                return append(at, "remove", (among, several(second, at, among)), spelled=spelled)
            case "add_rel":
                inputs = (among, self.build_new_object(second), one(e.inputs[2], at, among))
                return append(at, "add_beside", inputs, values, spelled=function)
            case "change_loc" | "swap":
                inputs = (among, one(second, at, among), one(e.inputs[2], at, among))
                if function == "swap":
                    return append(at, "swap", inputs)
                return append(at, "move", inputs, values, spelled=function)
            case "remove_rel":
                gone = several(second, at, among)
                near = self.append_hidden("relate", (one(e.inputs[2], at, among),), values)
                gone = self.append_hidden("intersect", (gone, near))
            case _:  # remove_relate, as the metadata has it
                gone = self.append_hidden("relate", (one(second, at, among),), values[:1])
                for pair in parse_description(values[1:], self.name_entry(at)) if values[1:] else ():
                    gone = self.append_hidden("filter", (gone,), pair)
        return append(at, "remove", (among, gone), spelled=function)

    def append_add(self, at: int, where: int, new: int) -> int:
        """An added object whose place a `relate` node gives: its anchor and its relation are used."""
        relate = self.entries[where]
        if relate.function != "relate":
            raise ProgramError(f"{self.name_entry(at)}: expected a relate node as input 1, got {relate.function}")
        anchor = self.resolve_one(relate.inputs[0], where)
        self.places.append(where)
        notes = prefix_notes((*relate.notes, *self.note_place(where)), "relate")
        inputs = (find_state(self.nodes, anchor), self.build_new_object(new), anchor)
        return self.append_node(at, "add_beside", inputs, relate.values, notes=notes)

    def is_only_location(self, at: int) -> bool:
        """Whether a relate node is read by nothing but actions that add an object there."""
        readers = [self.entries[i] for i in self.readers[at]]
        return bool(readers) and all(
            r.function == "add_relate" and not r.values and r.inputs[0] == at and at not in r.inputs[1:]
            for r in readers
        )

    def resolve_set(self, i: int, at: int, state: int | None = None) -> int:
        """The objects that listed node i gives; a description gives those of the scene that match it."""
        if self.entries[i].function == "object":
            if state is None:
                raise ProgramError(f"{self.name_entry(at)} reads the description at node {i}, not objects of a scene")
            return self.append_filters(i, state, self.entries[i].values)
        if i not in self.made:
            raise ProgramError(f"{self.name_entry(at)} cannot read {self.name_entry(i)}")
        if self.made[i] == self.scene:
            self.scenes += prefix_notes((*self.entries[i].notes, *self.note_place(i)), f"scene{self.scene_count}")
            self.scene_count += 1
            self.places.append(i)
        return self.made[i]

    def resolve_one(self, i: int, at: int, state: int | None = None) -> int:
        """The single object that listed node i gives, with a `unique` of our own where the list has none."""
        if self.entries[i].function == "object" and state is not None:
            found = state
            for pair in parse_description(self.entries[i].values, self.name_entry(i)):
                found = self.append_hidden("filter", (found,), pair)
            return self.append_node(i, "unique", (found,), spelled="object")
        found = self.resolve_set(i, at)
        return found if self.nodes[found].op == "unique" else self.append_hidden("unique", (found,))

    def append_filters(self, at: int, among: int, values: tuple[str, ...]) -> int:
        *wider, last = parse_description(values, self.name_entry(at))
        for pair in wider:
            among = self.append_hidden("filter", (among,), pair)
        return self.append_node(at, "filter", (among,), last, spelled=self.entries[at].function)

    def build_new_object(self, i: int) -> int:
        """The description of an object that is not there yet."""
        e = self.entries[i]
        if e.function not in NEW:
            raise ProgramError(f"{self.name_entry(i)} stands where a description (object) of a new object is expected")
        if i in self.things:
            return self.things[i]
        if e.function == "object":
            words = tuple(w for pair in parse_description(e.values, self.name_entry(i)) for w in pair)
            self.things[i] = self.append_node(i, "thing", (), words)
        elif e.function == "copy":
            self.things[i] = self.append_node(i, "copy", (self.resolve_one(e.inputs[0], i),))
        else:
            inputs = (self.build_new_object(e.inputs[0]), self.resolve_one(e.inputs[1], i))
            self.things[i] = self.append_node(i, "inherit", inputs, self.table[e.function][1])
        return self.things[i]

    def append_hidden(self, op: str, inputs: tuple[int, ...], params: tuple[str, ...] = ()) -> int:
        self.nodes.append(node(op, inputs, params, IMPLICIT))
        return len(self.nodes) - 1

    def append_node(
        self, at: int, op: str, inputs: tuple[int, ...], params: Words = (), spelled: str = "", notes: Notes = ()
    ) -> int:
        notes += self.entries[at].notes
        if self.entries[at].function != "object":  # which stands inside the inputs of another
            notes += self.scenes
            self.scenes, self.scene_count = (), 0
        if spelled:
            notes += (("as", spelled),)
        self.places.append(at)
        self.nodes.append(node(op, inputs, params, notes + self.note_place(at)))
        return len(self.nodes) - 1

    def note_place(self, at: int) -> Notes:
        return (("at", str(at + self.first_place)),) if self.keep_places else ()

    def name_entry(self, at: int) -> str:
        return f"node {at} ({self.entries[at].function})"
