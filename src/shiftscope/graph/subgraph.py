"""Subgraph: a piece of a scene graph as a tree, "standing man uncorking a bottle with a corkscrew".

A subgraph is its root thing: what it is called, at most one attribute, at most two relations to further
things; a relation may carry modifiers. Relations and modifiers stand in one order, so equal trees are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..record import light

Kind = Literal["object", "attribute", "relation", "modifier"]
KINDS: tuple[Kind, ...] = ("object", "attribute", "relation", "modifier")
MOST_RELATIONS = 2  # of one thing
DEEPEST = 2  # relations on a path from the root


class Node(NamedTuple):
    """One named node; a subgraph's nodes are numbered as `nodes` lists them."""

    kind: Kind
    name: str


class Shape(NamedTuple):
    """What makes a subgraph more than one thing with at most one plain relation."""

    two_relations: bool  # some thing has two: a V
    chain: bool  # a related thing has a relation of its own
    modifier: bool

    def __bool__(self) -> bool:
        return any(self)


@dataclass(frozen=True, slots=True)
class Modifier:
    """What a relation says besides its object: *with* a corkscrew."""

    name: str
    thing: Thing


@light
@dataclass(frozen=True, slots=True)
class Link:
    """A relation from the thing that holds it to another."""

    relation: str
    thing: Thing
    modifiers: tuple[Modifier, ...] = ()
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


@light
@dataclass(frozen=True, slots=True)
class Thing:
    """An object node and all that hangs on it."""

    name: str
    attribute: str = ""
    relations: tuple[Link, ...] = ()
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
        inside = [d for link in self.relations for d in (t.depth for t in _below(link))]
        return 1 + max(inside) if inside else 0

    @property
    def shape(self) -> Shape:
        things = tuple(self.things())
        return Shape(
            any(len(t.relations) > 1 for t in things),
            self.depth > 1,
            any(link.modifiers for t in things for link in t.relations),
        )

    @property
    def key(self) -> tuple[object, ...]:
        """Sorts subgraphs the same way everywhere: small ones first."""
        return self.size, _thing_key(self)

    def things(self) -> Iterator[Thing]:
        """All object nodes, this one first."""
        yield self
        for link in self.relations:
            for thing in _below(link):
                yield from thing.things()

    def nodes(self) -> tuple[Node, ...]:
        """A thing, its attribute, then each relation with its thing's nodes and its modifiers with theirs."""
        found = [Node("object", self.name)]
        if self.attribute:
            found.append(Node("attribute", self.attribute))
        for link in self.relations:
            found.append(Node("relation", link.relation))
            found += link.thing.nodes()
            for modifier in link.modifiers:
                found.append(Node("modifier", modifier.name))
                found += modifier.thing.nodes()
        return tuple(found)

    def replaced(self, names: Mapping[int, str]) -> Thing:
        """The same tree with other names for the nodes of these numbers; its nodes may be ordered anew."""
        if unknown := [k for k in names if not 0 <= k < self.size]:
            raise ValueError(f"no node {unknown[0]} in {self}")
        return _replaced(self, names, 0)[0]

    def without_attribute(self) -> Thing:
        """The same, less the root's attribute."""
        return Thing(self.name, "", self.relations)

    def without_relation(self, number: int) -> Thing:
        """The same, less the root's relation of that number and all that hangs on it."""
        return Thing(self.name, self.attribute, self.relations[:number] + self.relations[number + 1 :])

    def __str__(self) -> str:
        said = f"{self.attribute} {self.name}" if self.attribute else self.name
        links = " and ".join(map(_said, self.relations))
        return f"{said} {links}" if links else said


Subgraph = Thing


def well_formed(subgraph: Subgraph) -> bool:
    """Whether it keeps the rules: few relations a thing, few on a path, and every node has a name."""
    return (
        subgraph.depth <= DEEPEST
        and all(len(t.relations) <= MOST_RELATIONS for t in subgraph.things())
        and all(node.name for node in subgraph.nodes())
    )


def root_attribute(subgraph: Subgraph) -> int | None:
    """The number of the root's attribute node."""
    return 1 if subgraph.attribute else None


def root_relations(subgraph: Subgraph) -> tuple[int, ...]:
    """The numbers of the root's relation nodes; each one's thing has the next number."""
    at, found = 2 if subgraph.attribute else 1, []
    for link in subgraph.relations:
        found.append(at)
        at += link.size
    return tuple(found)


def _below(link: Link) -> Iterator[Thing]:
    yield link.thing
    for modifier in link.modifiers:
        yield modifier.thing


def _replaced(thing: Thing, names: Mapping[int, str], at: int) -> tuple[Thing, int]:
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
        target, at = _replaced(link.thing, names, at + 1)
        modifiers = []
        for modifier in link.modifiers:
            word = names.get(at, modifier.name)
            other, at = _replaced(modifier.thing, names, at + 1)
            modifiers.append(Modifier(word, other))
        links.append(Link(relation, target, tuple(modifiers)))
    return Thing(name, attribute, tuple(links)), at


def _thing_key(thing: Thing) -> tuple[object, ...]:
    return thing.name, thing.attribute, tuple(_link_key(link) for link in thing.relations)


def _link_key(link: Link) -> tuple[object, ...]:
    return link.relation, _thing_key(link.thing), tuple(_modifier_key(m) for m in link.modifiers)


def _modifier_key(modifier: Modifier) -> tuple[object, ...]:
    return modifier.name, _thing_key(modifier.thing)


def _said(link: Link) -> str:
    target = f"({link.thing})" if link.thing.relations else str(link.thing)
    return " ".join([link.relation, target, *(f"{m.name} {m.thing}" for m in link.modifiers)])
