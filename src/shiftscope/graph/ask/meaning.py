"""Meaning: what a subgraph describes as nodes of a program, in words that both COVR notations have.

    white sink below towel  →  intersect(filter(find(sink), attribute=white), related(find(towel), below))

A modified relation is one more relation of its own, called by both words: "uncorking with". Where a schema
has no names, things are told by their shape: filter(scene(), shape=sedan).
"""

from __future__ import annotations

from ...lang.program import Node, Program, node
from ...scene import FREE
from ...schema import Schema
from ..pack import noun_of
from ..subgraph import Link, Modifier, Subgraph, Thing


def found(subgraph: Subgraph, schema: Schema) -> tuple[Node, ...]:
    """Nodes that give all objects, of all images, that the subgraph describes; the last one is their set."""
    making = Making(schema)
    making.found(subgraph)
    return tuple(making.nodes)


def modified(link: Link, modifier: Modifier) -> str:
    """What scenes call the relation to a modifier's thing."""
    return f"{link.relation} {modifier.name}"


class Making:
    """A program in the making; every method gives the number of the node it put last."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.noun = schema, noun_of(schema)
        self.nodes: list[Node] = []

    def put(self, op: str, *inputs: int, words: tuple[str, ...] = ()) -> int:
        self.nodes.append(node(op, inputs, words))
        return len(self.nodes) - 1

    def program(self) -> Program:
        return Program(tuple(self.nodes))

    def called(self, name: str) -> int:
        """All things of a name."""
        if self.noun == "name":
            return self.put("find", words=(name,))
        return self.put("filter", self.put("scene"), words=(self.noun, name))

    def attribute(self, value: str) -> str:
        """The attribute that a value is filtered by; any in an open vocabulary."""
        return FREE if not self.schema.closed else self.schema.attribute_of(value) or FREE

    def found(self, thing: Thing) -> int:
        """All things that the subgraph describes."""
        at = self.called(thing.name)
        if thing.attribute:
            at = self.put("filter", at, words=(self.attribute(thing.attribute), thing.attribute))
        for link in thing.relations:
            at = self.related(at, link)
        return at

    def related(self, among: int, link: Link) -> int:
        """Those among a set that are in the relation, and in each of its modified ones."""
        to = self.put("related", self.found(link.thing), words=(link.relation, "subject"))
        at = self.put("intersect", among, to)
        for modifier in link.modifiers:
            to = self.put("related", self.found(modifier.thing), words=(modified(link, modifier), "subject"))
            at = self.put("intersect", at, to)
        return at

    def one(self, thing: Thing) -> int:
        """The only thing that the subgraph describes."""
        return self.put("unique", self.found(thing))

    def number(self, number: int) -> int:
        return self.put("number", words=(str(number),))
