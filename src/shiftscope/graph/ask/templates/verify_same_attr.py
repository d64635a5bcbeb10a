"""Whether two things are alike: "Do the pillow on a bed and the pillow on a couch have the same color?".

The root has an attribute of a kind that a thing has one value of; the second thing is described by what a
distractor holds instead. Each description fits one thing in all images.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...related import Distractor
from ...subgraph import Thing, root_attribute
from .._dice import Dice
from .._nouns import is_person
from ..context import Case
from ..draft import Context, Draft, Kind, two_answers
from ..say import one as the
from ..say import sayable

KIND: Kind = "true/false"


def propose(case: Case) -> Iterator[Draft]:
    node, family = root_attribute(case.subgraph), case.family
    if node is None or not family:
        return
    dice = case.dice("verify_same_attr")
    thing = case.subgraph.without_attribute()
    for second in dice.order([*case.but((node,)), *case.also(node, (node,))]):
        other = second.subgraph.without_attribute()
        if sayable(case.said(other)) and not is_person(case.word(other.name)):
            break
    else:
        return
    contexts = two_answers(_contexts(case, thing, other, (second, node), family, dice))
    if not contexts:
        return
    making = case.making()
    left = making.put("query", making.one(thing), words=(family,))
    making.put("equal", left, making.put("query", making.one(other), words=(family,)))
    first, last = case.said(thing), case.said(other)
    yield Draft(
        template="verify_same_attr",
        text=f"Do {the(first)} and {the(last)} have the same {family}?",
        program=making.program(),
        slots=(("thing", first), ("other", last), ("family", family)),
        about=(case.subgraph, second.subgraph),
        contexts=contexts,
    )


def _contexts(
    case: Case, thing: Thing, other: Thing, where: tuple[Distractor, int], family: str, dice: Dice
) -> Iterator[Context]:
    near, node = where
    own = [*case.with_it, *(one.graph for one in case.only(node))]
    firsts = [(g, v) for g in own if (v := _told(case, thing, other, g, family))]
    held = (near.graph, *case.holding(other, near.distance))
    lasts = [(g, v) for g in held if (v := _told(case, other, thing, g, family))]
    for alike in dice.order([True, False]):
        for first, last in dice.order(list(product(firsts, lasts))):
            if (first[1] == last[1]) == alike:
                graphs = case.around([first[0], last[0]], case.others, [thing, other], dice)
                yield Context(graphs, alike)
                break


def _told(case: Case, thing: Thing, absent: Thing, graph: int, family: str) -> str:
    """The value of the one thing described in an image; "" where there is no such one."""
    found = case.things(thing, graph)
    if not case.alone(thing, graph) or case.count(absent, graph) or not case.apart(absent, graph):
        return ""
    return case.value(found[0], family)
