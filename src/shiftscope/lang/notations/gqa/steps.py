"""The steps that both GQA notations are made of, and how they stand to the nodes of our language.

GQA says in one step what is several nodes here: `relate: person,in,s` relates and keeps the persons, and
`query: color` means the color of the only one. Notes on a step's last node keep what no meaning depends on:
the ids of the objects meant (`id`), odd blanks, a second way to say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...check import plan_program
from ...program import Node, Notes, Program, node, refuse_node

ANY = "_"  # a thing of whatever name
EVERYTHING = "this"  # what `select` takes for all objects
IMPLICIT: Notes = (("implicit", "1"),)  # of the `unique` that GQA leaves unsaid
VERIFY_REL = "verify rel"  # the note of an `exist` that GQA says in one step with its relation


class GqaStep(NamedTuple):
    """One step of either notation."""

    kind: str  # one of INPUTS
    inputs: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    notes: Notes = ()


INPUTS = {  # how many earlier steps a kind of step reads
    **dict.fromkeys(("select", "query_image", "verify_image", "choose_image"), 0),
    **dict.fromkeys(("filter", "exclude", "relate", "alike_to", "query", "verify", "deny", "choose"), 1),
    **dict.fromkeys(("verify_rel", "choose_rel", "exist"), 1),
    **dict.fromkeys(("and", "or", "choose_more", "alike", "differ", "common"), 2),
}

# Ops that are a step of the same name, input for input.
_AS_IS = (
    *("filter", "exclude", "exist", "and", "or", "alike", "differ", "common"),
    *("query_image", "verify_image", "choose_image"),
)

Place = Callable[..., int]


def build_program(steps: list[GqaStep]) -> Program:
    """The program that the steps say."""
    nodes: list[Node] = []
    value: list[int] = []  # the node that holds a step's outcome
    single: dict[int, int] = {}  # a set's node → the node of its only member

    def append_node(op: str, inputs: tuple[int, ...] = (), words: tuple[str, ...] = (), notes: Notes = ()) -> int:
        nodes.append(node(op, inputs, words, notes))
        return len(nodes) - 1

    def add_unique(i: int) -> int:
        if i not in single:
            single[i] = append_node("unique", (i,), (), IMPLICIT)
        return single[i]

    for step in steps:
        value.append(_append_step(step, tuple(value[i] for i in step.inputs), append_node, add_unique))
    return Program(tuple(nodes))


def _append_step(step: GqaStep, inputs: tuple[int, ...], put: Place, one: Place) -> int:
    kind, _, words, notes = step
    match kind:
        case "select":
            return _append_find(words[0], put, notes)
        case "relate":
            name, relation, role = words
            return _append_named(name, ("related", inputs, (relation, role)), put, notes)
        case "alike_to":
            name, attribute = words
            return _append_named(name, ("same", (one(inputs[0]),), (attribute,)), put, notes)
        case "verify_rel":
            name, relation, role = words
            among = _append_named(name, ("related", inputs, (relation, role)), put, ())
            return put("exist", (among,), (), (*notes, ("said", VERIFY_REL)))
        case "choose_rel":
            name, *rest = words
            return put("choose_relation", (one(inputs[0]), _append_find(name, put, ())), tuple(rest), notes)
        case "deny":
            return put("not", (put("verify", (one(inputs[0]),), words),), (), notes)
        case "query" | "verify" | "choose" | "choose_more":
            return put(kind, tuple(one(i) for i in inputs), words, notes)
        case _:
            return put(kind, inputs, words, notes)


def _append_find(name: str, put: Place, notes: Notes) -> int:
    return put("scene", (), (), notes) if name in (ANY, EVERYTHING) else put("find", (), (name,), notes)


def _append_named(name: str, related: tuple[str, tuple[int, ...], tuple[str, ...]], put: Place, notes: Notes) -> int:
    if name == ANY:
        return put(*related, notes)
    return put("filter", (put(*related),), ("name", name), notes)


def build_steps(program: Program) -> list[GqaStep]:
    """The steps that say the program, in its order; what GQA has no word for is refused by name."""
    plan_program(program)
    reading = _GqaStepWriter(program)
    read = {j for n in program.nodes for j in n.inputs}
    needed = {i for i in range(len(program)) if i not in read}
    found: dict[int, GqaStep] = {}
    for i in reversed(range(len(program))):
        if i in needed:
            found[i] = reading.build_step(i)
            needed.update(found[i].inputs)
    order = {i: at for at, i in enumerate(sorted(found))}
    return [found[i]._replace(inputs=tuple(order[j] for j in found[i].inputs)) for i in order]


class _GqaStepWriter:
    """What each node of a program is called in GQA, the nodes that it takes along included."""

    def __init__(self, program: Program) -> None:
        self.program, self.nodes = program, program.nodes

    def build_step(self, i: int) -> GqaStep:
        """The step a node ends; its inputs are still numbers of nodes."""
        n = self.nodes[i]
        match n.op:
            case "find" | "scene":
                return GqaStep("select", (), (self.find_name(i, EVERYTHING),), n.notes)
            case "filter" | "exclude" if n.params[0] == "name":
                return self.build_named_step(i)
            case "related" | "same":
                return self.build_relation_step(i, ANY, n.notes)
            case "query" | "verify" | "choose" | "choose_more":
                return GqaStep(n.op, tuple(self.get_set(j) for j in n.inputs), n.params, n.notes)
            case "not" if self.nodes[n.inputs[0]].op == "verify":
                return self.build_step(n.inputs[0])._replace(kind="deny", notes=n.notes)
            case "exist" if n.note("said") == VERIFY_REL and self.is_relation(n.inputs[0]):
                return self.build_step(n.inputs[0])._replace(kind="verify_rel", notes=n.notes)
            case "choose_relation":
                first, others = n.inputs
                words = (self.find_name(others, ANY), *n.params)
                return GqaStep("choose_rel", (self.get_set(first),), words, n.notes)
            case _ if n.op in _AS_IS:
                return GqaStep(n.op, n.inputs, n.params, n.notes)
        raise refuse_node(self.program, i, "GQA")

    def find_name(self, i: int, everything: str) -> str:
        n = self.nodes[i]
        if n.op == "scene":
            return everything
        if n.op == "find" and n.params[0] not in (ANY, EVERYTHING):
            return n.params[0]
        if n.op == "filter" and n.params[0] == "name" and self.nodes[n.inputs[0]].op == "scene":
            return n.params[1]
        raise refuse_node(self.program, i, "GQA")

    def build_named_step(self, i: int) -> GqaStep:
        """A filter by name: GQA names things only where it first finds them."""
        n = self.nodes[i]
        source = self.nodes[n.inputs[0]]
        if n.op == "filter" and source.op in ("related", "same") and n.params[1] != ANY:
            return self.build_relation_step(n.inputs[0], n.params[1], n.notes)
        return GqaStep("select", (), (self.find_name(i, EVERYTHING),), n.notes)

    def build_relation_step(self, i: int, name: str, notes: Notes) -> GqaStep:
        n = self.nodes[i]
        if n.op == "same":
            return GqaStep("alike_to", (self.get_set(n.inputs[0]),), (name, *n.params), notes)
        return GqaStep("relate", n.inputs, (name, *n.params), notes)

    def is_relation(self, i: int) -> bool:
        n = self.nodes[i]
        if n.op == "filter" and n.params[0] == "name":
            n = self.nodes[n.inputs[0]]
        return n.op == "related"

    def get_set(self, i: int) -> int:
        """The set whose only member is meant."""
        if self.nodes[i].op != "unique":
            raise refuse_node(self.program, i, "GQA")
        return self.nodes[i].inputs[0]
