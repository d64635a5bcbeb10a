"""Nouns: what COVR calls a name (`find biplane`, `query_name`) is the shape where solids have no names."""

from __future__ import annotations

from collections import Counter

from ...schema import Schema
from ..program import Node, Notes, Program, node

NAME, SHAPE = "name", "shape"


def noun_of(schema: Schema | None) -> str:
    """The attribute of a closed schema that says what a thing is, where it is not `name`; else nothing."""
    known = [a.name for a in schema.attributes] if schema is not None and schema.closed else []
    return SHAPE if SHAPE in known and NAME not in known else ""


def said(program: Program, schema: Schema | None) -> Program:
    """The program with its nouns as names, so far as COVR can say a name: where things are first found.

    A noun comes before the other words of a chain of filters, which mean the same in any order.
    """
    noun = noun_of(schema)
    if not noun:
        return program
    nodes = program.nodes
    uses = Counter(j for n in nodes for j in n.inputs)
    words: list[tuple[tuple[str, ...], Notes]] = [(n.params, n.notes) for n in nodes]
    for i, n in enumerate(nodes):
        if n.op == "filter" and n.params[0] == noun:
            at, before = i, n.inputs[0]
            while nodes[before].op == "filter" and uses[before] == 1 and words[before][0][0] != noun:
                words[at], words[before] = words[before], words[at]
                at, before = before, nodes[before].inputs[0]
            if nodes[before].op in ("scene", "related"):
                words[at] = (NAME, words[at][0][1]), words[at][1]
        elif n.params[:1] == (noun,) and (n.op == "choose" or (n.op == "query" and i == len(nodes) - 1)):
            words[i] = (NAME, *n.params[1:]), n.notes
    return Program(tuple(node(n.op, n.inputs, *words[i]) for i, n in enumerate(nodes)))


def meant(program: Program, schema: Schema | None) -> Program:
    """The program with its names as the nouns of the schema; undoes `said`."""
    noun = noun_of(schema)
    if not noun:
        return program
    made: list[Node] = []
    place: list[int] = []  # node → where it is now
    for n in program.nodes:
        inputs = tuple(place[j] for j in n.inputs)
        if n.op == "find":
            made.append(node("scene"))
            made.append(node("filter", (len(made) - 1,), (noun, *n.params), n.notes))
        elif n.op in ("filter", "query", "choose") and n.params[0] == NAME:
            made.append(node(n.op, inputs, (noun, *n.params[1:]), n.notes))
        else:
            made.append(node(n.op, inputs, n.params, n.notes))
        place.append(len(made) - 1)
    return Program(tuple(made))
