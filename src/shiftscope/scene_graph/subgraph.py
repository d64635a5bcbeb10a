"""Subgraph: a piece of a scene graph as a tree, "standing man uncorking a bottle with a corkscrew".

A subgraph is its root thing: what it is called, at most one attribute, at most two relations to further
things; a relation may carry modifiers. Relations and modifiers stand in one order, so equal trees are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ..english.relations import parse_relation
from ..records import pickle_by_fields

NodeKind = Literal["object", "attribute", "relation", "modifier"]
NODE_KINDS: tuple[NodeKind, ...] = ("object", "attribute", "relation", "modifier")
MOST_RELATIONS = 2  # of one thing
DEEPEST = 2  # relations on a path from the root


class SubgraphNode(NamedTuple):
    """One named node; a subgraph's nodes are numbered as `nodes` lists them."""

    kind: NodeKind
    name: str


class SubgraphShape(NamedTuple):
    """What makes a subgraph more than one thing with at most one plain relation."""

    two_relations: bool  # some thing has two: a V
    chain: bool  # a related thing has a relation of its own
    modifier: bool

    def __bool__(self) -> bool:
        return any(self)


@dataclass(frozen=True, slots=True)
class RelationModifier:
    """What a relation says besides its object: *with* a corkscrew."""

    name: str
    thing: ObjectNode


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class SubgraphLink:
    """A relation from the thing that holds it to another."""

    relation: str
    thing: ObjectNode
    modifiers: tuple[RelationModifier, ...] = ()
    size: int = field(init=False, compare=False, repr=False)  # nodes: itself and all that hangs on it
    mark: int = field(init=False, compare=False, repr=False)  # its hash: a thing is looked up often

    def __post_init__(self) -> None:
        if len(self.modifiers) > 1:
            object.__setattr__(self, "modifiers", tuple(sorted(self.modifiers, key=_modifier_key)))
        size = 1 + self.thing.size + sum([1 + one.thing.size for one in self.modifiers])
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "mark", hash((self.relation, self.thing, self.modifiers)))

    def __hash__(self) -> int:
        return self.mark

    @property
    def things(self) -> tuple[ObjectNode, ...]:
        """What it leads to, and what its modifiers do."""
        return self.thing, *(modifier.thing for modifier in self.modifiers)


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class ObjectNode:
    """An object node and all that hangs on it."""

    name: str
    attribute: str = ""
    relations: tuple[SubgraphLink, ...] = ()
    size: int = field(init=False, compare=False, repr=False)  # how many nodes there are, of all kinds
    mark: int = field(init=False, compare=False, repr=False)  # its hash

    def __post_init__(self) -> None:
        if len(self.relations) > 1:
            object.__setattr__(self, "relations", tuple(sorted(self.relations, key=_link_key)))
        size = 1 + bool(self.attribute) + sum([link.size for link in self.relations])
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "mark", hash((self.name, self.attribute, self.relations)))

    def __hash__(self) -> int:
        return self.mark

    @property
    def depth(self) -> int:
        """Most relations on a path from here to a leaf."""
        return max((1 + t.depth for link in self.relations for t in link.things), default=0)

    @property
    def shape(self) -> SubgraphShape:
        relations = [thing.relations for thing in self.things()]
        modified = any(link.modifiers for links in relations for link in links)
        return SubgraphShape(any(len(links) > 1 for links in relations), self.depth > 1, modified)

    @property
    def key(self) -> tuple[object, ...]:
        """Sorts subgraphs the same way everywhere: small ones first."""
        return self.size, _thing_key(self)

    def things(self) -> Iterator[ObjectNode]:
        """All object nodes, this one first."""
        yield self
        for link in self.relations:
            for thing in link.things:
                yield from thing.things()

    def nodes(self) -> tuple[SubgraphNode, ...]:
        """A thing, its attribute, then each relation with its thing's nodes and its modifiers with theirs."""
        found = [SubgraphNode("object", self.name)]
        if self.attribute:
            found.append(SubgraphNode("attribute", self.attribute))
        for link in self.relations:
            found.append(SubgraphNode("relation", link.relation))
            found += link.thing.nodes()
            for modifier in link.modifiers:
                found.append(SubgraphNode("modifier", modifier.name))
                found += modifier.thing.nodes()
        return tuple(found)

    def replace_nodes(self, names: Mapping[int, str]) -> ObjectNode:
        """The same tree with other names for the nodes of these numbers; its nodes may be ordered anew."""
        if unknown := [k for k in names if not 0 <= k < self.size]:
            raise ValueError(f"no node {unknown[0]} in {self}")
        return _replace_nodes(self, names, 0)[0]

    def drop_attribute(self) -> ObjectNode:
        return ObjectNode(self.name, "", self.relations)

    def drop_relation(self, number: int) -> ObjectNode:
        """The same, less the root's relation of that number and all that hangs on it."""
        return ObjectNode(self.name, self.attribute, self.relations[:number] + self.relations[number + 1 :])

    def __str__(self) -> str:
        phrase = f"{self.attribute} {self.name}" if self.attribute else self.name
        links = []
        for link in self.relations:
            target = f"({link.thing})" if link.thing.relations else str(link.thing)
            links.append(" ".join([link.relation, target, *(f"{m.name} {m.thing}" for m in link.modifiers)]))
        return f"{phrase} {' and '.join(links)}" if links else phrase


Subgraph = ObjectNode


def root_attribute(subgraph: Subgraph) -> int | None:
    return 1 if subgraph.attribute else None


def root_relations(subgraph: Subgraph) -> tuple[int, ...]:
    """The numbers of the root's relation nodes; each one's thing has the next number."""
    at, found = 2 if subgraph.attribute else 1, []
    for link in subgraph.relations:
        found.append(at)
        at += link.size
    return tuple(found)


def _replace_nodes(thing: ObjectNode, names: Mapping[int, str], at: int) -> tuple[ObjectNode, int]:
    """The thing with new names, and the number after its last node."""
    end = at + thing.size
    if not any(at <= k < end for k in names):
        return thing, end
    name = names.get(at, thing.name)
    at += 1
    attribute = thing.attribute
    if attribute:
        attribute = names.get(at, attribute)
        at += 1
    links = []
    for link in thing.relations:
        relation = names.get(at, link.relation)
        target, at = _replace_nodes(link.thing, names, at + 1)
        modifiers = []
        for modifier in link.modifiers:
            word = names.get(at, modifier.name)
            other, at = _replace_nodes(modifier.thing, names, at + 1)
            modifiers.append(RelationModifier(word, other))
        links.append(SubgraphLink(relation, target, tuple(modifiers)))
    return ObjectNode(name, attribute, tuple(links)), at


def _thing_key(thing: ObjectNode) -> tuple[object, ...]:
    return thing.name, thing.attribute, tuple(_link_key(link) for link in thing.relations)


def _link_key(link: SubgraphLink) -> tuple[object, ...]:
    return link.relation, _thing_key(link.thing), tuple(_modifier_key(m) for m in link.modifiers)


def _modifier_key(modifier: RelationModifier) -> tuple[object, ...]:
    return modifier.name, _thing_key(modifier.thing)


# Which nodes of a subgraph a question asks about, and what is left of it to refer by.


class SubgraphBranch(NamedTuple):
    """One relation of the root, or one modifier: the rest of the subgraph, and the numbers of its nodes."""

    link: SubgraphLink
    rest: ObjectNode
    nodes: range  # the relation or modifier, its thing, …

    @property
    def relation(self) -> int:
        return self.nodes[0]

    @property
    def thing(self) -> int:
        return self.nodes[1]


def has_part(link: SubgraphLink) -> bool:
    """Whether the relation says that something is a part: of its many parts a graph names one or two.

    That the others are not named does not mean that it lacks them, or that one may ask for "the" part.
    """
    predicate = parse_relation(link.relation)
    return predicate is not None and predicate.verb == "have"


def is_to_plain_thing(link: SubgraphLink) -> bool:
    """Whether one can ask for the thing by its name: nothing else describes it, and it is the only one.

    Of parts and of clothes there are many, of which a graph names one or two.
    """
    predicate = parse_relation(link.relation)
    many = has_part(link) or (predicate is not None and predicate.rest.startswith("wearing"))
    return not link.modifiers and link.thing.size == 1 and not many


def is_relation_mentioned(thing: ObjectNode, link: SubgraphLink) -> bool:
    """Whether the description already gives the thing that relation: it would give the answer away."""
    return any(one.relation == link.relation for one in thing.relations)


@lru_cache(maxsize=64)
def split_branches(subgraph: Subgraph) -> tuple[SubgraphBranch, ...]:
    starts = (*root_relations(subgraph), subgraph.size)
    numbers = (range(start, end) for start, end in pairwise(starts))
    return tuple(SubgraphBranch(subgraph.relations[k], subgraph.drop_relation(k), n) for k, n in enumerate(numbers))


def split_modifiers(subgraph: Subgraph) -> Iterator[SubgraphBranch]:
    """The modifiers of the root's relations one by one; a branch's link has just that one."""
    for k, start in enumerate(root_relations(subgraph)):
        link = subgraph.relations[k]
        at = start + 1 + link.thing.size
        for modifier in link.modifiers:
            others = tuple(one for one in link.modifiers if one is not modifier)
            rest = (*subgraph.drop_relation(k).relations, replace(link, modifiers=others))
            end = at + 1 + modifier.thing.size
            one = replace(link, modifiers=(modifier,))
            yield SubgraphBranch(one, replace(subgraph, relations=rest), range(at, end))
            at = end
