"""Program tree: a program as steps, each set with the words that describe it, and what they give away.

Filters are folded into the set they narrow, so that an element (a word, or a relation) is dropped or added in place.
Relations that are added lead to things described in full; `write_program` spells them out.

"More cubes than red cubes?" has its answer in its words. Dropping or adding a word must not make such a
question out of an honest one: `gives_itself_away` tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ....lang.check import plan_program
from ....lang.op import OBJECTS, PARTS
from ....lang.program import Node, Program, node
from ....schema import Schema
from ..compiled_templates import OPPOSITE

FILTERS = frozenset(("filter", "exclude"))
RELATIONS = frozenset(("relate", "related"))


class FilterWord(NamedTuple):
    op: str
    attribute: str
    value: str


FullDescription = tuple[tuple[str, str], ...]  # every attribute of a thing, with its value


class TreeStep:
    """An op that is no filter; where it gives a set, the words that narrow it and the relations added to it."""

    __slots__ = ("above", "inputs", "on_parts", "op", "params", "relations", "root", "several", "value", "words")

    def __init__(self, op: str, params: tuple[str, ...], inputs: list[TreeStep], root: Any) -> None:
        self.op, self.params, self.inputs = op, params, inputs
        self.words: list[FilterWord] = []
        self.relations: list[tuple[str, int]] = []  # that were added: a relation and the thing it leads to
        self.root: Any = root  # what the op gives
        self.value: Any = root  # what the words leave of it
        self.above: TreeStep | None = None  # the step that reads this one; None for the last, or if several do
        self.several = self.on_parts = False  # whether it gives a set; of parts
        for below in inputs:
            below.above = self

    @property
    def is_half(self) -> bool:
        """Whether it is half of a description: what stands both left of one thing and behind another."""
        return self.above is not None and self.above.op == "intersect"

    @property
    def is_subject(self) -> bool:
        """Whether the set is what the question is about: counted, or tested for existence."""
        above = self.above
        while above is not None and above.op in ("union", "intersect"):
            above = above.above
        return above is not None and above.op in ("count", "exist")

    def words_imply_member(self, schema: Schema) -> bool:
        """Whether the question mentions one of the set: A and all that A is right of, if B is right of A, left of B."""
        if self.op != "relate":
            return False
        said, back = _list_described_values(self), OPPOSITE.get(self.params[0])
        described = self.inputs[0].inputs[0]
        while described.op == "relate" and described.params[0] == back:
            described = described.inputs[0].inputs[0]
            if _covers(said, _list_described_values(described), schema):
                return True
        return False

    def list_readers(self) -> Iterator[TreeStep]:
        """The step that reads this one, the step that reads that, and so on."""
        above = self.above
        while above is not None:
            yield above
            above = above.above


def build_tree(program: Program, values: Sequence[Any]) -> TreeStep:
    """The last step of a program, `values` one per node; a tree of its own, to be changed at will."""
    types = plan_program(program).types
    uses = [0] * len(values)
    for n in program.nodes:
        for i in n.inputs:
            uses[i] += 1
    made: list[TreeStep] = []
    for n, value, kind in zip(program.nodes, values, types, strict=True):
        if n.op in FILTERS and uses[n.inputs[0]] == 1:
            step = made[n.inputs[0]]
            step.words.append(FilterWord(n.op, n.params[0], n.params[1]))
            step.value = value
        else:
            step = TreeStep(n.op, n.params, [made[i] for i in n.inputs], value)
            step.several = kind in (OBJECTS, PARTS)
            step.on_parts = kind == PARTS
        made.append(step)
    for step, count in zip(made, uses, strict=True):
        if count > 1:
            step.above = None
    return made[-1]


def write_program(last: TreeStep, things: Mapping[int, FullDescription]) -> Program:
    """The program of a tree: first what finds the things that added relations lead to, each once, then depth first.

    `things` are their descriptions.
    """
    nodes: list[Node] = []
    found: dict[int, int] = {}
    for step in list_steps(last):
        for _, thing in step.relations:
            if thing not in found:
                nodes.extend(_write_description(things[thing], len(nodes)))
                found[thing] = len(nodes) - 1
    placed: dict[TreeStep, int] = {}
    append = nodes.append

    def place(step: TreeStep) -> int:
        at = placed.get(step, -1)
        if at >= 0:
            return at
        if step.op != "scene" or not step.relations:
            inputs = tuple([place(s) for s in step.inputs])
            nodes.append(node(step.op, inputs, step.params))
            at = len(nodes) - 1
        end = len(nodes)
        for relation, thing in step.relations:
            append(_write_relation(found[thing], relation))
            if at >= 0:
                append(_write_intersection(at, end))
                end += 1
            at, end = end, end + 1
        for op, attribute, value in step.words:
            append(node(op, (at,), (attribute, value)))
            at, end = end, end + 1
        placed[step] = at
        return at

    place(last)
    return Program(tuple(nodes))


@lru_cache(maxsize=10_000)
def _write_description(thing: FullDescription, at: int) -> tuple[Node, ...]:
    """The nodes that find a thing, from node `at` on."""
    return (
        node("scene"),
        *[node("filter", (at + i,), pair) for i, pair in enumerate(thing)],
        node("unique", (at + len(thing),)),
    )


@lru_cache(maxsize=10_000)
def _write_relation(at: int, relation: str) -> Node:
    return node("relate", (at,), (relation,))


@lru_cache(maxsize=100_000)
def _write_intersection(left: int, right: int) -> Node:
    return node("intersect", (left, right))


def list_steps(last: TreeStep, cut: frozenset[int] = frozenset()) -> list[TreeStep]:
    """All steps, from the answer down, what is read first before what is read second; none below those in `cut`."""
    found: list[TreeStep] = []
    todo = [last]
    while todo:
        step = todo.pop()
        found.append(step)
        if step.inputs and id(step) not in cut:
            todo += step.inputs[::-1]
    return found


# What the words alone give away: of "how many cubes are left of the cube?", when there is but one, or of "is any cube
# left of the ball that is right of the cube?", the answer.

DescribedValues = dict[str, str]  # attribute → the word that everything in a set fits
COMPARED = frozenset(("less", "greater", "equal"))


def list_suspects(last: TreeStep) -> list[TreeStep]:
    """The steps by which a question may give itself away: they compare sets, find nothing, or ask if any."""
    return select_suspects(list_steps(last))


def select_suspects(steps: list[TreeStep]) -> list[TreeStep]:
    """Those of a tree's steps by which it may give itself away."""
    return [s for s in steps if (s.several and not s.value and not s.is_half) or _compares_sets(s) or _finds_any(s)]


def gives_itself_away(
    suspected: list[TreeStep], schema: Schema, things: Mapping[int, FullDescription] | None = None
) -> bool:
    """Whether the words alone tell that a set is empty or is not, or that one of two holds the other.

    `things` are the descriptions of what added relations lead to.
    """
    for step in suspected:
        if _finds_any(step) and step.inputs[0].words_imply_member(schema):
            return True
        if _compares_sets(step):
            one, two = (s.inputs[0] if s.op == "count" else s for s in step.inputs)
            if _is_within(one, two, schema) or _is_within(two, one, schema):
                return True
        if step.several and not step.value:
            said = _list_described_values(step)
            left_out = [_list_described_values(thing) for thing in _list_left_out(step)]
            left_out += [dict((things or {})[i]) for _, i in step.relations]
            if any(_covers(thing, said, schema) for thing in left_out):
                return True
    return False


def list_referents(step: TreeStep, referents: Iterable[TreeStep]) -> list[DescribedValues]:
    """The words of the things that a question singles out, if the set is counted or looked for and must not be one.

    Where things are the same in something, "other" tells them apart.
    """
    if not step.is_subject or step.op == "same":
        return []
    return [said for said in map(_list_described_values, referents) if said]


def names_any(step: TreeStep, referents: Iterable[DescribedValues], schema: Schema) -> bool:
    """Whether the set has all the words of one of these."""
    said = _list_described_values(step)
    return any(_covers(words, said, schema) for words in referents)


def _compares_sets(step: TreeStep) -> bool:
    """Whether it joins two sets or compares how many they are."""
    return step.op == "union" or (step.op in COMPARED and step.inputs[0].op == "count")


def _finds_any(step: TreeStep) -> bool:
    """Whether it asks if there is any, and there is."""
    return step.op == "exist" and bool(step.inputs[0].value)


def _is_within(inner: TreeStep, outer: TreeStep, schema: Schema) -> bool:
    """Whether all of the inner set is in the outer, whatever the scene."""
    if not _covers(_list_described_values(outer), _list_described_values(inner), schema):
        return False
    if not set(outer.relations) <= set(inner.relations):
        return False
    if outer.op == "scene":
        return True
    alike = outer.op in RELATIONS and (outer.op, outer.params) == (inner.op, inner.params)
    return alike and outer.inputs[0].value == inner.inputs[0].value


def _list_described_values(step: TreeStep) -> DescribedValues:
    if step.op == "unique":
        return _list_described_values(step.inputs[0])
    said: DescribedValues = {}
    if step.op == "intersect":
        said = {**_list_described_values(step.inputs[0]), **_list_described_values(step.inputs[1])}
    elif step.op == "same":
        of_one = _list_described_values(step.inputs[0])
        said = {step.params[0]: of_one[step.params[0]]} if step.params[0] in of_one else {}
    for word in step.words:
        if word.op == "filter":
            said[word.attribute] = word.value
    return said


def _list_left_out(step: TreeStep) -> list[TreeStep]:
    """The sets of one, each all that fits its words, whose thing the step never gives."""
    if step.op in ("relate", "same"):
        thing = step.inputs[0]
        described = thing.inputs[0] if thing.op == "unique" else thing
        return [described] if described.op == "scene" else []
    if step.op == "intersect":
        return _list_left_out(step.inputs[0]) + _list_left_out(step.inputs[1])
    return []


def _covers(broad: DescribedValues, narrow: DescribedValues, schema: Schema) -> bool:
    for attribute, word in broad.items():
        other = narrow.get(attribute)
        if other is None:
            return False
        if other != word and not expand_word(schema, attribute, other) <= expand_word(schema, attribute, word):
            return False
    return True


@lru_cache(maxsize=4096)
def expand_word(schema: Schema, attribute: str, word: str) -> frozenset[str]:
    """The values that a word stands for: a kind for several, a value for itself."""
    for a in schema.attributes:
        if a.name == attribute:
            return frozenset(dict(a.kinds).get(word, (word,)))
    return frozenset((word,))
