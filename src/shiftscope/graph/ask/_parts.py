"""Which nodes of a subgraph a question asks about, and what is left of it to refer by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..subgraph import Link, Subgraph, Thing, root_relations
from ._relations import predicate


class Branch(NamedTuple):
    """One relation of the root, or one modifier: the rest of the subgraph, and the numbers of its nodes."""

    link: Link
    rest: Thing
    nodes: range  # the relation or modifier, its thing, …

    @property
    def relation(self) -> int:
        return self.nodes[0]

    @property
    def thing(self) -> int:
        return self.nodes[1]


def has_part(link: Link) -> bool:
    """Whether the relation says that something is a part: of its many parts a graph names one or two.

    That the others are not named does not mean that it lacks them, or that one may ask for "the" part.
    """
    said = predicate(link.relation)
    return said is not None and said.verb == "have"


def to_plain_thing(link: Link) -> bool:
    """Whether one can ask for the thing by its name: nothing else is said of it, and it is the only one.

    Of parts and of clothes there are many, of which a graph names one or two.
    """
    said = predicate(link.relation)
    many = has_part(link) or (said is not None and said.rest.startswith("wearing"))
    return not link.modifiers and link.thing.size == 1 and not many


def said_already(thing: Thing, link: Link) -> bool:
    """Whether the thing is said to be so related to something: that would be an answer."""
    return any(one.relation == link.relation for one in thing.relations)


@lru_cache(maxsize=64)
def branches(subgraph: Subgraph) -> tuple[Branch, ...]:
    """The root's relations one by one."""
    starts = (*root_relations(subgraph), subgraph.size)
    return tuple(
        Branch(subgraph.relations[k], subgraph.without_relation(k), range(start, end))
        for k, (start, end) in enumerate(pairwise(starts))
    )


def modifications(subgraph: Subgraph) -> Iterator[Branch]:
    """The modifiers of the root's relations one by one; a branch's link has just that one."""
    for k, start in enumerate(root_relations(subgraph)):
        link = subgraph.relations[k]
        at = start + 1 + link.thing.size
        for modifier in link.modifiers:
            others = tuple(one for one in link.modifiers if one is not modifier)
            rest = (*subgraph.without_relation(k).relations, replace(link, modifiers=others))
            end = at + 1 + modifier.thing.size
            yield Branch(
                replace(link, modifiers=(modifier,)), replace(subgraph, relations=rest), range(at, end)
            )
            at = end
