"""Trim: take an operation out of a program where that leaves all it refers to, and the answer, as they are.

An operation is a filter, or a relation together with all that only led to it: of "the black cat on the mat",
*black*, and *on the mat*. It is redundant if without it every set of things that the rest of the program goes
on with is the same, found by running both programs. Never taken out: what is being asked (the relation of "is
the cat on the mat?"), a name, the last word of a description.
"""

from __future__ import annotations

from typing import NamedTuple

from ...lang.dialects._gqa_steps import VERIFY_REL
from ...lang.exec.exact import Execution, execute
from ...lang.program import Node, Program, node
from ...lang.world import World

WORDS = ("filter", "exclude")
RELATIONS = ("related", "relate", "same")
PAIRING = ("and", "or", "alike", "differ", "common", "choose_more")  # of two things that must not become one


class Cut(NamedTuple):
    """A shorter program, and which node of the longer one each of its nodes was."""

    program: Program
    origin: tuple[int, ...]


def operations(program: Program) -> tuple[int, ...]:
    """The nodes that may be taken out, redundant or not."""
    asked = _asked(program)
    return tuple(
        i
        for i in sorted(program.reachable())
        if (program.nodes[i].op in WORDS and program.nodes[i].params[0] != "name")
        or (program.nodes[i].op in RELATIONS and i not in asked)
    )


def redundant(program: Program, at: int, world: World) -> Cut | None:
    """The program without the operation, if that refers to the same things and has the same answer."""
    cut = without(program, at)
    if not _is_a_question(cut.program, program):
        return None
    return cut if same_referents(program, cut, world) else None


def same_referents(program: Program, cut: Cut, world: World) -> bool:
    """Whether every set that a surviving node reads is as it was, and so the answer."""
    longer, shorter = execute(program, world), execute(cut.program, world)
    if not longer.defined or not shorter.defined or _unlike(longer.answer, shorter.answer):
        return False
    for n, was in zip(cut.program.nodes, cut.origin, strict=True):
        if n.op not in WORDS:
            before = program.nodes[was].inputs
            if any(_differs(shorter, i, longer, j) for i, j in zip(n.inputs, before, strict=False)):
                return False
    return True


def without(program: Program, at: int) -> Cut:
    """The program less one operation; what nothing reads any more goes with it.

    A relation leaves the name of what it found, sought in the whole image: `find(cat)`.
    """
    nodes = list(program.nodes)
    moved: dict[int, int] = {}  # what a node's readers read instead
    n = nodes[at]
    if n.op in WORDS:
        moved[at] = n.inputs[0]
    else:
        name = _name_of(program, at)
        if name is None:
            nodes[at] = node("scene", (), (), n.notes)
        else:
            nodes[name] = node("find", (), nodes[name].params[1:], nodes[name].notes)
    return _rebuilt(nodes, moved)


def _rebuilt(nodes: list[Node], moved: dict[int, int]) -> Cut:
    """The nodes that the last one needs, numbered anew."""
    place: dict[int, int] = {}
    made: list[Node] = []
    origin: list[int] = []

    def put(i: int) -> int:
        i = moved.get(i, i)
        if i not in place:
            n = nodes[i]
            inputs = tuple(map(put, n.inputs))
            place[i] = len(made)
            made.append(node(n.op, inputs, n.params, n.notes))
            origin.append(i)
        return place[i]

    put(len(nodes) - 1)
    return Cut(Program(tuple(made)), tuple(origin))


def _asked(program: Program) -> set[int]:
    """The relations that are asked about: whether the one thing stands in it to such another."""
    found = set()
    for n in program.nodes:
        if n.op == "exist" and n.note("said") == VERIFY_REL:
            at = n.inputs[0]
            while program.nodes[at].op in WORDS:
                at = program.nodes[at].inputs[0]
            found.add(at)
    return found


def _name_of(program: Program, at: int) -> int | None:
    """The filter that names what a relation finds, where that comes first and nothing else reads it."""
    readers = [i for i, n in enumerate(program.nodes) if at in n.inputs]
    if len(readers) != 1:
        return None
    n = program.nodes[readers[0]]
    return readers[0] if n.op == "filter" and n.params[0] == "name" else None


def _is_a_question(shorter: Program, longer: Program) -> bool:
    """Whether each set is still described, and no two that are joined or compared have become the same."""
    return _undescribed(shorter) <= _undescribed(longer) and _doubled(shorter) <= _doubled(longer)


def _undescribed(program: Program) -> int:
    """How often the program goes on with everything that is there."""
    bare = [i for i, n in enumerate(program.nodes) if n.op == "scene"]
    return sum(i in n.inputs for n in program.nodes if n.op not in WORDS for i in bare)


def _doubled(program: Program) -> int:
    """How many nodes read the same description twice, said once or said again."""
    kept: list[int] = []
    known: dict[tuple[object, ...], int] = {}
    for n in program.nodes:
        key = (n.op, n.params, tuple(kept[i] for i in n.inputs))
        kept.append(known.setdefault(key, len(known)))
    return sum(n.op in PAIRING and kept[n.inputs[0]] == kept[n.inputs[1]] for n in program.nodes)


def _unlike(one: object, other: object) -> bool:
    return type(one) is not type(other) or one != other


def _differs(shorter: Execution, i: int, longer: Execution, j: int) -> bool:
    return _unlike(shorter.values[i], longer.values[j])
