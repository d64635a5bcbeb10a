"""COVR's steps, which both of its notations are made of, and the program they stand for, types checked.

Where a closed schema has no names, the noun of a thing is its shape.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ....schema import Schema
from ...op import BOOL, GROUPS, IMAGES, INT, OBJECT, OBJECTS, VALUE, Type, fits
from ...program import Node, Notes, Program, ProgramBuilder, ProgramError, node


class CovrStep(NamedTuple):
    """One step of either notation."""

    kind: str  # one of KINDS
    inputs: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    sub: tuple["CovrStep", ...] = ()
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
    builder = _CovrProgramBuilder(mend)
    values: list[int] = []
    for step in steps:
        values.append(builder.append_step(step, builder.resolve_inputs(step, values, steps)))
    return builder.build()


class _CovrProgramBuilder(ProgramBuilder):
    """Steps become nodes, their types checked."""

    def __init__(self, mend: bool) -> None:
        super().__init__()
        self.mend = mend
        self.single: dict[int, int] = {}  # a set's node → the node of its only member

    def resolve_inputs(self, step: CovrStep, values: list[int], steps: Sequence[CovrStep]) -> tuple[int, ...]:
        """The nodes that a step reads, given those of the steps before it."""
        given = [_infer_output_type(steps[i]) for i in step.inputs]
        wanted = KINDS[step.kind][0]
        fewest = most = len(wanted)
        if step.kind in COMPARISONS:
            fewest = most = most - len(step.words)
        elif "default" in dict(step.notes) or step.kind in ("with_relation", "with_relation_object"):
            fewest = 1
        if not fewest <= len(given) <= most:
            number = f"{fewest} or {most}" if fewest != most else str(most or "no")
            raise ProgramError(
                f"{step.where}: expected {number} {'dependency' if number == '1' else 'dependencies'}, got {len(given)}"
            )
        found = []
        for k, (i, type_, options) in enumerate(zip(step.inputs, given, wanted, strict=False)):
            at = values[i]
            if self.mend and type_ == OBJECTS and options == (OBJECT,):
                if at not in self.single:
                    self.single[at] = self.put("unique", at, notes=IMPLICIT)
                at = self.single[at]
            elif not any(fits(type_, option) for option in options):
                said = " or ".join(map(str, options))
                raise ProgramError(f"{step.where}: expected {said} as dependency {k + 1}, got {type_}")
            found.append(at)
        if step.kind in COMPARISONS:  # a number with a name, or the values of two attributes, are not compared
            left, right = (*given, *([INT] * len(step.words)))
            if left != right:
                raise ProgramError(f"{step.where}: cannot compare {left} with {right}")
        return tuple(found)

    def append_step(self, step: CovrStep, inputs: tuple[int, ...]) -> int:
        kind, words, notes = step.kind, step.words, step.notes
        match kind:
            case "scene":
                return self.put("scene", notes=notes)
            case "find":
                return self.append_union([("find", (), (name,)) for name in words], notes)
            case "filter":
                pairs = zip(words[::2], words[1::2], strict=True)
                return self.append_union([("filter", inputs, pair) for pair in pairs], notes)
            case "with_relation" | "with_relation_object":
                subject = kind == "with_relation"
                first = inputs[0]  # of one set, the other is the scene
                second = inputs[1] if len(inputs) == 2 else self.put("scene", notes=IMPLICIT)
                among, to, role = (first, second, "subject") if subject else (second, first, "object")
                return self.put("intersect", among, self.put("related", to, words=(words[0], role)), notes=notes)
            case "unique" | "assert_unique":
                return self.put("unique", *inputs, notes=(*notes, ("said", kind)))
            case "keep":
                return self.put("keep", *inputs, words=(COMPARISONS[words[0]], words[1]), notes=notes)
            case "choose_relation":
                return self.put("choose_relation", *inputs, words=(*words, "object"), notes=notes)
            case "all_same":
                return self.put("alike", *inputs, *inputs, words=words, notes=notes)
            case "and" | "or" if len(inputs) == 1:  # only where what is left out is False
                zero = self.put("number", words=("0",), notes=IMPLICIT)
                return self.put(kind, *inputs, self.put("less", zero, zero, notes=IMPLICIT), notes=notes)
        if kind in COMPARISONS:
            numbers = [self.put("number", words=(word,)) for word in words]
            return self.put(COMPARISONS[kind], *inputs, *numbers, notes=notes)
        if kind in QUANTIFIERS:
            return self.put(kind, *inputs, self.append_body(step), notes=notes)
        return self.put(OPS[kind], *inputs, words=words, notes=notes)

    def append_union(self, calls: list[tuple[str, tuple[int, ...], tuple[str, ...]]], notes: Notes) -> int:
        """What any of the calls gives."""
        found = -1
        for k, (op, inputs, words) in enumerate(calls):
            last = notes if k == len(calls) - 1 else ()
            one = self.put(op, *inputs, words=words, notes=last if k == 0 else ())
            found = one if k == 0 else self.put("union", found, one, notes=last)
        return found

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
        it = -1
        for i, step in enumerate(sub):
            if i in chain and step.kind == "scene":
                it = self.put("it", notes=step.notes)
                values.append(it)
                continue
            inputs = self.resolve_inputs(step, values, sub)
            at = _find_carried_input(step)
            if i == start and at is not None:  # the chain does not begin with the scene
                begin = self.put("intersect", self.put("it"), inputs[at])
                inputs = (*inputs[:at], begin, *inputs[at + 1 :])
            if i == len(sub) - 1 and step.kind == "filter" and inputs == (it,) and len(step.words) == 2:
                return self.put("verify", *inputs, words=step.words, notes=step.notes)
            values.append(self.append_step(step, inputs))
        given = _infer_output_type(sub[-1])
        if not fits(given, OBJECTS):
            raise ProgramError(f"{quantifier.where}: expected a sub-program that gives Objects, got {given}")
        return self.put("exist", values[-1] if chain else self.put("intersect", self.put("it"), values[-1]))


def _find_carried_input(step: CovrStep) -> int | None:
    """Which input of a step is the set that it picks from."""
    if step.kind == "with_relation_object":
        return 1 if len(step.inputs) == 2 else None
    return 0 if step.kind in ("filter", "with_relation") else None


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


def spell_out_names(steps: Sequence[CovrStep], schema: Schema | None) -> list[CovrStep]:
    """The steps in which a find lists every name that the schema says it accepts: `dog`, `puppy`.

    To COVR's executor a name is that name alone.
    """
    if schema is None:
        return list(steps)
    members = _map_names(schema)

    def spell_out(step: CovrStep) -> CovrStep:
        if step.kind == "find" and not members.keys().isdisjoint(step.words):
            every = (name for word in step.words for name in (word, *members.get(word, ())))
            return step._replace(words=tuple(dict.fromkeys(every)))
        return step._replace(sub=tuple(map(spell_out, step.sub))) if step.sub else step

    return list(map(spell_out, steps))


@lru_cache(maxsize=8)
def _map_names(schema: Schema) -> dict[str, tuple[str, ...]]:
    """For each noun that contains others, these."""
    noun = find_noun_attribute(schema) or NAME
    return {kind: members for a in schema.attributes if a.name == noun for kind, members in a.kinds}


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
