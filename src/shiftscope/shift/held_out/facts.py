"""Facts: what a question's program says and how its relations connect, computed once for all properties."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b

from ...errors import UserError
from ...lang.check import plan_program
from ...lang.op import OBJECTS, get_op
from ...lang.program import Node, Program
from ...question import Question

NOUN_ATTRIBUTES = ("name", "shape")  # attributes that say what a thing is, not how it is
NAME_PARAMS = ("name", "value", "relation", "this", "that")  # words of an op that name a node of a scene graph
QUANTIFIERS = ("all", "some", "none")
RELATION_OPS = ("related", "relate")
FILTER_OPS = ("filter", "exclude")

Instances = frozenset[str]


def to_snake_case(text: str) -> str:
    """One spelling for names: `HAS-QUANT`, `Has quant` and `has_quant` are the same."""
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


class ProgramFacts:
    """A question as properties see it."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._instances: dict[str, Instances] = {}

    def find_instances(self, family: str, find: Callable[["ProgramFacts"], Iterator[str]]) -> Instances:
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

    def is_same(self, i: int, j: int) -> bool:
        """Whether two nodes say the same, wherever they stand."""
        a, b = self.nodes[i], self.nodes[j]
        alike = (a.op, a.params, len(a.inputs)) == (b.op, b.params, len(b.inputs))
        return i == j or (alike and all(map(self.is_same, a.inputs, b.inputs)))

    @staticmethod
    def is_attribute_filter(n: Node) -> bool:
        """Whether it picks things by how they are, not by what they are."""
        return n.op in FILTER_OPS and n.params[0] not in NOUN_ATTRIBUTES

    @cached_property
    def names(self) -> Instances:
        """The names of objects, attributes and relations that the program says, and that a query asks for."""
        found: set[str] = set()
        for n in self.nodes:
            found |= _list_names(n.op, n.params)
        if self.program.root.op == "query" and self.question.answer is not None:
            found.add(to_snake_case(str(self.question.answer)))
        return frozenset(found)

    @cached_property
    def anonymous_program(self) -> str:
        """A mark of the program without its words and numbers: its operations and how they hang together.

        Nodes that are shared or repeated, or picked from all objects, are the same; so is a noun, whether it
        is found or filtered by, and filters in any order.
        """
        marks: list[str] = []
        chains: dict[int, tuple[str, list[str]]] = {}  # a filter → the mark of what is narrowed, and by what
        for n in self.nodes:
            inputs = [marks[j] for j in n.inputs]
            if n.op == "intersect" and ALL_OBJECTS in inputs:
                inputs.remove(ALL_OBJECTS)
                marks += inputs
            elif n.op == "filter":
                base, words = chains.get(n.inputs[0], (inputs[0], []))
                words = sorted([*words, _strip_words(n.op, n.params)], reverse=True)  # the noun comes first
                chains[len(marks)] = (base, words)
                mark = base
                for word in words:  # a noun by which all objects are filtered is found
                    found = mark == ALL_OBJECTS and word == f"filter/{NOUN_ATTRIBUTES[0]}"
                    mark = _hash_node("find", ()) if found else _hash_node(word, (mark,))
                marks.append(mark)
            else:
                marks.append(_hash_node(_strip_words(n.op, n.params), tuple(inputs)))
        return marks[-1]


MOST_KNOWN = 1 << 16  # nodes of programs repeat: what was found out about so many is remembered


@lru_cache(MOST_KNOWN)
def _list_names(op: str, params: tuple[str, ...]) -> Instances:
    known = get_op(op)
    words = params[1::2] if known.pairs else params
    kinds = ("value",) * len(words) if known.pairs else known.params
    return frozenset(to_snake_case(word) for word, kind in zip(words, kinds, strict=True) if kind in NAME_PARAMS)


@lru_cache(MOST_KNOWN)
def _hash_node(op: str, inputs: tuple[str, ...]) -> str:
    return blake2b(f"{op}({','.join(inputs)})".encode(), digest_size=16).hexdigest()


ALL_OBJECTS = _hash_node("scene", ())


@lru_cache(MOST_KNOWN)
def _strip_words(op: str, params: tuple[str, ...]) -> str:
    """An op with what is no word of it: how sizes compare, which side of a relation, a noun or not."""
    kept = []
    for word, kind in zip(params, get_op(op).params, strict=False):
        if kind in ("test", "role"):
            kept.append(word)
        elif kind == "attribute" and word in NOUN_ATTRIBUTES:
            kept.append(NOUN_ATTRIBUTES[0])
    return "/".join((op, *kept))


# How the relations of a program hang together: two on one thing, a chain of them, one with a modifier.

SAME_OBJECT_OPS = (*FILTER_OPS, "unique", "intersect", "union")  # what they give is what their first input is about


RelationEdge = tuple[int, int, str]  # subject, target, relation; things are numbered by a node that gives them


def find_structures(facts: ProgramFacts) -> Iterator[str]:
    """`rm`, `v` and `c`, as far as the program has them.

    A modifier is a relation of its own, whose name begins with the one it modifies: "uncorking with".
    """
    edges = list_relations(facts)
    leaving: dict[int, list[str]] = defaultdict(list)
    for subject, _, relation in edges:
        leaving[subject].append(relation)
    for words in leaving.values():
        plain = [w for w in words if not any(w.startswith(f"{other} ") for other in words)]
        if len(plain) < len(words):
            yield "rm"
        if len(plain) > 1:
            yield "v"
    if any(target in leaving and target != subject for subject, target, _ in edges):
        yield "c"


def list_relations(facts: ProgramFacts) -> list[RelationEdge]:
    """The relations that the program speaks of, between the things that it speaks of."""
    nodes = facts.nodes
    first = list(range(len(nodes)))  # node → an earlier one about the same things, or itself

    def find_group(i: int) -> int:
        while first[i] != i:
            i = first[i]
        return i

    def merge(i: int, j: int) -> None:
        low, high = sorted((find_group(i), find_group(j)))
        first[high] = low

    edges: list[RelationEdge] = []
    for i, n in enumerate(nodes):
        if n.op in SAME_OBJECT_OPS:
            for j in n.inputs if n.op == "intersect" else n.inputs[:1]:
                merge(i, j)
        elif n.op in QUANTIFIERS:
            for j in facts.program.find_reachable(n.inputs[1]):
                if nodes[j].op == "it":
                    merge(j, n.inputs[0])
        elif n.op == "relate":
            edges.append((i, n.inputs[0], n.params[0]))
        elif n.op in ("related", "choose_relation"):
            one, other = (i, n.inputs[0]) if n.op == "related" else (n.inputs[1], n.inputs[0])
            edges.append((one, other, n.params[0]) if n.params[-1] == "subject" else (other, one, n.params[0]))
    return [(find_group(subject), find_group(target), relation) for subject, target, relation in edges]


# The four kinds of question over several images that tests are made from, by their programs.
#
#     count_group_by          count(keys(keep(group(…), exactly, 2)))      how many images have exactly 2 …
#     verify_count_group_by   at_least(count(keys(keep(…))), 1)            there is at least 1 image with …
#     verify_count            at_least(count(…), 2)                        there are at least 2 …
#     verify_quant            all(…, …), some(…, …), none(…, …)            no … are …
#
# Programs decide, not template names, so that questions of any suite or official file work.

COUNT_GROUP_BY, VERIFY_COUNT_GROUP_BY = "count_group_by", "verify_count_group_by"
VERIFY_COUNT, VERIFY_QUANT = "verify_count", "verify_quant"
COMPARISONS = ("equal", "at_least", "at_most", "less", "greater")


@dataclass(frozen=True, slots=True)
class QuestionShape:
    """What kind of question it is, and the nodes that a change is about."""

    kind: str
    test: str = ""  # the comparison or quantifier, of the outermost node that has one
    number: int | None = None  # what is compared with
    counted: int = -1  # the node of the objects that are counted, in each image or in all
    keep: int = -1  # the node that keeps images by a number


def find_shape(program: Program | None) -> QuestionShape | None:
    """The shape of a question's program; None where it is none of the four kinds."""
    if program is None:
        return None
    nodes, root = program.nodes, program.root
    if root.op in QUANTIFIERS:
        return QuestionShape(VERIFY_QUANT, root.op, None, root.inputs[0])
    if root.op == "count":
        inner = _find_image_shape(program, len(nodes) - 1)
        if inner is None:
            return None
        kept = nodes[inner.keep] if inner.keep >= 0 else None
        test, number = (kept.params[0], int(kept.params[1])) if kept else ("at_least", 1)
        return QuestionShape(COUNT_GROUP_BY, test, number, inner.counted, inner.keep)
    if root.op not in COMPARISONS:
        return None
    left, right = (nodes[i] for i in root.inputs)
    if left.op != "count" or right.op != "number":
        return None
    number = int(right.params[0])
    inner = _find_image_shape(program, root.inputs[0])
    if inner is not None:
        return QuestionShape(VERIFY_COUNT_GROUP_BY, root.op, number, inner.counted, inner.keep)
    if plan_program(program).types[left.inputs[0]] != OBJECTS:
        return None
    return QuestionShape(VERIFY_COUNT, root.op, number, left.inputs[0])


def _find_image_shape(program: Program, count: int) -> QuestionShape | None:
    """What a `count` of images counts: the objects that they must hold, and the node that keeps images."""
    nodes = program.nodes
    at = nodes[count].inputs[0]
    keep = -1
    while nodes[at].op in ("keys", "keep"):
        if nodes[at].op == "keep":
            if keep >= 0:
                return None
            keep = at
        at = nodes[at].inputs[0]
    return QuestionShape("", "", None, nodes[at].inputs[0], keep) if nodes[at].op in ("group", "images") else None


def truncate_program(program: Program, k: int) -> Program:
    """The program up to node k."""
    return Program(program.nodes[: k + 1])
