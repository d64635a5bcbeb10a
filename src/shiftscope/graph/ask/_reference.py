"""Images in which a description refers to one thing alone, for questions about one of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from ..related import Distractor
from ..subgraph import Subgraph
from ._dice import Dice
from .context import Case


class Referred(NamedTuple):
    """Images in one of which the thing is, and what stands at the node there."""

    graphs: tuple[int, ...]
    value: str


class Choice(NamedTuple):
    """Another name for the node, and sets of images in which the answer is its own name, or the other."""

    other: str
    sets: tuple[Referred, ...]


def referred(case: Case, thing: Subgraph, node: int, asked: Collection[int], dice: Dice) -> list[Referred]:
    """Sets of images with one such thing: first as in the subgraph, then with something else at the node.

    `asked` are the nodes that the description leaves out. All other images are distractors that differ in the
    node and in the description: were they to differ in the node alone, the description would fit them too.
    """
    holders = case.single(thing, case.with_it)
    if not holders:
        return []
    far = case.also(node, asked)
    found = [Referred(case.around(holders[:1], far, [thing], dice), case.nodes[node].name)]
    for near in case.only(node):
        if case.alone(thing, near.graph):
            value = put_instead(near, node)
            rest = [*case.but(asked), *(one for one in far if put_instead(one, node) != value)]
            found.append(Referred(case.around([near.graph], rest, [thing], dice), value))
    return [one for one in found if len(one.graphs) > 1]


def choice(
    case: Case, thing: Subgraph, node: int, asked: Collection[int], dice: Dice, fits: Callable[[str], bool]
) -> Choice | None:
    """A name that fits beside the node's own; the images are as for `referred`, some with it.

    Preferred is a name that the thing itself has at the node in some image: then both answers can be had.
    """
    holders = case.single(thing, case.with_it)
    if not holders:
        return None
    own = case.nodes[node].name
    near: dict[str, list[int]] = {}
    for one in case.only(node):
        if case.alone(thing, one.graph) and fits(value := put_instead(one, node)):
            near.setdefault(value, []).append(one.graph)
    for other in dice.order(list(near)):
        graphs = case.around(holders[:1], case.beside(thing, node, other)[:2], [thing], dice)
        if len(graphs) > 1:
            first = Referred(case.around(graphs, case.also(node, asked), [thing], dice), own)
            rest = (Referred(case.around([g], case.but(asked), [thing], dice), other) for g in near[other])
            return Choice(other, (first, *(one for one in rest if len(one.graphs) > 1)))
    far = [one for one in case.also(node, asked) if not case.count(thing, one.graph)]
    for other in dice.order(list(dict.fromkeys(put_instead(one, node) for one in far))):
        if fits(other):
            return Choice(other, (Referred(case.around(holders[:1], far, [thing], dice), own),))
    return None


def put_instead(one: Distractor, node: int) -> str:
    """What stands at the node in a distractor; "" where the node is as it was."""
    return next((change.after for change in one.changes if change.node == node), "")
