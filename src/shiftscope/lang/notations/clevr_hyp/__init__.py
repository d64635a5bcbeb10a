"""CLEVR_HYP programs: CLEVR's functions, and what an action does to the scene before the question is asked.

Both namings are read: that of the paper's Table 4 (`add`, `add_rel`, `change_loc`, `and`, `not_color`, …) and
that of the released metadata and action templates (`add_abs`, `add_relate`, `change_loc_rel`, `object`, …).
A program is written as it was read, or with the released names. Where the sources leave a meaning open:

- `object` carries its description in value_inputs, in any order and any part of it; which attribute a value
  belongs to follows from CLEVR's vocabulary. Table 4 has no word for it, so both namings use `object`.
- Where objects of the scene are wanted, an `object` stands for those that match the description; where one
  is wanted (the mover of `change_loc_*`), for the only one.
- The templates give a filtered set where one object is wanted; it must then hold exactly one.
- `add_relate` reads the set that a `relate` node gives: the object is added in that relation to that anchor.
- `remove_relate` and `remove_rel` remove those of the one set that are also in that place.
- With value_inputs (as the metadata has it), `add_relate` and `remove_relate` read the scene and the anchor;
  the values are the relation and then the description.
- `change_loc_rel` and `change_loc_on` read the anchor first and the mover second, as the templates do; Table
  4's `change_loc` reads the scene, the mover and the anchor.
- `relate` with `below` gives what the object rests on: the paper asks it, and no file spells it.
- Cloning, swapping and inheriting have no function in either source. `copy` (of an object) and
  `inherit_size`, … (of a description and an object) stand where `object` does; `swap` reads the scene and
  two objects.
- `filter`, which templates leave whole, takes any description. So does `change`, a function of our own for
  several attributes at once; of one attribute, `change_color` and the like are written.
- A question's `scene` is the scene after the action. A program that also asks about the scene before it can
  be listed as one program, never as a pair.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ....edit import ON
from ...check import plan_program
from ...op import OBJECT, get_op
from ...program import Node, Program, ProgramError, node, strip_prefix
from ..clevr import ATTRIBUTES, FUNCTIONS, ClevrEntry, Meaning, get_official_name, read_entry, write_entry
from .reader import BELOW, ActionContext, find_state, parse_description, read_nodes

# Writing: the reverse of `reader.py`. A node whose form says so reads around the implicit ones below it; a node that
# no listed one reads (the scene that an anchor implies) is left out.


def write_nodes(
    program: Program, which: Iterable[int], table: dict[str, Meaning], *, scene: int = -1, first_place: int = 0
) -> list[dict[str, Any]]:
    """The chosen nodes as a list; inputs from node `scene` are listed as `scene` nodes of their own."""
    writer = _ClevrHypWriter(program, table, scene)
    chosen = list(which)
    for i in chosen:
        if not writer.is_on_demand(i) or not writer.uses[i]:
            writer.write_node(i)
    read = {writer.write_node(chosen[-1])}
    rows: dict[int, ClevrEntry] = {}  # those that are the answer, are read, or never were to be read
    for k, (entry, needed) in reversed([*enumerate(writer.rows)]):
        if k in read or needed:
            read.update(entry.inputs)
            rows[k] = entry
    rows = dict(reversed(rows.items()))
    noted = {k: dict(entry.notes).get("at") for k, entry in rows.items()}
    places = {k: int(at) - first_place if at else -1 for k, at in noted.items()}
    # In the file's order, where every row knows its place and none contradict, else as made.
    return _number_rows(rows, places) or _number_rows(rows, {k: place for place, k in enumerate(rows)}) or []


def _number_rows(rows: dict[int, ClevrEntry], places: dict[int, int]) -> list[dict[str, Any]] | None:
    listed: dict[int, dict[str, Any]] = {}
    for k, entry in rows.items():
        made = write_entry(entry._replace(inputs=tuple(places[j] for j in entry.inputs)))
        if listed.setdefault(places[k], made) != made:
            return None
    return [listed[k] for k in sorted(listed)] if listed.keys() == set(range(len(listed))) else None


class _ClevrHypWriter:
    def __init__(self, program: Program, table: dict[str, Meaning], scene: int) -> None:
        self.nodes, self.table, self.scene = program.nodes, table, scene
        self.program, self.plan = program, plan_program(program)
        self.uses = Counter(j for n in self.nodes for j in n.inputs)
        self.rows: list[tuple[ClevrEntry, bool]] = []  # its inputs are numbers of rows; listed even if no row reads it
        self.row_of: dict[int, int] = {}
        self.scene_count = 0

    def is_on_demand(self, i: int) -> bool:
        """Whether a node is listed only when another reads it: a description, or what no list had."""
        n = self.nodes[i]
        return n.op in ("thing", "copy", "inherit") or n.note("as") == "object" or bool(n.note("implicit"))

    def write_node(self, i: int) -> int:
        if i not in self.row_of:
            n = self.nodes[i]
            outer, self.scene_count = self.scene_count, 0
            function, inputs, values = self.convert_node(i, n)
            if function not in self.table or self.plan.steps[i].on_parts:
                raise ProgramError(f"node {i} ({n.op}) has no CLEVR_HYP function")
            self.row_of[i] = self.append_row(ClevrEntry(function, inputs, values, n.notes), not self.uses[i])
            self.scene_count = outer
        return self.row_of[i]

    def append_row(self, entry: ClevrEntry, needed: bool = False) -> int:
        self.rows.append((entry, needed))
        return len(self.rows) - 1

    def convert_node(self, i: int, n: Node) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        """Function, inputs (numbers of rows) and value_inputs of a node."""
        spelled = n.note("as")
        match n.op:
            case "thing":
                return "object", (), self.format_description(i, n)
            case "unique" if spelled == "object" and self.is_hidden(n.inputs[0], "filter"):
                return "object", (), self.collect_filters(n.inputs[0])[1]
            case "filter" if spelled == "object":
                return "object", (), self.collect_filters(i)[1]
            case "filter" if spelled == "filter":
                base, words = self.collect_filters(i)
                return "filter", self.write_inputs(n, base), words
            case "copy":
                return "copy", self.write_inputs(n, self.skip_unique(n.inputs[0])), ()
            case "inherit":
                new, one = n.inputs
                return f"inherit_{n.params[0]}", self.write_inputs(n, new, self.skip_unique(one)), ()
            case "relate":
                return "relate", self.write_inputs(n, self.skip_unique(n.inputs[0])), n.params
            case "related" if n.params == (ON, "object") and self.plan.types[n.inputs[0]] == OBJECT:
                return "relate", self.write_inputs(n, self.skip_unique(n.inputs[0])), (BELOW,)
            case "swap":
                return "swap", self.write_inputs(n, n.inputs[0], *map(self.skip_unique, n.inputs[1:])), ()
            case "add":
                return spelled or "add_abs", self.write_inputs(n, *n.inputs), ()
            case "add_beside":
                return self.convert_add_beside(n, spelled)
            case "remove":
                return self.convert_remove(n, spelled)
            case "move":
                return self.convert_move(n, spelled)
            case "change" if spelled or len(n.params) > 2:
                return "change", self.write_inputs(n, n.inputs[0]), self.format_description(i, n)
            case "exclude" | "change":
                verb = {"exclude": "not"}.get(n.op, n.op)
                return f"{verb}_{n.params[0]}", self.write_inputs(n, n.inputs[0]), n.params[1:]
            case "intersect" | "union":
                return spelled or n.op, self.write_inputs(n, *n.inputs), ()
        function = get_official_name(i, self.program, self.plan)
        op, fixed = self.table.get(function, ("", ()))
        if op != n.op:  # such as `and`, which is of sets here and of truths with us
            raise ProgramError(f"node {i} ({n.op}) has no CLEVR_HYP function")
        return function, self.write_inputs(n, *n.inputs), n.params[len(fixed) :]

    def convert_add_beside(self, n: Node, spelled: str) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        among, thing, anchor = n.inputs
        beside = self.skip_unique(anchor)
        if spelled == "add_relate" and self.is_hidden(thing, "thing"):
            words = self.format_description(thing, self.nodes[thing])
            return "add_relate", self.write_inputs(n, among, beside), n.params + words
        if spelled == "add_rel" or not self.is_whole_scene(among, anchor):
            return "add_rel", self.write_inputs(n, among, thing, beside), n.params
        where = ClevrEntry("relate", self.write_inputs(n, beside), n.params, strip_prefix(n.notes, "relate"))
        return "add_relate", (self.append_row(where), *self.write_inputs(n, thing)), ()

    def convert_remove(self, n: Node, spelled: str) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        among, gone = n.inputs
        both = self.nodes[gone].inputs if self.is_hidden(gone, "intersect") else ()
        if spelled == "remove_relate" and both and self.is_whole_scene(among, both[0]):
            return "remove_relate", self.write_inputs(n, *both), ()
        if spelled == "remove_rel" and both and self.is_hidden(both[1], "relate"):
            near = self.nodes[both[1]]
            return "remove_rel", self.write_inputs(n, among, both[0], self.skip_unique(near.inputs[0])), near.params
        if spelled == "remove_relate":
            at, words = self.collect_filters(gone) if self.is_hidden(gone, "filter") else (gone, ())
            if self.is_hidden(at, "relate"):
                near = self.nodes[at]
                inputs = self.write_inputs(n, among, self.skip_unique(near.inputs[0]))
                return "remove_relate", inputs, near.params + words
        return "remove" if spelled == "remove" else "remove_abs", self.write_inputs(n, among, gone), ()

    def convert_move(self, n: Node, spelled: str) -> tuple[str, tuple[int, ...], tuple[str, ...]]:
        among, *both = n.inputs
        mover, anchor = map(self.skip_unique, both)
        if spelled == "change_loc" or not self.is_whole_scene(among, both[1]):
            return "change_loc", self.write_inputs(n, among, mover, anchor), n.params
        usual = "change_loc_on" if n.params == ("on",) else "change_loc_rel"
        return spelled or usual, self.write_inputs(n, anchor, mover), n.params

    def write_inputs(self, n: Node, *inputs: int) -> tuple[int, ...]:
        found = []
        for i in inputs:
            if i != self.scene:
                found.append(self.write_node(i))
                continue
            notes = strip_prefix(n.notes, f"scene{self.scene_count}")
            self.scene_count += 1
            found.append(self.append_row(ClevrEntry("scene", (), (), notes)))
        return tuple(found)

    def skip_unique(self, i: int) -> int:
        """An input that must be one object: a `unique` that the file left out is left out again."""
        return self.nodes[i].inputs[0] if self.is_hidden(i, "unique") else i

    def collect_filters(self, i: int) -> tuple[int, tuple[str, ...]]:
        """What a filter and the implicit filters directly below it look at, and all their values."""
        words = [self.nodes[i].params[1]]
        i = self.nodes[i].inputs[0]
        while self.is_hidden(i, "filter"):
            words.append(self.nodes[i].params[1])
            i = self.nodes[i].inputs[0]
        return i, tuple(reversed(words))

    def format_description(self, i: int, n: Node) -> tuple[str, ...]:
        pairs = tuple(zip(n.params[::2], n.params[1::2], strict=True))
        if parse_description(n.params[1::2], f"node {i} ({n.op})") != pairs:
            raise ProgramError(f"node {i} ({n.op}): CLEVR_HYP cannot describe an object so")
        return n.params[1::2]

    def is_hidden(self, i: int, op: str) -> bool:
        """Whether it is a node of that op which stood in no list."""
        return self.nodes[i].op == op and bool(self.nodes[i].note("implicit"))

    def is_whole_scene(self, among: int, other: int) -> bool:
        """Whether `among` is all of the scene that the other looks at, so that naming it adds nothing."""
        state = find_state(self.nodes, other)
        return among == state or self.nodes[among].op == self.nodes[state].op == "scene"


ACTION_FIELDS = ("action_program", "action_prog", "action_nodes")  # the first is what we write
ACTION_TEXT_FIELDS = ("action_text", "action")
ENDS_ACTION = ("ends", "action")  # the note of an action's last node
ONE_LIST = ("list", "one")  # the note of a last node whose action stood in the same list
ACTION_TABLE: dict[str, Meaning] = {  # what CLEVR_HYP adds to CLEVR's functions
    "object": ("thing", ()),
    "filter": ("filter", ()),
    "and": ("intersect", ()),
    "or": ("union", ()),
    "copy": ("copy", ()),
    "swap": ("swap", ()),
    "change": ("change", ()),
    **dict.fromkeys(("add", "add_abs"), ("add", ())),
    **dict.fromkeys(("add_rel", "add_relate"), ("add_beside", ())),
    **dict.fromkeys(("remove", "remove_abs", "remove_rel", "remove_relate"), ("remove", ())),
    **dict.fromkeys(("change_loc", "change_loc_rel", "change_loc_on"), ("move", ())),
    **{f"inherit_{a}": ("inherit", (a,)) for a in ATTRIBUTES},
    **{f"not_{a}": ("exclude", (a,)) for a in ATTRIBUTES},
    **{f"change_{a}": ("change", (a,)) for a in ATTRIBUTES},
}


TABLE = FUNCTIONS | ACTION_TABLE


def read(listed: Iterable[Any]) -> Program:
    """The program of one list, which may hold actions and a question about their outcome."""
    nodes = read_nodes(_read_entries(listed), TABLE)
    if nodes and any(get_op(n.op).edits for n in nodes):
        last = nodes[-1]
        nodes = (*nodes[:-1], node(last.op, last.inputs, last.params, (*last.notes, ONE_LIST)))
    return Program(nodes)


def write(program: Program) -> list[dict[str, Any]]:
    """The program as one list; refuses, by name, what the notation cannot say."""
    return write_nodes(program, range(len(program)), TABLE)


def read_pair(action: Iterable[Any], question: Iterable[Any]) -> Program:
    """An action's list and the list of a question about the scene after it, as one program."""
    try:
        acted = _read_entries(action)
        nodes = read_nodes(acted, TABLE)
        if not nodes or not get_op(nodes[-1].op).edits:
            raise ProgramError("its last node must be an action")
    except ProgramError as error:
        raise ProgramError(f"action program: {error}") from None
    last = nodes[-1]
    nodes = (*nodes[:-1], node(last.op, last.inputs, last.params, (*last.notes, ENDS_ACTION)))
    entries = _read_entries(question)
    return Program(read_nodes(entries, TABLE, ActionContext(nodes, len(acted))) if entries else nodes)


def write_pair(program: Program, action_text: str) -> dict[str, Any]:
    """The fields of a question that hold its action and its programs."""
    fields: dict[str, Any] = {ACTION_TEXT_FIELDS[0]: action_text} if action_text else {}
    edits = [i for i, n in enumerate(program.nodes) if get_op(n.op).edits]
    noted = [i for i in edits if ENDS_ACTION in program.nodes[i].notes]
    end = max(noted or edits, default=None)  # the node whose outcome the question is about
    if end is None or ONE_LIST in program.root.notes:
        return fields | {"program": write(program)}
    action, question = _split_nodes(program, end)
    listed = write_nodes(program, action, TABLE)
    fields[ACTION_FIELDS[0]] = listed
    if question:
        fields["program"] = write_nodes(program, question, TABLE, scene=end, first_place=len(listed))
    return fields


def _split_nodes(program: Program, end: int) -> tuple[list[int], list[int]]:
    """The action's nodes and the question's, each in order."""
    action = program.find_reachable(end)
    rest = program.find_reachable() - action
    question = [i for i in range(len(program)) if i in rest or (i > end and i not in action)]
    for i in question:
        n = program.nodes[i]
        if n.op == "scene":
            raise ProgramError(f"node {i} (scene) is the scene before the action; CLEVR_HYP asks about it after")
        early = next((j for j in n.inputs if j in action and j != end), None)
        if early is not None:
            raise ProgramError(f"node {i} ({n.op}) reads node {early} from within the action (up to node {end})")
    return [i for i in range(end + 1) if i not in rest], question


def _read_entries(listed: Iterable[Any]) -> list[ClevrEntry]:
    if not isinstance(listed, list | tuple):
        raise ProgramError("a program must be a list of nodes")
    entries = []
    for at, raw in enumerate(listed):
        entry, fields = read_entry(raw, at), " ".join(raw)
        if not entry.notes and fields != "function inputs value_inputs":  # an order of fields that we do not write
            entry = entry._replace(notes=(("keys", fields),))
        entries.append(entry)
    return entries
