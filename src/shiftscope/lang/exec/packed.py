"""Packed execution: many programs over many scenes of one closed schema, on bit masks.

Lowering turns each node into one 64-bit word; a compiled loop then runs the words. The answers are those of
the exact executor on every program that lowers; a program that does not lower is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import did_you_mean
from ...scenetable import SceneTable, Terms
from ...schema import Schema
from ..check import Plan, plan_of
from ..program import Node, Program, ProgramError
from ..types import BOOL, INT, Type
from .exact import Undefined

OPCODES = {
    name: code
    for code, name in enumerate(
        (
            *("scene", "filter", "exclude", "unique", "relate", "related", "related_object", "same"),
            *("intersect", "union", "query", "equal", "verify", "choose", "number", "count", "exist"),
            *("less", "greater", "at_least", "at_most", "and", "or", "not", "parts", "owners"),
            *("filter_part", "exclude_part", "same_part", "query_part", "verify_part", "choose_part"),
        )
    )
}
PACKED_OPS = frozenset(OPCODES) - {name for name in OPCODES if name.endswith(("_part", "_object"))}
ON_PARTS = frozenset(name.removesuffix("_part") for name in OPCODES if name.endswith("_part"))
REASONS = (
    *("", "none found", "several found", "missing attribute", "unknown relation"),
    *("both choices hold", "neither choice holds"),
)
WORD_LIMIT = 4096  # largest code or number a word's argument holds


class Kind(NamedTuple):
    """What a program gives, and whether that is a part's."""

    type: Type
    of_part: bool


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """What each of many programs gives: there are few kinds."""

    listed: tuple[Kind, ...]
    number: NDArray[np.int64]  # [program] which of those listed

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, i: int) -> Kind:
        return self.listed[int(self.number[i])]

    def take(self, programs: Any) -> Kinds:
        return Kinds(self.listed, self.number[programs])


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Programs as machine words, for any scenes and for every executor that covers the ops."""

    schema: Schema
    relations: tuple[str, ...]  # as words number them
    ops: frozenset[str]  # that there may be
    words: NDArray[np.uint64]  # op | input << 8 | second input << 20 | argument << 32 | second << 48
    start: NDArray[np.int64]  # [program + 1] first word
    skeleton: NDArray[np.int64]  # [program] the same for programs that are alike but for their words
    kinds: Kinds

    def __len__(self) -> int:
        return len(self.skeleton)

    def take(self, programs: Any) -> Prepared:
        """Some of the programs, by a slice or by their numbers."""
        words, start = gathered(self.words, self.start[:-1][programs], self.start[1:][programs])
        return replace(
            self, words=words, start=start, skeleton=self.skeleton[programs], kinds=self.kinds.take(programs)
        )

    def same(self, others: Prepared) -> NDArray[np.bool_]:
        """[program] whether it is, node by node, the other of its number."""
        long = np.flatnonzero(np.diff(self.start) == np.diff(others.start))
        mine, theirs = self.take(long), others.take(long)
        owner = np.repeat(long, np.diff(mine.start))
        found = np.zeros(len(self), np.bool_)
        found[long] = True
        found[owner[mine.words != theirs.words]] = False
        return found

    def on(self, scene: Iterable[int] | NDArray[np.int64]) -> Lowered:
        """Each to run on the scene of that row."""
        rows = np.fromiter(scene, np.int64) if not isinstance(scene, np.ndarray) else scene
        if len(rows) != len(self) or (len(rows) and rows.min() < 0):
            raise ValueError(f"{len(self)} programs need as many scene numbers, came {len(rows)}")
        order = np.lexsort((rows, self.skeleton))
        words, start = gathered(self.words, self.start[:-1][order], self.start[1:][order])
        return Lowered(
            self.schema, words, start.astype(np.uint64), rows[order].astype(np.uint64), order, self.kinds
        )


Programs = Sequence[Program] | Prepared


@dataclass(frozen=True, slots=True)
class Lowered:
    """Programs as machine words, with the scene each is to run on.

    Programs of one skeleton lie together, so that the processor can foresee the next op; `order` says which
    program is where.
    """

    schema: Schema
    words: NDArray[np.uint64]  # as those of Prepared
    start: NDArray[np.uint64]  # [place + 1] first word
    scene: NDArray[np.uint64]  # [place] row of the table
    order: NDArray[np.int64]  # [place] number of the program
    kinds: Kinds  # [program]

    def __len__(self) -> int:
        return len(self.scene)


@dataclass(frozen=True, slots=True)
class Answers:
    """Raw results; `answers[i]` is what the exact executor would say of program i."""

    value: NDArray[np.int64]  # a truth, a number, a term's code or a mask
    reason: NDArray[np.int8]  # index into REASONS, 0 where defined
    node: NDArray[np.int16]  # the node at fault
    kinds: Kinds
    terms: Terms
    part_terms: Terms

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, i: int) -> Any:
        if self.reason[i]:
            return Undefined(REASONS[self.reason[i]], int(self.node[i]))
        return spelled(int(self.value[i]), self.kinds[i], self.terms, self.part_terms)


def distinct(
    value: NDArray[np.int64], kinds: Kinds, terms: Terms, part_terms: Terms
) -> tuple[list[Any], NDArray[np.int64]]:
    """The different answers among raw results, each as `spelled` has it, and [program] which it is."""
    found: list[Any] = []
    number = np.zeros(len(value), np.int64)
    for k, kind in enumerate(kinds.listed):
        here = np.flatnonzero(kinds.number == k)
        values, at = np.unique(value[here], return_inverse=True)
        number[here] = at + len(found)
        found += [spelled(v, kind, terms, part_terms) for v in values.tolist()]
    return found, number


def spelled(value: int, kind: Kind, terms: Terms, part_terms: Terms) -> Any:
    """A raw result of that kind as the exact executor gives it."""
    if kind.type == BOOL:
        return bool(value)
    if kind.type == INT:
        return value
    if kind.type.name == "Value":
        return (part_terms if kind.of_part else terms).names[value]
    return value & 0xFFFFFFFFFFFFFFFF  # a mask


class Lowering:
    """Turns the programs of one schema into words; remembers every node it has seen."""

    engine = "packed execution"
    covers = PACKED_OPS

    def __init__(self, schema: Schema, relations: Sequence[str] = ()) -> None:
        self.schema = schema
        self.terms = Terms.of(schema.attributes)
        self.part_terms = Terms.of(schema.part_attributes)
        self.relations = tuple(relations) or schema.relations
        self._plain: dict[int, int] = {}  # words of nodes on objects, by the node's identity
        self._on_parts: dict[int, int] = {}  # the same for nodes on parts
        self._alike: dict[str, bool] = {}  # attributes coded alike for objects and for parts
        self._seen: list[Node] = []  # keeps the nodes alive whose identity is a key

    def __call__(self, programs: Programs, scene: Iterable[int] | NDArray[np.int64]) -> Lowered:
        """Lower programs, each to run on the scene of that row."""
        return self.prepare(programs).on(scene)

    def prepare(self, programs: Programs) -> Prepared:
        """Lower programs for any scenes; those that are prepared are only looked at, whether they fit."""
        if isinstance(programs, Prepared):
            if (programs.schema, programs.relations) != (self.schema, self.relations):
                raise ValueError(f"programs of {programs.schema.name} were prepared for other words")
            if not programs.ops <= self.covers:
                raise ValueError(f"{self.engine} does not cover {', '.join(programs.ops - self.covers)}")
            return programs
        words: list[int] = []
        start = [0]
        numbers: list[int] = []
        kinds: dict[Kind, int] = {}
        groups: list[int] = []
        skeletons: dict[int, tuple[Plan, int, int]] = {}  # by the plan's identity: it, its number, its kind's
        plain, on_parts = self._plain, self._on_parts
        for program in programs:
            plan = plan_of(program)
            try:
                if plan.on_parts:
                    if plan.same_attribute:
                        self._check_comparisons(program, plan)
                    known = [on_parts if step[2] else plain for step in plan.steps]
                    words += [d[id(n)] for d, n in zip(known, program.nodes, strict=True)]
                else:
                    words += [plain[id(n)] for n in program.nodes]
            except KeyError:
                for i, (n, step) in enumerate(zip(program.nodes, plan.steps, strict=True)):
                    words.append(self._word(n, step.on_parts, i))
            start.append(len(words))
            seen = skeletons.get(id(plan))
            if seen is None:
                kind = Kind(plan.types[-1], plan.steps[-1].on_parts)
                seen = skeletons[id(plan)] = plan, len(skeletons), kinds.setdefault(kind, len(kinds))
            groups.append(seen[1])
            numbers.append(seen[2])
        return Prepared(
            self.schema,
            self.relations,
            self.covers,
            np.array(words, np.uint64),
            np.array(start, np.int64),
            np.array(groups, np.int64),
            Kinds(tuple(kinds), np.array(numbers, np.int64)),
        )

    def _check_comparisons(self, program: Program, plan: Plan) -> None:
        """Values are compared by code: an object's and a part's only where their codes mean the same."""
        for at, left, right in plan.same_attribute:
            name = program.nodes[left].params[0]
            if plan.steps[left].on_parts != plan.steps[right].on_parts and not self._coded_alike(name):
                raise ProgramError(
                    f"node {at} (equal): the {name} of objects and of parts is coded differently"
                )

    def _coded_alike(self, name: str) -> bool:
        if name not in self._alike:
            self._alike[name] = self._compare_codes(name)
        return self._alike[name]

    def _compare_codes(self, name: str) -> bool:
        mine, of_parts = (
            {pair: code for pair, code in terms.code.items() if pair[0] == name}
            for terms in (self.terms, self.part_terms)
        )
        return mine == of_parts

    def _word(self, n: Node, on_parts: bool, at: int) -> int:
        known = self._on_parts if on_parts else self._plain
        word = known.get(id(n))
        if word is None:
            word = known[id(n)] = self._encode(n, on_parts, at)
            self._seen.append(n)
        return word

    def _encode(self, n: Node, on_parts: bool, at: int) -> int:
        name = n.op
        if name not in self.covers:
            raise ProgramError(f"node {at} ({name}): {self.engine} does not cover this op; exact does")
        if name == "related" and n.params[1] == "object":
            name = "related_object"
        if on_parts and name in ON_PARTS:
            name = f"{name}_part"
        first, second = self._arguments(n, on_parts, at)
        inputs = (*n.inputs, 0, 0)
        return OPCODES[name] | inputs[0] << 8 | inputs[1] << 20 | first << 32 | second << 48

    def _arguments(self, n: Node, on_parts: bool, at: int) -> tuple[int, int]:
        terms = self.part_terms if on_parts else self.terms
        match n.op:
            case "filter" | "exclude" | "verify":
                return self._term(terms, n.params[0], n.params[1], n, at), 0
            case "choose":
                return (
                    self._term(terms, n.params[0], n.params[1], n, at),
                    self._term(terms, n.params[0], n.params[2], n, at),
                )
            case "query" | "same":
                return self._column(terms, n.params[0], n, at), 0
            case "relate" | "related":
                if n.params[0] not in self.relations:
                    hint = did_you_mean(n.params[0], self.relations)
                    raise ProgramError(f"node {at} ({n.op}): no relation {n.params[0]!r}{hint}")
                return self.relations.index(n.params[0]), 0
            case "number":
                if int(n.params[0]) >= WORD_LIMIT:
                    raise ProgramError(f"node {at} (number): packed numbers end at {WORD_LIMIT - 1}")
                return int(n.params[0]), 0
        return 0, 0

    def _term(self, terms: Terms, attribute: str, value: str, n: Node, at: int) -> int:
        self._column(terms, attribute, n, at)
        code = terms.code.get((attribute, value))
        if code is None:
            options = terms.attributes[terms.index(attribute)].terms
            raise ProgramError(f"node {at} ({n.op}): no {attribute} {value!r}{did_you_mean(value, options)}")
        return code

    def _column(self, terms: Terms, attribute: str, n: Node, at: int) -> int:
        names = [a.name for a in terms.attributes]
        if attribute not in names:
            raise ProgramError(
                f"node {at} ({n.op}): no attribute {attribute!r}{did_you_mean(attribute, names)}"
            )
        return names.index(attribute)


def run(lowered: Lowered, table: SceneTable) -> Answers:
    """Run every program on its scene."""
    from ._packed_loop import loop  # compiles on first use

    if lowered.schema != table.schema:
        raise ValueError(f"programs in {lowered.schema.name}, scenes in {table.schema.name}")
    if len(lowered) and lowered.scene.max() >= len(table):
        raise ValueError("a program names a scene that is not in the table")
    size = len(lowered)
    value = np.zeros(size, np.int64)
    reason = np.zeros(size, np.int8)
    node = np.zeros(size, np.int16)
    loop(
        (lowered.words, lowered.start, lowered.scene, lowered.order),
        (table.start, table.codes, table.masks, table.everything, table.rows, table.knows),
        (table.part_start, table.part_codes, table.part_masks, table.owner, table.parts_of),
        (value, reason, node),
    )
    return Answers(value, reason, node, lowered.kinds, table.terms, table.part_terms)


def execute_many(programs: Programs, table: SceneTable, scene: Iterable[int]) -> Answers:
    """Lower and run: program i on the table's scene `scene[i]`."""
    return run(Lowering(table.schema, table.relations)(programs, scene), table)


def gathered(
    words: NDArray[np.uint64], begin: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words from each begin to its end, one after the other, and where each stretch starts."""
    length = end - begin
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
    return words[np.repeat(begin - start[:-1], length) + np.arange(start[-1])], start
