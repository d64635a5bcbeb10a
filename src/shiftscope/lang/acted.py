"""Acted: programs made of an action and a question about its outcome, put together and taken apart."""

from __future__ import annotations

from .op import get_op
from .program import Node, Program, node


def joined(action: tuple[Node, ...], question: Program) -> Program:
    """The question asked of the scene after the action: its `scene` is what the action's last node gives."""
    end = len(action) - 1
    nodes = list(action)
    place: list[int] = []
    for n in question.nodes:
        if n.op == "scene":
            place.append(end)
            continue
        place.append(len(nodes))
        nodes.append(node(n.op, tuple([place[i] for i in n.inputs]), n.params, n.notes))
    return Program(tuple(nodes))


def apart(program: Program) -> tuple[Program | None, Program]:
    """The action and the question, each a program of its own; no action where nothing is edited.

    A program that asks about several states of the scene is taken apart at its last edit.
    """
    edits = [i for i, n in enumerate(program.nodes) if get_op(n.op).edits]
    if not edits:
        return None, program
    end = max(edits)
    action = Program(program.nodes[: end + 1])
    nodes: list[Node] = []
    place: dict[int, int] = {}
    for i in sorted(_above(program, end)):
        n = program.nodes[i]
        inputs = []
        for j in n.inputs:
            if j == end:
                nodes.append(node("scene"))
                inputs.append(len(nodes) - 1)
            else:
                inputs.append(place[j])
        place[i] = len(nodes)
        nodes.append(node(n.op, tuple(inputs), n.params, n.notes))
    return action, Program(tuple(nodes) or (node("scene"),))


def _above(program: Program, end: int) -> set[int]:
    """The nodes that the answer is made of, without the action and what is below it."""
    found: set[int] = set()
    todo = [len(program) - 1]
    while todo:
        i = todo.pop()
        if i != end and i not in found:
            found.add(i)
            todo.extend(program.nodes[i].inputs)
    return found
