"""How the relations of a program hang together: two on one thing, a chain of them, one with a modifier."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ...lang.program import Node
from .facts import NARROWING, QUANTIFIERS, Facts

SAME_THINGS = (
    *NARROWING,
    "unique",
    "intersect",
    "union",
)  # what they give is what their first input is about


class Edge(NamedTuple):
    """One thing in a relation to another; things are numbered by a node that gives them."""

    subject: int
    target: int
    relation: str


def shapes(facts: Facts) -> Iterator[str]:
    """`rm`, `v` and `c`, as far as the program has them.

    A modifier is a relation of its own, whose name begins with the one it modifies: "uncorking with".
    """
    edges = relations(facts)
    leaving: dict[int, list[str]] = defaultdict(list)
    for edge in edges:
        leaving[edge.subject].append(edge.relation)
    for words in leaving.values():
        plain = [w for w in words if not any(w.startswith(f"{other} ") for other in words)]
        if len(plain) < len(words):
            yield "rm"
        if len(plain) > 1:
            yield "v"
    if any(edge.target in leaving and edge.target != edge.subject for edge in edges):
        yield "c"


def relations(facts: Facts) -> list[Edge]:
    """The relations that the program speaks of, between the things that it speaks of."""
    nodes = facts.nodes
    things = _Things(len(nodes))
    edges = []
    for i, n in enumerate(nodes):
        if n.op in SAME_THINGS:
            for j in n.inputs if n.op == "intersect" else n.inputs[:1]:
                things.join(i, j)
        elif n.op in QUANTIFIERS:
            for j in _bound(facts, n):
                things.join(j, n.inputs[0])
        elif n.op == "relate":
            edges.append(Edge(i, n.inputs[0], n.params[0]))
        elif n.op == "related":
            edges.append(_directed(i, n.inputs[0], n.params[0], n.params[1]))
        elif n.op == "choose_relation":
            edges.append(_directed(n.inputs[1], n.inputs[0], n.params[0], n.params[2]))
    return [Edge(things.of(e.subject), things.of(e.target), e.relation) for e in edges]


def _directed(one: int, other: int, relation: str, role: str) -> Edge:
    """The edge between two nodes, the first of which plays the role."""
    return Edge(one, other, relation) if role == "subject" else Edge(other, one, relation)


def _bound(facts: Facts, quantifier: Node) -> list[int]:
    return [j for j in facts.below(quantifier.inputs[1]) if facts.nodes[j].op == "it"]


class _Things:
    """Nodes that are about the same things, joined."""

    def __init__(self, size: int) -> None:
        self._first: list[int] = list(range(size))

    def of(self, i: int) -> int:
        while self._first[i] != i:
            i = self._first[i]
        return i

    def join(self, i: int, j: int) -> None:
        low, high = sorted((self.of(i), self.of(j)))
        self._first[high] = low
