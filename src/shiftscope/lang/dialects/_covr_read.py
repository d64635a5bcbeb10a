"""The program that COVR's steps say, their types checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..program import Node, Notes, Program, ProgramError, node
from ..types import INT, OBJECT, OBJECTS, VALUE, Type, fits
from ._covr_steps import COMPARISONS, IMPLICIT, KINDS, OPS, QUANTIFIERS, Step


def program_of(steps: Sequence[Step], *, mend: bool = False) -> Program:
    """The program that the steps say; `mend` puts in `unique` where one object is wanted."""
    maker = _Maker(mend)
    maker.put_all(steps)
    return Program(tuple(maker.nodes))


class _Maker:
    """Steps become nodes, their types checked."""

    def __init__(self, mend: bool) -> None:
        self.nodes: list[Node] = []
        self.mend = mend
        self.single: dict[int, int] = {}  # a set's node → the node of its only member

    def put(self, op: str, inputs: tuple[int, ...] = (), words: Sequence[str] = (), notes: Notes = ()) -> int:
        self.nodes.append(node(op, inputs, tuple(words), notes))
        return len(self.nodes) - 1

    def put_all(self, steps: Sequence[Step]) -> None:
        values: list[int] = []
        types: list[Type] = []
        for step in steps:
            values.append(self.put_step(step, self.inputs(step, values, types)))
            types.append(_output(step))

    def inputs(self, step: Step, values: list[int], types: list[Type]) -> tuple[int, ...]:
        """The nodes that a step reads."""
        given = [types[i] for i in step.inputs]
        wanted = KINDS[step.kind][0]
        fewest, most = _how_many(step, len(wanted))
        if not fewest <= len(given) <= most:
            raise ProgramError(f"{step.where}: expected {_many(fewest, most)}, came {len(given)}")
        found = []
        for k, (i, type_, options) in enumerate(zip(step.inputs, given, wanted, strict=False)):
            single = self.mend and type_ == OBJECTS and options == (OBJECT,)
            if not single and not any(fits(type_, option) for option in options):
                said = " or ".join(map(str, options))
                raise ProgramError(f"{step.where}: expected {said} as dependency {k + 1}, came {type_}")
            found.append(self.one(values[i]) if single else values[i])
        if step.kind in COMPARISONS:
            _check_alike(step, given)
        return tuple(found)

    def one(self, among: int) -> int:
        if among not in self.single:
            self.single[among] = self.put("unique", (among,), (), IMPLICIT)
        return self.single[among]

    def put_step(self, step: Step, inputs: tuple[int, ...]) -> int:
        kind, words, notes = step.kind, step.words, step.notes
        match kind:
            case "scene":
                return self.put("scene", (), (), notes)
            case "find":
                return self.either([("find", (), (name,)) for name in words], notes)
            case "filter":
                return self.filtered(inputs[0], step)
            case "with_relation":
                return self.related(inputs[0], inputs[1] if len(inputs) == 2 else None, step)
            case "with_relation_object":
                among = inputs[1] if len(inputs) == 2 else self.put("scene", (), (), IMPLICIT)
                return self.related(among, inputs[0], step)
            case "unique" | "assert_unique":
                return self.put("unique", inputs, (), (*notes, ("said", kind)))
            case "keep":
                return self.put("keep", inputs, (COMPARISONS[words[0]], words[1]), notes)
            case "choose_relation":
                return self.put("choose_relation", inputs, (*words, "object"), notes)
            case "all_same":
                return self.put("alike", inputs * 2, words, notes)
            case "and" | "or" if len(inputs) == 1:  # only where what is left out is False
                zero = self.put("number", (), ("0",), IMPLICIT)
                return self.put(kind, (*inputs, self.put("less", (zero, zero), (), IMPLICIT)), (), notes)
        if kind in COMPARISONS:
            numbers = tuple([self.put("number", (), (word,)) for word in words])
            return self.put(COMPARISONS[kind], inputs + numbers, (), notes)
        if kind in QUANTIFIERS:
            return self.put(kind, (*inputs, self.body(step)), (), notes)
        return self.put(OPS[kind], inputs, words, notes)

    def either(self, calls: list[tuple[str, tuple[int, ...], tuple[str, ...]]], notes: Notes) -> int:
        """What any of the calls gives."""
        first, *others = calls
        found = self.put(*first, notes if not others else ())
        for k, call in enumerate(others):
            found = self.put("union", (found, self.put(*call)), (), notes if k == len(others) - 1 else ())
        return found

    def filtered(self, among: int, step: Step) -> int:
        pairs = list(zip(step.words[::2], step.words[1::2], strict=True))
        return self.either([("filter", (among,), pair) for pair in pairs], step.notes)

    def related(self, among: int, to: int | None, step: Step) -> int:
        """Those among the first that are in the relation to, or with `_object` that it leads to."""
        if to is None:
            to = self.put("scene", (), (), IMPLICIT)
        role = "object" if step.kind == "with_relation_object" else "subject"
        found = self.put("related", (to,), (step.words[0], role))
        return self.put("intersect", (among, found), (), step.notes)

    def body(self, quantifier: Step) -> int:
        """The truth about `it()` that a sub-program says.

        Whether an object is among what a chain of filters leaves of the scene is whether the chain leaves it.
        """
        sub = quantifier.sub
        uses = Counter(i for step in sub for i in step.inputs)
        unread = next((step for i, step in enumerate(sub[:-1]) if not uses[i]), None)
        if unread is not None:
            raise ProgramError(f"{unread.where}: nothing reads it")
        chain, start = _chain(sub, uses)
        values: list[int] = []
        types: list[Type] = []
        it = -1
        for i, step in enumerate(sub):
            if i in chain and step.kind == "scene":
                it = self.put("it", (), (), step.notes)
                values.append(it)
            else:
                inputs = self.inputs(step, values, types)
                if i == start:  # the chain does not begin with the scene
                    inputs = self.begun(step, inputs)
                if i == len(sub) - 1 and step.kind == "filter" and inputs == (it,) and len(step.words) == 2:
                    return self.put("verify", inputs, step.words, step.notes)
                values.append(self.put_step(step, inputs))
            types.append(_output(step))
        if not fits(types[-1], OBJECTS):
            raise ProgramError(
                f"{quantifier.where}: expected a sub-program that gives Objects, came {types[-1]}"
            )
        if not chain:
            return self.put("exist", (self.put("intersect", (self.put("it"), values[-1])),))
        return self.put("exist", (values[-1],))

    def begun(self, step: Step, inputs: tuple[int, ...]) -> tuple[int, ...]:
        at = _carried(step)
        if at is None:
            return inputs
        it = self.put("intersect", (self.put("it"), inputs[at]))
        return (*inputs[:at], it, *inputs[at + 1 :])


def _carried(step: Step) -> int | None:
    """Which input of a step is the set that it picks from."""
    match step.kind:
        case "filter" | "with_relation":
            return 0
        case "with_relation_object" if len(step.inputs) == 2:
            return 1
    return None


def _chain(sub: Sequence[Step], uses: Counter[int]) -> tuple[set[int], int]:
    """The steps that pick ever fewer from one set, ending in the last; the first, where that is not scene."""
    chain: set[int] = set()
    at = len(sub) - 1
    start = -1
    while True:
        step = sub[at]
        if uses[at] <= 1 and step.kind == "scene":
            return chain | {at}, -1
        carried = _carried(step)
        if uses[at] > 1 or carried is None or carried >= len(step.inputs):
            return chain, start
        chain.add(at)
        start = at
        at = step.inputs[carried]


def _output(step: Step) -> Type:
    found = KINDS[step.kind][1]
    return Type("Value", step.words[0]) if found == VALUE else found


def _how_many(step: Step, inputs: int) -> tuple[int, int]:
    """The fewest and the most inputs that a step may have."""
    if step.kind in COMPARISONS:
        return inputs - len(step.words), inputs - len(step.words)
    if step.kind in ("with_relation", "with_relation_object"):
        return 1, inputs
    if step.kind in ("and", "or") and dict(step.notes).get("default"):
        return 1, inputs
    return inputs, inputs


def _many(fewest: int, most: int) -> str:
    if fewest != most:
        return f"{fewest} or {most} dependencies"
    return "1 dependency" if most == 1 else f"{most or 'no'} dependencies"


def _check_alike(step: Step, given: list[Type]) -> None:
    """Refuse to compare a number with a name, or the values of two attributes."""
    both = [*given, *([INT] * len(step.words))]
    if len(both) == 2 and both[0] != both[1]:
        raise ProgramError(f"{step.where}: can not compare {both[0]} with {both[1]}")
