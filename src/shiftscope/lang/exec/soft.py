"""Soft execution: many programs over many scene posteriors, by the soft meanings of their ops.

Programs are lowered to words as packed execution does. Their nodes are then sorted into waves: a group holds
all nodes of one op whose inputs are known by then, from whatever program, and runs as a few array operations.
So the number of operations grows with the depth of the deepest program, not with the number of programs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...scene_table import Terms
from ...schema import Schema
from ..arrays import Array, allocate, make_index, to_numpy, to_real
from ..check import plan_program
from ..execution_world import (
    PAPER,
    SoftReference,
    SoftRules,
    SoftSceneTables,
    SoftValue,
    SoftWorld,
    list_soft_relations,
)
from ..op import OBJECT, OBJECTS, PART, PARTS, Type, all_ops, get_op
from ..program import Program
from ..scene_posterior import ScenePosterior
from .packed import OP_NAMES, LoweredPrograms, ProgramLowering, Programs, ResultType, ResultTypes, decode_answer

CHUNK = 1 << 17  # programs run at a time; bounds the memory
SET, ONE, KNOWN = range(1, 4)  # what a node leaves behind
Ints = NDArray[np.int64]
Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class SoftAnswers:
    """`answers[i]` as the exact executor would spell it, with its `confidence[i]`."""

    value: Ints  # a truth, a number, a term's code or a mask
    confidence: NDArray[np.float32]
    settled: NDArray[np.bool_]  # False where inference found no possible scene that the question fits
    kinds: ResultTypes
    terms: Terms
    part_terms: Terms

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, i: int) -> Any:
        return decode_answer(int(self.value[i]), self.kinds[i], self.terms, self.part_terms)


class SoftTraceStep(NamedTuple):
    """What one node of a program came to."""

    value: Any  # bool, int or str; the number of the one thing; None for a set
    confidence: float | None  # of the value; None for a set
    members: tuple[float, ...] | None = None  # of a set, or one thing: how surely each thing is in it


class SoftLowering(ProgramLowering):
    """Turns programs into words for soft execution, which covers the ops that have a soft meaning."""

    engine = "soft execution"

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.relations = list_soft_relations(schema)
        self.covers = frozenset(name for name, op in all_ops().items() if op.soft)


class OpGroup(NamedTuple):
    """Nodes of one op that run together; they stand side by side in every buffer."""

    op: str
    on_parts: bool
    leaves: int  # SET, ONE or KNOWN
    leaves_parts: bool
    first: int
    last: int  # places first to last − 1 of `value` and `confidence`
    row: int  # where their sets begin, in the buffer of objects' or of parts' sets


@dataclass(frozen=True, slots=True, eq=False)
class OpSchedule:
    """Lowered programs, sorted into groups."""

    lowered: LoweredPrograms
    groups: tuple[OpGroup, ...]
    place: Ints  # [node] where it stands; nodes are the words of `lowered`
    scene: Array  # [place]
    inputs: Array  # [2, place] the places it reads
    rows: Array  # [2, place] where their sets stand
    words: Array  # [2, place] its arguments
    root: Ints  # [program] place of its last node
    row_of: Ints  # [place] where its own set stands
    sets: tuple[int, int]  # sets of objects, sets of parts

    def move_to(self, array: Array) -> "OpSchedule":
        """The same with its indices on the array's device, ready to run any number of times."""
        held = {name: make_index(array, getattr(self, name)) for name in ("scene", "inputs", "rows", "words")}
        return replace(self, **held)


def _tabulate_results() -> tuple[Codes, Codes, Codes]:
    """For each opcode: what it leaves, whether that is a part's (2: as its input's), whether it reads any."""
    leaves = np.zeros(len(OP_NAMES), np.int8)
    parts = np.full(len(OP_NAMES), 2, np.int8)
    reads = np.zeros(len(OP_NAMES), np.int8)
    for code, name in enumerate(OP_NAMES):
        signature = get_op(_get_base_op(name)).signatures[0]
        output = signature.output
        leaves[code] = SET if output in (OBJECTS, PARTS) else ONE if output in (OBJECT, PART) else KNOWN
        reads[code] = len(signature.inputs)
        if name in ("scene", "owners", "relate", "related", "related_object"):
            parts[code] = 0
        elif name == "parts" or name.endswith("_part"):
            parts[code] = 1
    return leaves, parts, reads


def _get_base_op(name: str) -> str:
    return name.removesuffix("_part").removesuffix("_object")


def build_schedule(lowered: LoweredPrograms) -> OpSchedule:
    """Sort the nodes of lowered programs into groups that can run together."""
    words = lowered.words.astype(np.int64)
    start = lowered.start.astype(np.int64)
    length = np.diff(start)
    op = words & 0xFF
    leaves_by, parts_by, reads_by = _tabulate_results()
    begin = np.repeat(start[:-1], length)
    inputs = np.stack([begin + (words >> 8 & 0xFFF), begin + (words >> 20 & 0xFFF)])
    inputs[0][reads_by[op] < 1] = begin[reads_by[op] < 1]
    inputs[1] = np.where(reads_by[op] < 2, inputs[0], inputs[1])
    level, of_parts, reads_parts = _compute_levels(op, inputs, start, reads_by, parts_by)
    leaves = leaves_by[op]
    key = (level * len(OP_NAMES) + op) * 2 + reads_parts
    order = np.argsort(key.astype(np.int16), kind="stable")  # 16 bits sort fastest, and 200 levels fit
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    has_set = (leaves[order] != KNOWN).astype(np.int64)
    parts_set = has_set * of_parts[order]
    row_of = np.where(of_parts[order] == 1, np.cumsum(parts_set) - 1, np.cumsum(has_set - parts_set) - 1)
    bounds = np.flatnonzero(np.diff(key[order], prepend=-1))
    groups = []
    for first, last in zip(bounds.tolist(), [*bounds[1:].tolist(), len(order)], strict=True):
        n = order[first]
        leaves_parts, row = bool(of_parts[n]), int(row_of[first])
        groups.append(OpGroup(OP_NAMES[op[n]], bool(reads_parts[n]), int(leaves[n]), leaves_parts, first, last, row))
    read = place[inputs[:, order]]
    root = np.empty(len(length), np.int64)
    root[lowered.order] = place[start[1:] - 1]
    scene = np.repeat(lowered.scene.astype(np.int64), length)[order]
    arguments = np.stack([words >> 32 & 0xFFFF, words >> 48 & 0xFFFF])[:, order]
    sets = int((has_set - parts_set).sum()), int(parts_set.sum())
    return OpSchedule(lowered, tuple(groups), place, scene, read, row_of[read], arguments, root, row_of, sets)


def _compute_levels(op: Ints, inputs: Ints, start: Ints, reads_by: Codes, parts_by: Codes) -> tuple[Ints, Ints, Ints]:
    """[node] how many nodes deep it stands, whether it leaves parts, whether it reads parts."""
    level = np.zeros(len(op), np.int64)
    of_parts = np.zeros(len(op), np.int64)
    reads_parts = np.zeros(len(op), np.int64)
    length = np.diff(start)
    by_length = np.argsort(-length, kind="stable")
    longest = start[:-1][by_length]
    running = np.searchsorted(-length[by_length], -np.arange(int(length.max(initial=0))), side="left")
    for step, count in enumerate(running.tolist()):
        at = longest[:count] + step
        first, second = inputs[0, at], inputs[1, at]
        reads = reads_by[op[at]] > 0
        level[at] = np.where(reads, np.maximum(level[first], level[second]) + 1, 0)
        reads_parts[at] = np.where(reads, of_parts[first], 0)
        own = parts_by[op[at]]
        of_parts[at] = np.where(own == 2, reads_parts[at], own)
    return level, of_parts, reads_parts


class SoftBuffers(NamedTuple):
    """What the nodes of all programs came to."""

    value: Array  # [place]
    confidence: Array  # [place]
    sets: tuple[Array, Array]  # [row, thing] of objects, of parts


def run_schedule(waves: OpSchedule, tables: SoftSceneTables) -> SoftBuffers:
    """Run every group, each after those it reads; the schedule is on the tables' device."""
    kind, size = tables.objects.there, len(waves.place)
    sets = (allocate(kind, waves.sets[0], tables.objects.width), allocate(kind, waves.sets[1], tables.parts.width))
    buffers = SoftBuffers(allocate(kind, size, integer=True), allocate(kind, size), sets)
    for group in waves.groups:
        _run_group(group, waves, tables, buffers)
    return buffers


def _run_group(group: OpGroup, waves: OpSchedule, tables: SoftSceneTables, buffers: SoftBuffers) -> None:
    here = slice(group.first, group.last)
    rows = slice(group.row, group.row + group.last - group.first)
    world = SoftWorld(tables, waves.scene[here])
    op = get_op(_get_base_op(group.op))
    assert op.soft is not None
    view = world if op.looks_at == "world" else world.parts if group.on_parts else world.objects
    given = [_read_input(wanted, i, group, waves, buffers) for i, wanted in enumerate(op.signatures[0].inputs)]
    words = waves.words[:, here]
    if group.op.startswith("choose"):
        arguments: tuple[Array, ...] = (words[0], words[1])
    elif group.op.startswith("related"):
        arguments = (words[0], words[0] * 0 + int(group.op == "related_object"))
    else:
        arguments = (words[0],) if op.params else ()
    found = op.soft(view, *given, *arguments)
    sets = buffers.sets[group.leaves_parts]
    if group.leaves == SET:
        sets[rows] = found
        return
    buffers.value[here], buffers.confidence[here] = found
    if group.leaves == ONE:
        chosen = to_real(found.index[:, None] == make_index(sets, np.arange(sets.shape[1])), sets)
        sets[rows] = chosen * found.probability[:, None]


def _read_input(wanted: Type, i: int, group: OpGroup, waves: OpSchedule, buffers: SoftBuffers) -> Any:
    here = slice(group.first, group.last)
    if wanted in (OBJECTS, PARTS):
        return buffers.sets[group.on_parts][waves.rows[i, here]]
    places = waves.inputs[i, here]
    found = buffers.value[places], buffers.confidence[places]
    return SoftReference(*found) if wanted in (OBJECT, PART) else SoftValue(*found)


def execute_soft(
    programs: Programs,
    posterior: ScenePosterior,
    rows: Iterable[int] | Ints,
    rules: SoftRules = PAPER,
    lowering: SoftLowering | None = None,
) -> SoftAnswers:
    """Answer program i of the scene posterior in row `rows[i]`; a reused lowering knows its nodes."""
    lower = lowering or SoftLowering(posterior.schema)
    scene = np.fromiter(rows, np.int64) if not isinstance(rows, np.ndarray) else rows
    if len(scene) and int(scene.max()) >= len(posterior):
        raise ValueError("a program names a scene that is not in the posterior")
    tables = SoftSceneTables(posterior, rules)
    prepared = lower.prepare(programs)
    chunks = [slice(i, i + CHUNK) for i in range(0, max(len(programs), 1), CHUNK)]
    parts = [
        _compute_answers(build_schedule(prepared.take(chunk).assign_scenes(scene[chunk])), tables) for chunk in chunks
    ]
    value, confidence = (np.concatenate(column) for column in zip(*parts, strict=True))
    settled = np.ones(len(programs), np.bool_)
    return SoftAnswers(value, confidence, settled, prepared.kinds, lower.terms, lower.part_terms)


def _compute_answers(waves: OpSchedule, tables: SoftSceneTables) -> tuple[Ints, NDArray[np.float32]]:
    """[program] the result of each, and its confidence."""
    buffers = run_schedule(waves.move_to(tables.posterior.exists), tables)
    root = make_index(buffers.confidence, waves.root)
    value, confidence = to_numpy(buffers.value[root]), to_numpy(buffers.confidence[root]).astype(np.float32)
    kinds = waves.lowered.kinds
    sets = [k for k, kind in enumerate(kinds.listed) if kind.type in (OBJECTS, PARTS, OBJECT, PART)]
    for i in np.flatnonzero(np.isin(kinds.number, sets)).tolist():
        held = buffers.sets[kinds[i].type in (PARTS, PART)]
        members = np.asarray(to_numpy(held[int(waves.row_of[waves.root[i]])]))  # how surely each thing is in the set
        several = kinds[i].type in (OBJECTS, PARTS)
        bits = np.flatnonzero(members > (tables.rules.threshold if several else 0)).astype(np.uint64)
        value[i] = np.bitwise_or.reduce(np.uint64(1) << bits, initial=np.uint64(0)).astype(np.int64)
        confidence[i] = np.where(members > tables.rules.threshold, members, 1 - members).prod()
    return value, confidence


def trace_programs(
    programs: Sequence[Program], posterior: ScenePosterior, rows: Sequence[int], rules: SoftRules = PAPER
) -> list[tuple[SoftTraceStep, ...]]:
    """What every node of each program came to, for explaining an answer."""
    if not programs:
        return []
    lower = SoftLowering(posterior.schema)
    waves = build_schedule(lower(programs, rows))
    tables = SoftSceneTables(posterior, rules)
    buffers = run_schedule(waves.move_to(tables.posterior.exists), tables)
    value, confidence = to_numpy(buffers.value).tolist(), to_numpy(buffers.confidence).tolist()
    sets = [to_numpy(held).tolist() for held in buffers.sets]
    begin = np.empty(len(programs), np.int64)
    begin[waves.lowered.order] = waves.lowered.start[:-1].astype(np.int64)
    made = []
    for program, first in zip(programs, begin.tolist(), strict=True):
        plan = plan_program(program)
        found = []
        for i, kind in enumerate(plan.types):
            at = int(waves.place[first + i])
            if kind in (OBJECTS, PARTS, OBJECT, PART):
                members = tuple(sets[kind in (PARTS, PART)][int(waves.row_of[at])])
                one = kind in (OBJECT, PART)
                found.append(SoftTraceStep(value[at] if one else None, confidence[at] if one else None, members))
            else:
                given = ResultType(kind, plan.steps[i].on_parts)
                answer = decode_answer(value[at], given, lower.terms, lower.part_terms)
                found.append(SoftTraceStep(answer, confidence[at]))
        made.append(tuple(found))
    return made
