"""CLEVR_HYP programs: CLEVR's functions, and what an action does to the scene before the question is asked.

Both namings are read: that of the paper's Table 4 (`add`, `add_rel`, `change_loc`, `and`, `not_color`, …) and
that of the released metadata and action templates (`add_abs`, `add_relate`, `change_loc_rel`, `object`, …).
A program is written as it was read, or with the released names. Where the sources leave a meaning open:

- `object` carries its description in value_inputs, in any order and any part of it; which attribute a value
  belongs to is told by CLEVR's vocabulary. Table 4 has no word for it, so both namings use `object`.
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
- `filter`, which templates leave whole, takes any description.
- A question's `scene` is the scene after the action. A program that also asks about the scene before it can
  be listed as one program, never as a pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..op import get_op
from ..program import Program, ProgramError, node
from ._hyp_read import Before, read_nodes
from ._hyp_write import write_nodes
from ._listing import Entry, read_entry
from .clevr import ATTRIBUTES, Meaning, functions

ACTION_FIELDS = ("action_program", "action_prog", "action_nodes")  # the first is what we write
ACTION_TEXT_FIELDS = ("action_text", "action")
ENDS_ACTION = ("ends", "action")  # the note of an action's last node
ONE_LIST = ("list", "one")  # the note of a last node whose action stood in the same list


def action_functions() -> dict[str, Meaning]:
    """What CLEVR_HYP adds to CLEVR's functions."""
    table: dict[str, Meaning] = {
        "object": ("thing", ()),
        "filter": ("filter", ()),
        "and": ("intersect", ()),
        "or": ("union", ()),
        **dict.fromkeys(("add", "add_abs"), ("add", ())),
        **dict.fromkeys(("add_rel", "add_relate"), ("add_beside", ())),
        **dict.fromkeys(("remove", "remove_abs", "remove_rel", "remove_relate"), ("remove", ())),
        **dict.fromkeys(("change_loc", "change_loc_rel", "change_loc_on"), ("move", ())),
    }
    table |= {"copy": ("copy", ()), "swap": ("swap", ())}
    for a in ATTRIBUTES:
        table[f"inherit_{a}"] = ("inherit", (a,))
        table[f"not_{a}"] = ("exclude", (a,))
        table[f"change_{a}"] = ("change", (a,))
    return table


class ClevrHyp:
    """The dialect: a list of nodes in, a program out, and back."""

    name = "CLEVR_HYP"
    table = functions() | action_functions()

    def read(self, listed: Iterable[Any]) -> Program:
        """The program of one list, which may hold actions and a question about their outcome."""
        nodes = read_nodes(_entries(listed), self.table)
        if nodes and any(get_op(n.op).edits for n in nodes):
            last = nodes[-1]
            nodes = (*nodes[:-1], node(last.op, last.inputs, last.params, (*last.notes, ONE_LIST)))
        return Program(nodes)

    def write(self, program: Program) -> list[dict[str, Any]]:
        """The program as one list; refuses, by name, what the dialect can not say."""
        return write_nodes(program, range(len(program)), self.table)


DIALECT = ClevrHyp()
read, write = DIALECT.read, DIALECT.write


def read_pair(action: Iterable[Any], question: Iterable[Any]) -> Program:
    """An action's list and the list of a question about the scene after it, as one program."""
    try:
        acted = _entries(action)
        nodes = read_nodes(acted, DIALECT.table)
        if not nodes or not get_op(nodes[-1].op).edits:
            raise ProgramError("its last node must be an action")
    except ProgramError as error:
        raise ProgramError(f"action program: {error}") from None
    last = nodes[-1]
    nodes = (*nodes[:-1], node(last.op, last.inputs, last.params, (*last.notes, ENDS_ACTION)))
    asked = _entries(question)
    return Program(read_nodes(asked, DIALECT.table, Before(nodes, len(acted))) if asked else nodes)


def write_pair(program: Program, action_text: str) -> dict[str, Any]:
    """The fields of a question that hold its action and its programs."""
    fields: dict[str, Any] = {ACTION_TEXT_FIELDS[0]: action_text} if action_text else {}
    end = _end_of_action(program)
    if end is None:
        return fields | {"program": write(program)}
    action, question = _parts(program, end)
    listed = write_nodes(program, action, DIALECT.table)
    fields[ACTION_FIELDS[0]] = listed
    if question:
        fields["program"] = write_nodes(program, question, DIALECT.table, scene=end, first_place=len(listed))
    return fields


def _end_of_action(program: Program) -> int | None:
    """The node whose outcome the question is about; None for a program to be kept in one list."""
    if ONE_LIST in program.root.notes:
        return None
    edits = [i for i, n in enumerate(program.nodes) if get_op(n.op).edits]
    noted = [i for i in edits if ENDS_ACTION in program.nodes[i].notes]
    return max(noted or edits, default=None)


def _parts(program: Program, end: int) -> tuple[list[int], list[int]]:
    """The action's nodes and the question's, each in order."""
    action = _below(program, end)
    asked = _below(program, len(program) - 1) - action
    question = [i for i in range(len(program)) if i in asked or (i > end and i not in action)]
    for i in question:
        n = program.nodes[i]
        if n.op == "scene":
            raise ProgramError(
                f"node {i} (scene) is the scene before the action; CLEVR_HYP asks about it after"
            )
        early = next((j for j in n.inputs if j in action and j != end), None)
        if early is not None:
            raise ProgramError(
                f"node {i} ({n.op}) reads node {early} from within the action (up to node {end})"
            )
    return [i for i in range(end + 1) if i not in asked], question


def _below(program: Program, root: int) -> set[int]:
    """The node and all it is made from."""
    found: set[int] = set()
    todo = [root]
    while todo:
        i = todo.pop()
        if i not in found:
            found.add(i)
            todo.extend(program.nodes[i].inputs)
    return found


def _entries(listed: Iterable[Any]) -> list[Entry]:
    if not isinstance(listed, list | tuple):
        raise ProgramError("a program must be a list of nodes")
    return [_with_field_order(read_entry(raw, at), raw) for at, raw in enumerate(listed)]


def _with_field_order(entry: Entry, raw: dict[str, Any]) -> Entry:
    """The entry with a note of the order of its fields, where that is not the one we write."""
    fields = " ".join(raw)
    if entry.notes or fields == "function inputs value_inputs":
        return entry
    return entry._replace(notes=(("keys", fields),))
