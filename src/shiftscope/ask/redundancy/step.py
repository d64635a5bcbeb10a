"""Step: a program read as a tree in which a set carries the words that describe it.

Filters are folded into the set they narrow, so that an element (a word, or a relation) is dropped or added in
place. `read` makes a tree of its own, to be changed at will; `write` gives the program back. Any program that
is a tree of plain ops can be read; what it is worded like is no concern here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...lang.check import Plan, plan_of
from ...lang.exec.exact import execute
from ...lang.program import Node, Program, node
from ...lang.types import OBJECTS, PARTS
from ...lang.world import World

FILTERS = frozenset(("filter", "exclude"))
RELATIONS = frozenset(("relate", "related"))


class Word(NamedTuple):
    """One filter of a set."""

    op: str
    attribute: str
    value: str


class Step:
    """An op that is no filter; where it gives a set, the words that narrow it."""

    __slots__ = ("above", "added", "inputs", "on_parts", "op", "params", "root", "several", "value", "words")

    def __init__(self, op: str, params: tuple[str, ...], inputs: list[Step], root: Any) -> None:
        self.op, self.params, self.inputs = op, params, inputs
        self.words: list[Word] = []
        self.root: Any = root  # what the op gives
        self.value: Any = root  # what the words leave of it
        self.above: Step | None = None  # the step that reads this one; None for the last, or if several do
        self.several = self.on_parts = False  # whether it gives a set; of parts
        self.added = False  # whether it only serves a relation that was added
        for below in inputs:
            below.above = self

    @property
    def loose(self) -> bool:
        """Whether it is half of a description: what stands both left of one thing and behind another."""
        return self.above is not None and self.above.op == "intersect"


def read(program: Program, world: World) -> Step | None:
    """The last step; None where the program has sub-programs, edits, or no answer on this world."""
    plan = plan_of(program)
    run = execute(program, world)
    return steps_of(program, run.values, plan) if plan.straight and run.defined else None


def steps_of(program: Program, values: Sequence[Any], plan: Plan | None = None) -> Step:
    """The last step of a program, `values` being one a node."""
    types = (plan or plan_of(program)).types
    uses = [0] * len(values)
    for n in program.nodes:
        for i in n.inputs:
            uses[i] += 1
    made: list[Step] = []
    for n, value, kind in zip(program.nodes, values, types, strict=True):
        if n.op in FILTERS and uses[n.inputs[0]] == 1:
            step = made[n.inputs[0]]
            step.words.append(Word(n.op, n.params[0], n.params[1]))
            step.value = value
        else:
            step = Step(n.op, n.params, [made[i] for i in n.inputs], value)
            step.several = kind in (OBJECTS, PARTS)
            step.on_parts = kind == PARTS
        made.append(step)
    for step, count in zip(made, uses, strict=True):
        if count > 1:
            step.above = None
    return made[-1]


def write(last: Step) -> Program:
    """The program of the tree, depth first."""
    nodes: list[Node] = []
    placed: dict[int, int] = {}

    def place(step: Step) -> int:
        if id(step) not in placed:
            at = [place(s) for s in step.inputs]
            nodes.append(node(step.op, tuple(at), step.params))
            for word in step.words:
                nodes.append(node(word.op, (len(nodes) - 1,), (word.attribute, word.value)))
            placed[id(step)] = len(nodes) - 1
        return placed[id(step)]

    place(last)
    return Program(tuple(nodes))


def steps(last: Step) -> list[Step]:
    """All steps, from the answer down, what is read first before what is read second."""
    found: list[Step] = []
    todo = [last]
    while todo:
        step = todo.pop()
        found.append(step)
        if step.inputs:
            todo += step.inputs[::-1]
    return found


def hops(step: Step) -> int:
    """How many relations lie between the step and the answer, its own not counted."""
    found = 0
    above = step.above
    while above is not None:
        found += above.op in RELATIONS
        above = above.above
    return found


def is_subject(step: Step) -> bool:
    """Whether the set is what the question is about: counted, or asked for whether there is any."""
    above = step.above
    while above is not None and above.op in ("union", "intersect"):
        above = above.above
    return above is not None and above.op in ("count", "exist")
