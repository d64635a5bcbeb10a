"""Shape: a program, or a template, without its words; what has one shape can be worded alike."""

from __future__ import annotations

from typing import NamedTuple

from ...lang.program import Node, Program, node
from ..template import Template, pieces_of
from .step import RELATIONS, Step, steps, steps_of

NO_SLOT = -1
NOTHING: frozenset[int] = frozenset()


class Place(NamedTuple):
    """Where a template takes the words of a step from."""

    relation: int  # slot, or NO_SLOT
    words: dict[str, int]  # attribute → slot
    needed: frozenset[str]  # attributes that its texts do not go without
    node: int  # the template node that describes the step, or NO_SLOT


def shape_of(step: Step, cut: frozenset[int] = NOTHING) -> str:
    """The ops of a tree; the relations in `cut`, by identity, are taken off."""
    if id(step) in cut:
        return "scene()"
    name = step.op
    if step.params and name not in RELATIONS:
        name = f"{name}:{','.join(step.params)}"
    if not step.inputs:
        return f"{name}()"
    return f"{name}({''.join([shape_of(s, cut) for s in step.inputs])})"


def steps_without(last: Step, cut: frozenset[int]) -> list[Step]:
    """The steps that are left, in the order of `steps`."""
    found: list[Step] = []
    todo = [last]
    while todo:
        step = todo.pop()
        found.append(step)
        if id(step) not in cut:
            todo += step.inputs[::-1]
    return found


def tree_of(template: Template) -> Step:
    """The template's tree with every slot filled by its number."""
    nodes: list[Node] = []
    last: list[int] = []
    for n, pieces in zip(template.nodes, pieces_of(template), strict=True):
        inputs = tuple(last[i] for i in n.inputs)
        for piece in pieces:
            words = piece.fixed if piece.slot < 0 else (*piece.fixed, str(piece.slot))
            nodes.append(node(piece.op, inputs, words))
            inputs = (len(nodes) - 1,)
        last.append(inputs[0])
    return steps_of(Program(tuple(nodes)), (None,) * len(nodes))


def places_of(template: Template) -> tuple[Place, ...]:
    """One a step, in the order of `steps`."""
    said = {p.name for p in template.params if all(p.name in text for text in template.texts)}
    never = {s for s in template.never if template.params[s].name not in said}
    single = {template.slot(s) for n in template.nodes if n.meaning.takes == "one" for s in n.slots}
    describes = {
        template.slot(s): number
        for number, n in enumerate(template.nodes)
        if n.meaning.takes in ("many", "relation and many")
        for s in n.slots
    }
    found = []
    for step in steps(tree_of(template)):
        slots = {w.attribute: int(w.value) for w in step.words}
        found.append(
            Place(
                relation=int(step.params[0]) if step.op == "relate" else NO_SLOT,
                words={a: s for a, s in slots.items() if s not in never},
                needed=frozenset(a for a, s in slots.items() if s in single),
                node=next((describes[s] for s in slots.values() if s in describes), NO_SLOT),
            )
        )
    return tuple(found)
