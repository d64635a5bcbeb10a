"""Facts: what a question's program says, worked out once for all the properties that look at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b

from ...errors import UserError
from ...lang.op import get_op
from ...lang.program import Node, Program
from ...question import Question

NOUNS = ("name", "shape")  # attributes that say what a thing is, not how it is
NAMING = ("name", "value", "relation", "this", "that")  # words of an op that name a node of a scene graph
QUANTIFIERS = ("all", "some", "none")
RELATING = ("related", "relate")
NARROWING = ("filter", "exclude")

Instances = frozenset[str]


def snake(text: str) -> str:
    """One spelling for names: `HAS-QUANT`, `Has quant` and `has_quant` are the same."""
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


class Facts:
    """A question as properties see it."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._instances: dict[str, Instances] = {}

    def instances(self, family: str, find: Callable[[Facts], Iterator[str]]) -> Instances:
        """What a family of properties finds in the question; looked for once."""
        if family not in self._instances:
            self._instances[family] = frozenset(find(self))
        return self._instances[family]

    @cached_property
    def program(self) -> Program:
        if self.question.program is None:
            raise UserError(f"question {self.question.id!r} has no program, which the split has to look at")
        return self.question.program

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.program.nodes

    def below(self, i: int) -> set[int]:
        """The node and all that it is worked out from."""
        found: set[int] = set()
        todo = [i]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo.extend(self.nodes[at].inputs)
        return found

    def same(self, i: int, j: int) -> bool:
        """Whether two nodes say the same, wherever they stand."""
        a, b = self.nodes[i], self.nodes[j]
        alike = (a.op, a.params, len(a.inputs)) == (b.op, b.params, len(b.inputs))
        return i == j or (alike and all(map(self.same, a.inputs, b.inputs)))

    @cached_property
    def names(self) -> Instances:
        """The names of objects, attributes and relations that the program says, and that a query asks for."""
        found: set[str] = set()
        for n in self.nodes:
            op = get_op(n.op)
            words = n.params[1::2] if op.pairs else n.params
            kinds = ("value",) * len(words) if op.pairs else op.params
            found |= {snake(word) for word, kind in zip(words, kinds, strict=True) if kind in NAMING}
        if self.program.root.op == "query" and self.question.answer is not None:
            found.add(snake(str(self.question.answer)))
        return frozenset(found)

    @cached_property
    def anonymous(self) -> str:
        """A mark of the program without its words and numbers: its operations and how they hang together.

        Nodes that are shared or repeated, or picked from all objects, are the same; so is a noun, whether it
        is found or filtered by, and filters in any order.
        """
        marks: list[str] = []
        chains: dict[int, tuple[str, list[str]]] = {}  # a filter → the mark of what is narrowed, and by what
        for n in self.nodes:
            inputs = [marks[j] for j in n.inputs]
            if n.op == "intersect" and EVERYTHING in inputs:
                inputs.remove(EVERYTHING)
                marks += inputs
            elif n.op == "filter":
                base, words = chains.get(n.inputs[0], (inputs[0], []))
                chains[len(marks)] = base, sorted([*words, _bare(n)], reverse=True)  # the noun comes first
                marks.append(_narrowed(*chains[len(marks)]))
            else:
                marks.append(_mark(_bare(n), inputs))
        return marks[-1]


def _mark(op: str, inputs: Sequence[str]) -> str:
    return blake2b(f"{op}({','.join(inputs)})".encode(), digest_size=16).hexdigest()


EVERYTHING = _mark("scene", ())


def _narrowed(mark: str, filters: Sequence[str]) -> str:
    """The mark of a chain of filters; a noun by which all objects are filtered is found."""
    for word in filters:
        found = mark == EVERYTHING and word == f"filter/{NOUNS[0]}"
        mark = _mark("find", ()) if found else _mark(word, [mark])
    return mark


def _bare(n: Node) -> str:
    """An op with what is no word of it: how sizes compare, which side of a relation, a noun or not."""
    kept = []
    for word, kind in zip(n.params, get_op(n.op).params, strict=False):
        if kind in ("test", "role"):
            kept.append(word)
        elif kind == "attribute" and word in NOUNS:
            kept.append(NOUNS[0])
    return "/".join((n.op, *kept))
