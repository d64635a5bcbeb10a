"""Packed execution: many programs over many scenes of one closed schema, on bit masks.

Lowering turns each node into one 64-bit word; a compiled loop then runs the words. The answers are those of
the exact executor on every program that lowers; a program that does not lower is refused by name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import did_you_mean
from ...kernels import count_bits, exact, find_lowest_bit
from ...scene_table import SceneTable, Terms
from ...schema import Schema
from ..check import ProgramPlan, plan_program
from ..op import BOOL, INT, Type
from ..program import MAX_NODES, Node, Program, ProgramError
from .exact import Undefined

OP_NAMES = (
    *("scene", "filter", "exclude", "unique", "relate", "related", "related_object", "same"),
    *("intersect", "union", "query", "equal", "verify", "choose", "number", "count", "exist"),
    *("less", "greater", "at_least", "at_most", "and", "or", "not", "parts", "owners"),
    *("filter_part", "exclude_part", "same_part", "query_part", "verify_part", "choose_part"),
)
SCENE, FILTER, EXCLUDE, UNIQUE, RELATE, RELATED, RELATED_OBJECT, SAME = range(8)
INTERSECT, UNION, QUERY, EQUAL, VERIFY, CHOOSE, NUMBER, COUNT, EXIST = range(8, 17)
LESS, GREATER, AT_LEAST, AT_MOST, AND, OR, NOT, PARTS, OWNERS = range(17, 26)
FILTER_PART, EXCLUDE_PART, SAME_PART, QUERY_PART, VERIFY_PART, CHOOSE_PART = range(26, 32)
OPCODES = {name: code for code, name in enumerate(OP_NAMES)}
PACKED_OPS = frozenset(OPCODES) - {name for name in OPCODES if name.endswith(("_part", "_object"))}
ON_PARTS = frozenset(name.removesuffix("_part") for name in OPCODES if name.endswith("_part"))
REASONS = (
    *("", "none found", "several found", "missing attribute", "unknown relation"),
    *("both choices hold", "neither choice holds"),
)
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
WORD_OPS = frozenset(("filter", "exclude", "verify", "choose", "query", "same"))  # whose words are of the vocabulary
WORD_LIMIT = 4096  # largest code or number a word's argument holds
NEIGHBOURS = 4096  # programs that are sorted among themselves: their answers stay in the cache until all are written


class ResultType(NamedTuple):
    """What a program gives, and whether that is a part's."""

    type: Type
    of_part: bool


@dataclass(frozen=True, slots=True, eq=False)
class ResultTypes:
    """What each of many programs gives: there are few kinds."""

    listed: tuple[ResultType, ...]
    number: Ints  # [program] which of those listed

    def __len__(self) -> int:
        return len(self.number)

    def __getitem__(self, i: int) -> ResultType:
        return self.listed[int(self.number[i])]

    def take(self, programs: Any) -> "ResultTypes":
        return ResultTypes(self.listed, self.number[programs])


@dataclass(frozen=True, slots=True, eq=False)
class PreparedPrograms:
    """Programs as machine words, for any scenes and for every executor that covers the ops."""

    schema: Schema
    relations: tuple[str, ...]  # as words number them
    ops: frozenset[str]  # that there may be
    words: Words  # op | input << 8 | second input << 20 | argument << 32 | second << 48
    start: Ints  # [program + 1] first word
    skeleton: Ints  # [program] the same for programs that are alike but for their words
    kinds: ResultTypes

    def __len__(self) -> int:
        return len(self.skeleton)

    def take(self, programs: Any) -> "PreparedPrograms":
        """Some of the programs, by a slice or by their numbers."""
        words, start = gather_words(self.words, self.start[:-1][programs], self.start[1:][programs])
        return replace(
            self, words=words, start=start, skeleton=self.skeleton[programs], kinds=self.kinds.take(programs)
        )

    def compare_programs(self, others: "PreparedPrograms") -> NDArray[np.bool_]:
        """[program] whether it is, node by node, the other of its number."""
        long = np.flatnonzero(np.diff(self.start) == np.diff(others.start))
        mine, theirs = self.take(long), others.take(long)
        owner = np.repeat(long, np.diff(mine.start))
        found = np.zeros(len(self), np.bool_)
        found[long] = True
        found[owner[mine.words != theirs.words]] = False
        return found

    def assign_scenes(self, scene: Iterable[int] | Ints) -> "LoweredPrograms":
        """Each to run on the scene of that row."""
        rows = np.fromiter(scene, np.int64) if not isinstance(scene, np.ndarray) else scene
        if len(rows) != len(self) or (len(rows) and rows.min() < 0):
            raise ValueError(f"{len(self)} programs need as many scene numbers, got {len(rows)}")
        order = np.lexsort((rows, self.skeleton, np.arange(len(rows)) // NEIGHBOURS))
        words, start = gather_words(self.words, self.start[:-1][order], self.start[1:][order])
        return LoweredPrograms(
            self.schema, words, start.astype(np.uint64), rows[order].astype(np.uint64), order, self.kinds
        )


Programs = Sequence[Program] | PreparedPrograms


@dataclass(frozen=True, slots=True)
class LoweredPrograms:
    """Programs as machine words, with the scene each is to run on.

    Among neighbours those of one skeleton lie together, so that the processor can foresee the next op; `order` says
    which program is where.
    """

    schema: Schema
    words: Words  # as those of PreparedPrograms
    start: Words  # [place + 1] first word
    scene: Words  # [place] row of the table
    order: Ints  # [place] number of the program
    kinds: ResultTypes  # [program]

    def __len__(self) -> int:
        return len(self.scene)


@dataclass(frozen=True, slots=True)
class PackedAnswers:
    """Raw results; `answers[i]` is what the exact executor would say of program i."""

    value: Ints  # a truth, a number, a term's code or a mask
    reason: NDArray[np.int8]  # index into REASONS, 0 where defined
    node: NDArray[np.int16]  # the node at fault
    kinds: ResultTypes
    terms: Terms
    part_terms: Terms

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, i: int) -> Any:
        if self.reason[i]:
            return Undefined(REASONS[self.reason[i]], int(self.node[i]))
        return decode_answer(int(self.value[i]), self.kinds[i], self.terms, self.part_terms)


def decode_answer(value: int, kind: ResultType, terms: Terms, part_terms: Terms) -> Any:
    """A raw result of that kind as the exact executor gives it."""
    if kind.type == BOOL:
        return bool(value)
    if kind.type == INT:
        return value
    if kind.type.name == "Value":
        return (part_terms if kind.of_part else terms).names[value]
    return value & 0xFFFFFFFFFFFFFFFF  # a mask


class ProgramLowering:
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

    def __call__(self, programs: Programs, scene: Iterable[int] | Ints) -> LoweredPrograms:
        """Lower programs, each to run on the scene of that row."""
        return self.prepare(programs).assign_scenes(scene)

    def prepare(self, programs: Programs) -> PreparedPrograms:
        """Lower programs for any scenes; those that are prepared are only looked at, whether they fit."""
        if isinstance(programs, PreparedPrograms):
            if (programs.schema, programs.relations) != (self.schema, self.relations):
                raise ValueError(f"programs of {programs.schema.name} were prepared for other words")
            if not programs.ops <= self.covers:
                raise ValueError(f"{self.engine} does not cover {', '.join(programs.ops - self.covers)}")
            return programs
        words: list[int] = []
        start = [0]
        numbers: list[int] = []
        kinds: dict[ResultType, int] = {}
        groups: list[int] = []
        skeletons: dict[int, tuple[ProgramPlan, int, int]] = {}  # by the plan's identity: it, its number, its kind's
        plain, on_parts = self._plain, self._on_parts
        for program in programs:
            plan = plan_program(program)
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
                    words.append(self._lower_node(n, step.on_parts, i))
            start.append(len(words))
            seen = skeletons.get(id(plan))
            if seen is None:
                kind = ResultType(plan.types[-1], plan.steps[-1].on_parts)
                seen = skeletons[id(plan)] = plan, len(skeletons), kinds.setdefault(kind, len(kinds))
            groups.append(seen[1])
            numbers.append(seen[2])
        begin, skeleton, number = (np.array(listed, np.int64) for listed in (start, groups, numbers))
        types = ResultTypes(tuple(kinds), number)
        return PreparedPrograms(
            self.schema, self.relations, self.covers, np.array(words, np.uint64), begin, skeleton, types
        )

    def _check_comparisons(self, program: Program, plan: ProgramPlan) -> None:
        """Values are compared by code: an object's and a part's only where their codes mean the same."""
        for at, left, right in plan.same_attribute:
            if plan.steps[left].on_parts == plan.steps[right].on_parts:
                continue
            name = program.nodes[left].params[0]
            if name not in self._alike:
                both = (self.terms.code, self.part_terms.code)
                mine, of_parts = ({pair: c for pair, c in codes.items() if pair[0] == name} for codes in both)
                self._alike[name] = mine == of_parts
            if not self._alike[name]:
                raise ProgramError(f"node {at} (equal): the {name} of objects and of parts is coded differently")

    def _lower_node(self, n: Node, on_parts: bool, at: int) -> int:
        known = self._on_parts if on_parts else self._plain
        word = known.get(id(n))
        if word is None:
            if n.op not in self.covers:
                raise ProgramError(f"node {at} ({n.op}): {self.engine} does not cover this op; exact does")
            name = "related_object" if n.op == "related" and n.params[1] == "object" else n.op
            if on_parts and name in ON_PARTS:
                name = f"{name}_part"
            inputs = (*n.inputs, 0, 0)
            words = (*self._encode_words(n, on_parts, at), 0, 0)
            word = OPCODES[name] | inputs[0] << 8 | inputs[1] << 20 | words[0] << 32 | words[1] << 48
            known[id(n)] = word
            self._seen.append(n)
        return word

    def _encode_words(self, n: Node, on_parts: bool, at: int) -> tuple[int, ...]:
        if n.op in ("relate", "related"):
            if n.params[0] not in self.relations:
                raise _refuse_word(n, at, "relation", n.params[0], self.relations)
            return (self.relations.index(n.params[0]),)
        if n.op == "number":
            if int(n.params[0]) >= WORD_LIMIT:
                raise ProgramError(f"node {at} (number): packed numbers end at {WORD_LIMIT - 1}")
            return (int(n.params[0]),)
        if n.op not in WORD_OPS:
            return ()
        attribute, *values = n.params
        terms = self.part_terms if on_parts else self.terms
        names = [a.name for a in terms.attributes]
        if attribute not in names:
            raise _refuse_word(n, at, "attribute", attribute, names)
        if not values:
            return (names.index(attribute),)
        for value in values:
            if (attribute, value) not in terms.code:
                raise _refuse_word(n, at, attribute, value, terms.attributes[names.index(attribute)].terms)
        return tuple([terms.code[attribute, value] for value in values])


def _refuse_word(n: Node, at: int, what: str, word: str, known: Sequence[str]) -> ProgramError:
    return ProgramError(f"node {at} ({n.op}): no {what} {word!r}{did_you_mean(word, known)}")


def run_lowered(lowered: LoweredPrograms, table: SceneTable) -> PackedAnswers:
    """Run every program on its scene."""
    if lowered.schema != table.schema:
        raise ValueError(f"programs in {lowered.schema.name}, scenes in {table.schema.name}")
    if len(lowered) and lowered.scene.max() >= len(table):
        raise ValueError("a program names a scene that is not in the table")
    size = len(lowered)
    value, reason, node = np.zeros(size, np.int64), np.zeros(size, np.int8), np.zeros(size, np.int16)
    run_programs(
        (lowered.words, lowered.start, lowered.scene, lowered.order),
        (table.start, table.codes, table.masks, table.everything, table.rows, table.knows),
        (table.part_start, table.part_codes, table.part_masks, table.owner, table.parts_of),
        (value, reason, node),
    )
    return PackedAnswers(value, reason, node, lowered.kinds, table.terms, table.part_terms)


def execute_many(programs: Programs, table: SceneTable, scene: Iterable[int]) -> PackedAnswers:
    """Lower and run: program i on the table's scene `scene[i]`."""
    return run_lowered(ProgramLowering(table.schema, table.relations)(programs, scene), table)


def gather_words(words: Words, begin: Ints, end: Ints) -> tuple[Words, Ints]:
    """The words from each begin to its end, one after the other, and where each stretch starts."""
    length = end - begin
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
    return words[np.repeat(begin - start[:-1], length) + np.arange(start[-1])], start


# The compiled loop of packed execution. A register is a uint64: a mask, a number, a truth or a code.

ONE = np.uint64(1)
ZERO = np.uint64(0)


@exact
def run_programs(programs: Any, objects: Any, parts: Any, results: Any) -> None:
    """Run every program; see `run_lowered` for what the tuples hold."""
    # Unsigned numbers throughout: a signed index would be tested for being negative at each use.
    words, start, scenes, order = programs
    first, codes, masks, everything, rows, knows = objects
    part_first, part_codes, part_masks, owner, parts_of = parts
    value, reason, node = results
    register = np.zeros(MAX_NODES, np.uint64)
    for k in range(len(order)):
        s = scenes[k]
        base = np.uint64(first[s])
        part_base = np.uint64(part_first[s])
        begin = start[k]
        length = start[k + 1] - begin
        trouble = 0
        i = ZERO
        out = ZERO
        while i < length:
            word = words[begin + i]
            op = word & np.uint64(0xFF)
            a = register[(word >> np.uint64(8)) & np.uint64(0xFFF)]
            argument = (word >> np.uint64(32)) & np.uint64(0xFFFF)
            out = ZERO
            if op == FILTER:
                out = a & masks[s, argument]
            elif op == SCENE:
                out = everything[s]
            elif op == UNIQUE:
                if a == ZERO:
                    trouble = 1
                elif a & (a - ONE) != ZERO:
                    trouble = 2
                out = a
            elif op == RELATE:
                if not knows[s, argument]:
                    trouble = 4
                elif a != ZERO:
                    out = rows[base + find_lowest_bit(a), argument]
            elif op == COUNT:
                out = count_bits(a)
            elif op == EXIST:
                out = np.uint64(a != ZERO)
            elif op == QUERY:
                code = codes[base + find_lowest_bit(a), argument]
                if code < 0:
                    trouble = 3
                else:
                    out = np.uint64(code)
            elif op == SAME:
                code = codes[base + find_lowest_bit(a), argument]
                if code >= 0:
                    out = masks[s, code] & ~a
            elif op == PARTS:
                left = a
                while left != ZERO:
                    out |= parts_of[base + find_lowest_bit(left)]
                    left &= left - ONE
            elif op == OWNERS:
                left = a
                while left != ZERO:
                    out |= ONE << np.uint64(owner[part_base + find_lowest_bit(left)])
                    left &= left - ONE
            elif op == FILTER_PART:
                out = a & part_masks[s, argument]
            elif op == QUERY_PART:
                code = part_codes[part_base + find_lowest_bit(a), argument]
                if code < 0:
                    trouble = 3
                else:
                    out = np.uint64(code)
            elif op == NOT:
                out = np.uint64(a == ZERO)
            elif op == NUMBER:
                out = np.uint64(argument)
            elif op == EXCLUDE:
                out = a & ~masks[s, argument]
            elif op == VERIFY:
                out = np.uint64(a & masks[s, argument] != ZERO)
            elif op == EXCLUDE_PART:
                out = a & ~part_masks[s, argument]
            elif op == VERIFY_PART:
                out = np.uint64(a & part_masks[s, argument] != ZERO)
            elif op == SAME_PART:
                code = part_codes[part_base + find_lowest_bit(a), argument]
                if code >= 0:
                    out = part_masks[s, code] & ~a
            elif op == RELATED:
                left = a
                while left != ZERO:
                    out |= rows[base + find_lowest_bit(left), argument]
                    left &= left - ONE
            elif op == RELATED_OBJECT:
                for j in range(first[s + ONE] - first[s]):
                    if rows[first[s] + j, argument] & a != ZERO:
                        out |= ONE << np.uint64(j)
            elif op in (CHOOSE, CHOOSE_PART):
                other = word >> np.uint64(48)
                this = a & (masks[s, argument] if op == CHOOSE else part_masks[s, argument]) != ZERO
                that = a & (masks[s, other] if op == CHOOSE else part_masks[s, other]) != ZERO
                if this == that:
                    trouble = 5 if this else 6
                out = argument if this else other
            else:
                b = register[(word >> np.uint64(20)) & np.uint64(0xFFF)]
                if op in (INTERSECT, AND):
                    out = a & b
                elif op in (UNION, OR):
                    out = a | b
                elif op == EQUAL:
                    out = np.uint64(a == b)
                elif op == LESS:
                    out = np.uint64(a < b)
                elif op == GREATER:
                    out = np.uint64(a > b)
                elif op == AT_LEAST:
                    out = np.uint64(a >= b)
                elif op == AT_MOST:
                    out = np.uint64(a <= b)
            if trouble != 0:
                break
            register[i] = out
            i += ONE
        program = order[k]
        if trouble != 0:
            reason[program] = trouble
            node[program] = i
        else:
            value[program] = np.int64(out)
