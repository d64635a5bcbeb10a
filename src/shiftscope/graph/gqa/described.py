"""Described: how a program says which things it means: a name, words, and what they stand in relation to."""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.dialects._gqa_steps import IMPLICIT
from ...lang.program import Node, Notes, Program, node

ANYTHING = ""  # the name where none is said


@dataclass(frozen=True, slots=True)
class Word:
    """A value that a thing has, or has not."""

    attribute: str
    value: str
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A relation to another thing; `subject` says that the thing described is the relation's subject.

    With `alike`, `relation` is an attribute in which the two are the same.
    """

    relation: str
    other: Described
    subject: bool = True
    alike: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """Things by name, words and relation."""

    name: str = ANYTHING
    words: tuple[Word, ...] = ()
    link: Link | None = None

    def names(self) -> frozenset[str]:
        """All names that are said."""
        return frozenset({self.name}) | (self.link.other.names() if self.link else frozenset())


def described(program: Program, at: int) -> Described | None:
    """How the set at a node is described; None where it is not by one name and at most one relation."""
    n = program.nodes[at]
    match n.op:
        case "scene":
            return Described()
        case "find":
            return Described(n.params[0])
        case "unique":
            return described(program, n.inputs[0])
        case "related" | "relate" | "same":
            other = described(program, n.inputs[0])
            if other is None:
                return None
            subject = n.op == "relate" or n.params[1:] in ((), ("subject",))
            return Described(link=Link(n.params[0], other, subject, n.op == "same"))
        case "filter" | "exclude":
            inside = described(program, n.inputs[0])
            attribute, value = n.params
            if inside is None or (attribute == "name" and (inside.name or n.op == "exclude")):
                return None
            if attribute == "name":
                return Described(value, inside.words, inside.link)
            word = Word(attribute, value, n.op == "exclude")
            return Described(inside.name, (*inside.words, word), inside.link)
    return None


class Making:
    """A program in the making; every method gives the number of the node it put last."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def put(self, op: str, *inputs: int, words: tuple[str, ...] = (), notes: Notes = ()) -> int:
        self.nodes.append(node(op, inputs, words, notes))
        return len(self.nodes) - 1

    def set(self, thing: Described) -> int:
        """The things described."""
        link = thing.link
        if link is None:
            at = self.put("find", words=(thing.name,)) if thing.name else self.put("scene")
        else:
            other = self.one(link.other) if link.alike else self.set(link.other)
            role = () if link.alike else ("subject" if link.subject else "object",)
            at = self.put("same" if link.alike else "related", other, words=(link.relation, *role))
            at = self.put("filter", at, words=("name", thing.name)) if thing.name else at
        for word in thing.words:
            at = self.put("exclude" if word.denied else "filter", at, words=(word.attribute, word.value))
        return at

    def one(self, thing: Described) -> int:
        """The only one that fits the description."""
        return self.put("unique", self.set(thing), notes=IMPLICIT)

    def program(self) -> Program:
        return Program(tuple(self.nodes))
