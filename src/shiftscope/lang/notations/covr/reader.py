"""COVR's steps, which both of its notations are made of, and the program they stand for, types checked.

Where a closed schema has no names, the noun of a thing is its shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ....schema import Schema
from ...program import Node, Notes, Program, ProgramError, node
from ...types import BOOL, GROUPS, IMAGES, INT, OBJECT, OBJECTS, VALUE, Type, fits


class CovrStep(NamedTuple):
    """One step of either notation."""

    kind: str  # one of KINDS
    inputs: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    sub: tuple[CovrStep, ...] = ()
    notes: Notes = ()
    where: str = ""  # how an error names it


COMPARISONS = {"eq": "equal", "gt": "greater", "lt": "less", "geq": "at_least", "leq": "at_most"}
QUANTIFIERS = ("all", "some", "none")
IMPLICIT: Notes = (("implicit", "1"),)  # of a node that the notation leaves unsaid
_SETS = (OBJECTS, IMAGES, GROUPS)

Inputs = tuple[tuple[Type, ...], ...]  # for each input the types it may have
KINDS: dict[str, tuple[Inputs, Type]] = {
    "scene": ((), OBJECTS),
    "find": ((), OBJECTS),  # words: names, any of which will do
    "filter": (((OBJECTS,),), OBJECTS),  # words: attribute, value, attribute, value, …; any will do
    "with_relation": (((OBJECTS,), (OBJECTS,)), OBJECTS),  # the second left out: to whatever
    "with_relation_object": (((OBJECTS,), (OBJECTS,)), OBJECTS),
    "unique": (((OBJECTS,),), OBJECT),
    "assert_unique": (((OBJECTS,),), OBJECTS),
    "unique_images": (((OBJECTS,),), IMAGES),
    "group_by_images": (((OBJECTS,),), GROUPS),
    "keep": (((GROUPS,),), GROUPS),  # words: comparison, number
    "keys": (((GROUPS,),), IMAGES),
    "count": ((_SETS,), INT),
    "exists": ((_SETS,), BOOL),
    **dict.fromkeys(COMPARISONS, (((INT,), (INT,)), BOOL)),  # words: the inputs that are numbers
    "eq": (((INT, VALUE, OBJECT), (INT, VALUE, OBJECT)), BOOL),
    "and": (((BOOL,), (BOOL,)), BOOL),
    "or": (((BOOL,), (BOOL,)), BOOL),
    "not": (((BOOL,),), BOOL),
    "query": (((OBJECT,),), VALUE),  # words: attribute
    "verify": (((OBJECT,),), BOOL),  # words: attribute, value
    "choose": (((OBJECT,),), VALUE),  # words: attribute, this, that
    "choose_relation": (((OBJECT,), (OBJECTS,)), Type("Value", "relation")),  # words: this, that
    **dict.fromkeys(QUANTIFIERS, (((OBJECTS,),), BOOL)),
    "all_same": (((OBJECTS,),), BOOL),  # words: attribute
    "query_common_attribute": (((OBJECT,), (OBJECT,)), Type("Value", "attribute")),
}
OPS = {  # kinds that are one node, input for input
    "unique_images": "images",
    "group_by_images": "group",
    "query_common_attribute": "common",
    "exists": "exist",
    **{kind: kind for kind in ("keys", "count", "and", "or", "not", "query", "verify", "choose")},
}


def build_program(steps: Sequence[CovrStep], *, mend: bool = False) -> Program:
    """The program that the steps say; `mend` puts in `unique` where one object is wanted."""
    maker = _CovrProgramBuilder(mend)
    maker.append_steps(steps)
    return Program(tuple(maker.nodes))


class _CovrProgramBuilder:
    """Steps become nodes, their types checked."""

    def __init__(self, mend: bool) -> None:
        self.nodes: list[Node] = []
        self.mend = mend
        self.single: dict[int, int] = {}  # a set's node → the node of its only member

    def append_node(self, op: str, inputs: tuple[int, ...] = (), words: Sequence[str] = (), notes: Notes = ()) -> int:
        self.nodes.append(node(op, inputs, tuple(words), notes))
        return len(self.nodes) - 1

    def append_steps(self, steps: Sequence[CovrStep]) -> None:
        values: list[int] = []
        types: list[Type] = []
        for step in steps:
            values.append(self.append_step(step, self.resolve_inputs(step, values, types)))
            types.append(_infer_output_type(step))

    def resolve_inputs(self, step: CovrStep, values: list[int], types: list[Type]) -> tuple[int, ...]:
        """The nodes that a step reads."""
        given = [types[i] for i in step.inputs]
        wanted = KINDS[step.kind][0]
        fewest, most = _count_inputs(step, len(wanted))
        if not fewest <= len(given) <= most:
            raise ProgramError(f"{step.where}: expected {_format_count(fewest, most)}, got {len(given)}")
        found = []
        for k, (i, type_, options) in enumerate(zip(step.inputs, given, wanted, strict=False)):
            single = self.mend and type_ == OBJECTS and options == (OBJECT,)
            if not single and not any(fits(type_, option) for option in options):
                said = " or ".join(map(str, options))
                raise ProgramError(f"{step.where}: expected {said} as dependency {k + 1}, got {type_}")
            found.append(self.add_unique(values[i]) if single else values[i])
        if step.kind in COMPARISONS:
            _check_alike(step, given)
        return tuple(found)

    def add_unique(self, among: int) -> int:
        if among not in self.single:
            self.single[among] = self.append_node("unique", (among,), (), IMPLICIT)
        return self.single[among]

    def append_step(self, step: CovrStep, inputs: tuple[int, ...]) -> int:
        kind, words, notes = step.kind, step.words, step.notes
        match kind:
            case "scene":
                return self.append_node("scene", (), (), notes)
            case "find":
                return self.append_union([("find", (), (name,)) for name in words], notes)
            case "filter":
                return self.append_filter(inputs[0], step)
            case "with_relation":
                return self.append_related(inputs[0], inputs[1] if len(inputs) == 2 else None, step)
            case "with_relation_object":
                among = inputs[1] if len(inputs) == 2 else self.append_node("scene", (), (), IMPLICIT)
                return self.append_related(among, inputs[0], step)
            case "unique" | "assert_unique":
                return self.append_node("unique", inputs, (), (*notes, ("said", kind)))
            case "keep":
                return self.append_node("keep", inputs, (COMPARISONS[words[0]], words[1]), notes)
            case "choose_relation":
                return self.append_node("choose_relation", inputs, (*words, "object"), notes)
            case "all_same":
                return self.append_node("alike", inputs * 2, words, notes)
            case "and" | "or" if len(inputs) == 1:  # only where what is left out is False
                zero = self.append_node("number", (), ("0",), IMPLICIT)
                return self.append_node(
                    kind, (*inputs, self.append_node("less", (zero, zero), (), IMPLICIT)), (), notes
                )
        if kind in COMPARISONS:
            numbers = tuple([self.append_node("number", (), (word,)) for word in words])
            return self.append_node(COMPARISONS[kind], inputs + numbers, (), notes)
        if kind in QUANTIFIERS:
            return self.append_node(kind, (*inputs, self.append_body(step)), (), notes)
        return self.append_node(OPS[kind], inputs, words, notes)

    def append_union(self, calls: list[tuple[str, tuple[int, ...], tuple[str, ...]]], notes: Notes) -> int:
        """What any of the calls gives."""
        first, *others = calls
        found = self.append_node(*first, notes if not others else ())
        for k, call in enumerate(others):
            found = self.append_node(
                "union", (found, self.append_node(*call)), (), notes if k == len(others) - 1 else ()
            )
        return found

    def append_filter(self, among: int, step: CovrStep) -> int:
        pairs = list(zip(step.words[::2], step.words[1::2], strict=True))
        return self.append_union([("filter", (among,), pair) for pair in pairs], step.notes)

    def append_related(self, among: int, to: int | None, step: CovrStep) -> int:
        """Those among the first that are in the relation to, or with `_object` that it leads to."""
        if to is None:
            to = self.append_node("scene", (), (), IMPLICIT)
        role = "object" if step.kind == "with_relation_object" else "subject"
        found = self.append_node("related", (to,), (step.words[0], role))
        return self.append_node("intersect", (among, found), (), step.notes)

    def append_body(self, quantifier: CovrStep) -> int:
        """The truth about `it()` that a sub-program says.

        Whether an object is among what a chain of filters leaves of the scene is whether the chain leaves it.
        """
        sub = quantifier.sub
        uses = Counter(i for step in sub for i in step.inputs)
        unread = next((step for i, step in enumerate(sub[:-1]) if not uses[i]), None)
        if unread is not None:
            raise ProgramError(f"{unread.where}: nothing reads it")
        chain, start = _find_chain(sub, uses)
        values: list[int] = []
        types: list[Type] = []
        it = -1
        for i, step in enumerate(sub):
            if i in chain and step.kind == "scene":
                it = self.append_node("it", (), (), step.notes)
                values.append(it)
            else:
                inputs = self.resolve_inputs(step, values, types)
                if i == start:  # the chain does not begin with the scene
                    inputs = self.start_from_it(step, inputs)
                if i == len(sub) - 1 and step.kind == "filter" and inputs == (it,) and len(step.words) == 2:
                    return self.append_node("verify", inputs, step.words, step.notes)
                values.append(self.append_step(step, inputs))
            types.append(_infer_output_type(step))
        if not fits(types[-1], OBJECTS):
            raise ProgramError(f"{quantifier.where}: expected a sub-program that gives Objects, got {types[-1]}")
        if not chain:
            return self.append_node("exist", (self.append_node("intersect", (self.append_node("it"), values[-1])),))
        return self.append_node("exist", (values[-1],))

    def start_from_it(self, step: CovrStep, inputs: tuple[int, ...]) -> tuple[int, ...]:
        at = _find_carried_input(step)
        if at is None:
            return inputs
        it = self.append_node("intersect", (self.append_node("it"), inputs[at]))
        return (*inputs[:at], it, *inputs[at + 1 :])


def _find_carried_input(step: CovrStep) -> int | None:
    """Which input of a step is the set that it picks from."""
    match step.kind:
        case "filter" | "with_relation":
            return 0
        case "with_relation_object" if len(step.inputs) == 2:
            return 1
    return None


def _find_chain(sub: Sequence[CovrStep], uses: Counter[int]) -> tuple[set[int], int]:
    """The steps that pick ever fewer from one set, ending in the last; the first, where that is not scene."""
    chain: set[int] = set()
    at = len(sub) - 1
    start = -1
    while True:
        step = sub[at]
        if uses[at] <= 1 and step.kind == "scene":
            return chain | {at}, -1
        carried = _find_carried_input(step)
        if uses[at] > 1 or carried is None or carried >= len(step.inputs):
            return chain, start
        chain.add(at)
        start = at
        at = step.inputs[carried]


def _infer_output_type(step: CovrStep) -> Type:
    found = KINDS[step.kind][1]
    return Type("Value", step.words[0]) if found == VALUE else found


def _count_inputs(step: CovrStep, inputs: int) -> tuple[int, int]:
    """The fewest and the most inputs that a step may have."""
    if step.kind in COMPARISONS:
        return inputs - len(step.words), inputs - len(step.words)
    if step.kind in ("with_relation", "with_relation_object"):
        return 1, inputs
    if step.kind in ("and", "or") and dict(step.notes).get("default"):
        return 1, inputs
    return inputs, inputs


def _format_count(fewest: int, most: int) -> str:
    if fewest != most:
        return f"{fewest} or {most} dependencies"
    return "1 dependency" if most == 1 else f"{most or 'no'} dependencies"


def _check_alike(step: CovrStep, given: list[Type]) -> None:
    """Refuse to compare a number with a name, or the values of two attributes."""
    both = [*given, *([INT] * len(step.words))]
    if len(both) == 2 and both[0] != both[1]:
        raise ProgramError(f"{step.where}: cannot compare {both[0]} with {both[1]}")


# What COVR calls a name (`find biplane`, `query_name`) is the shape where solids have no names.

NAME, SHAPE = "name", "shape"


def find_noun_attribute(schema: Schema | None) -> str:
    """The attribute of a closed schema that says what a thing is, where it is not `name`; else nothing."""
    known = [a.name for a in schema.attributes] if schema is not None and schema.closed else []
    return SHAPE if SHAPE in known and NAME not in known else ""


def replace_nouns_by_names(program: Program, schema: Schema | None) -> Program:
    """The program with its nouns as names, so far as COVR can say a name: where things are first found.

    A noun comes before the other words of a chain of filters, which mean the same in any order.
    """
    noun = find_noun_attribute(schema)
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


def replace_names_by_nouns(program: Program, schema: Schema | None) -> Program:
    """The program with its names as the nouns of the schema; undoes `replace_nouns_by_names`."""
    noun = find_noun_attribute(schema)
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
