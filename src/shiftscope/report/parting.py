"""Parting: the step of a program at which a wrong answer leaves the true one.

Between two examples it is the first node whose values differ. For a model that says nothing but its answer
the step can not be seen; what can be said is which single step, left out, would give just that answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..answer import Answer, same_answer
from ..lang.exec.exact import execute
from ..lang.program import Node, Program, ProgramError
from ..lang.trace import lines
from ..lang.world import World
from .markup import Child, Html, tag

DROPPABLE = ("filter", "exclude", "relate", "same")  # steps that narrow or move a set of objects


@dataclass(frozen=True, slots=True)
class Parting:
    """A node of a program and what is to be said of it."""

    node: int
    why: str


def left_out(program: Program, world: World, answer: Answer) -> tuple[int, ...]:
    """The nodes of which each, left out alone, makes the program give this answer."""
    found = []
    for i, n in enumerate(program.nodes):
        if n.op not in DROPPABLE or len(n.inputs) != 1:
            continue
        said = _answer_without(program, world, i)
        if said is not None and same_answer(said, answer):
            found.append(i)
    return tuple(found)


def _answer_without(program: Program, world: World, dropped: int) -> Answer | None:
    """What comes out when a step hands on its input; nothing where the rest is then ill-founded."""
    into = program.nodes[dropped].inputs[0]

    def moved(j: int) -> int:
        return into if j == dropped else j - (j > dropped)

    nodes = tuple(
        Node(n.op, tuple(map(moved, n.inputs)), n.params) for i, n in enumerate(program.nodes) if i != dropped
    )
    try:
        said = execute(Program(nodes), world).answer
    except ProgramError:
        return None
    return said if isinstance(said, bool | int | str) else None


def first_difference(one: Sequence[Any], other: Sequence[Any]) -> int | None:
    """The first node whose values differ, in traces of programs of the same length."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)


def tree(program: Program, world: World | None, partings: Iterable[Parting] = ()) -> Html:
    """The program as an indented list with the value of every node, the partings marked and explained."""
    marked: Mapping[int, str] = {p.node: p.why for p in partings}
    execution = execute(program, world) if world is not None else None
    items: list[Child] = []
    for line in lines(program, execution, world):
        why = marked.get(line.node)
        items.append(
            tag(
                "li",
                tag("span", line.text, class_="code"),
                tag("span", line.value, class_="value"),
                tag("span", why, class_="why") if why else None,
                class_="parts" if why else None,
                style=f"--depth:{line.depth}",
            )
        )
    return tag("ul", items, class_="tree")
