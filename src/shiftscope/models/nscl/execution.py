"""Differentiable execution: the answer distribution of each program, by array operations on many programs at once.

Programs are scheduled as for soft execution (`lang/exec/soft.py`), whose meanings choose (the likeliest thing, what is
above a threshold) and so have no gradient. Here nothing is chosen: the one thing is attention over all, a count is the
distribution of the number of members. Where a scene is certain both give the same answers.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ...lang.exec.packed import LoweredPrograms
from ...lang.exec.soft import OpGroup, SoftLowering, build_schedule
from ...schema import Schema

SET_OPS = ("scene", "filter", "exclude", "unique", "relate", "same", "intersect", "union", "parts", "owners")
READ_OPS = ("query", "count", "exist")  # of sets
COMPARE_OPS = ("equal", "less", "greater")  # of what was read
TINY = 1e-8


class ConceptLowering(SoftLowering):
    """Turns programs into words; refuses by name what has no differentiable meaning."""

    engine = "differentiable execution"

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.covers = frozenset((*SET_OPS, *READ_OPS, *COMPARE_OPS))


class ThingConcepts(NamedTuple):
    """What the objects, or the parts, of some images are, as probabilities."""

    there: Tensor  # [image, thing] 1 where one was detected
    values: Tensor  # [image, attribute, thing, value] of each value; 0 beyond an attribute's own
    terms: Tensor  # [image, term, thing] of each value and kind, as `Terms` numbers them


class SceneConcepts(NamedTuple):
    """Some images as programs see them."""

    objects: ThingConcepts
    parts: ThingConcepts
    owner: Tensor  # [image, part] int64, the object it belongs to
    relations: Tensor  # [image, relation, object, object] that the second stands in the relation to the first


class NodeGroup(NamedTuple):
    """Nodes of one op that run together."""

    op: str
    on_parts: bool
    leaves_parts: bool
    first: int  # column of `ConceptSchedule.nodes`
    last: int
    row: int  # where their own sets begin


@dataclass(frozen=True, slots=True, eq=False)
class ConceptSchedule:
    """Programs in three phases: sets by their depth, then what is read off them, then what compares that."""

    phases: tuple[tuple[NodeGroup, ...], ...]
    nodes: Tensor  # [4, node] image, row of the first and of the second input, word
    sets: tuple[int, int]  # sets of objects, sets of parts
    root: Tensor  # [program] row of its answer among what is read and compared

    def move_to(self, device: torch.device | str) -> "ConceptSchedule":
        held = {name: getattr(self, name).to(device, non_blocking=True) for name in ("nodes", "root")}
        return replace(self, **held)


def schedule_programs(lowered: LoweredPrograms) -> ConceptSchedule:
    """Sort the nodes of lowered programs into groups; what no set depends on waits for all sets, and runs at once."""
    waves = build_schedule(lowered)
    rank = {op: phase for phase, ops in enumerate((SET_OPS, READ_OPS, COMPARE_OPS)) for op in ops}

    def name_group(group: OpGroup) -> tuple[int, str, bool, int]:
        op = group.op.removesuffix("_part")
        return rank[op], op if rank[op] else "", group.on_parts if rank[op] else False, group.first

    groups = sorted(waves.groups, key=name_group)
    order = np.concatenate([np.arange(g.first, g.last) for g in groups])
    column = np.empty(len(order), np.int64)
    column[order] = np.arange(len(order))
    phases: list[list[NodeGroup]] = [[], [], []]
    for group in groups:
        phase, op, on_parts, _ = name_group(group)
        first = int(column[group.first])
        last = first + group.last - group.first
        same = phases[phase][-1] if phases[phase] else None
        if phase and same and (same.op, same.on_parts) == (op, on_parts):
            phases[phase][-1] = same._replace(last=last)
        else:
            name = op or group.op.removesuffix("_part")
            phases[phase].append(NodeGroup(name, group.on_parts, group.leaves_parts, first, last, group.row))
    read = min((phases[k][0].first for k in (1, 2) if phases[k]), default=len(order))
    compared = phases[2][0].first if phases[2] else len(order)
    inputs = waves.rows[:, order]
    inputs[:, compared:] = column[waves.inputs[:, order[compared:]]] - read
    nodes = np.stack([waves.scene[order], *inputs, waves.words[0, order]])
    root = column[waves.root] - read
    return ConceptSchedule(tuple(map(tuple, phases)), torch.from_numpy(nodes), waves.sets, torch.from_numpy(root))


def execute_concepts(programs: ConceptSchedule, scenes: SceneConcepts) -> Tensor:
    """[program, answer] the probability of each: false and true, a number, or a value by its place in its attribute."""
    there, part_there = scenes.objects.there, scenes.parts.there
    sets = [t.new_zeros(size, t.shape[1]) for t, size in zip((there, part_there), programs.sets, strict=True)]
    for group in programs.phases[0]:
        found = _find_members(group, programs.nodes[:, group.first : group.last], sets, scenes)
        sets[group.leaves_parts][group.row : group.row + len(found)] = found
    width = max(
        there.shape[1] + 1, part_there.shape[1] + 1, scenes.objects.values.shape[3], scenes.parts.values.shape[3]
    )
    known = []
    for group in programs.phases[1]:
        image, rows, _, word = programs.nodes[:, group.first : group.last]
        things = scenes.parts if group.on_parts else scenes.objects
        members = sets[group.on_parts].index_select(0, rows)
        if group.op == "query":
            found = _average_values(members, things, image, word)
        else:
            found = count_members(members) if group.op == "count" else _split_truth(1 - _none_of(members))
        known.append(F.pad(found, (0, width - found.shape[1])))
    answers = torch.cat(known)
    compared = []
    for group in programs.phases[2]:
        _, left, right, _ = programs.nodes[:, group.first : group.last]
        one, other = answers.index_select(0, left), answers.index_select(0, right)
        if group.op == "equal":
            truth = (one * other).sum(1)
        else:
            less, more = (one, other) if group.op == "less" else (other, one)
            truth = (more[:, 1:] * less.cumsum(1)[:, :-1]).sum(1)
        compared.append(F.pad(_split_truth(truth), (0, width - 2)))
    return torch.cat([answers, *compared]).index_select(0, programs.root)


def _find_members(group: NodeGroup, nodes: Tensor, sets: list[Tensor], scenes: SceneConcepts) -> Tensor:
    """[node, thing] how surely each is in the set; of `unique`, attention that sums to 1, or to less if none fits."""
    image, first, second, word = nodes
    things = scenes.parts if group.on_parts else scenes.objects
    if group.op == "scene":
        return things.there.index_select(0, image)
    among = sets[group.on_parts].index_select(0, first)
    match group.op:
        case "filter" | "exclude":
            terms = things.terms.shape[1]
            likely = things.terms.flatten(0, 1).index_select(0, image * terms + word)
            return among * (likely if group.op == "filter" else 1 - likely)
        case "unique":
            return among / (among.sum(1, keepdim=True) + TINY)
        case "relate":
            kinds = scenes.relations.shape[1]
            pairs = scenes.relations.flatten(0, 1).index_select(0, image * kinds + word)
            return torch.einsum("ni,nij->nj", among, pairs)
        case "same":
            wanted = _average_values(among, things, image, word)
            values = _select_values(things, image, word)
            return torch.einsum("nv,niv->ni", wanted, values) * (1 - among) * things.there.index_select(0, image)
        case "intersect":
            return among * sets[group.on_parts].index_select(0, second)
        case "union":
            return 1 - (1 - among) * (1 - sets[group.on_parts].index_select(0, second))
        case "parts":
            owner = scenes.owner.index_select(0, image)
            return among.gather(1, owner) * scenes.parts.there.index_select(0, image)
        case _:  # owners: those of which not every part is out
            there = scenes.objects.there
            out = _log_out(among * scenes.parts.there.index_select(0, image))
            summed = out.new_zeros(len(out), there.shape[1]).scatter_add(1, scenes.owner.index_select(0, image), out)
            return (1 - summed.exp()) * there.index_select(0, image)


def _select_values(things: ThingConcepts, image: Tensor, attribute: Tensor) -> Tensor:
    """[node, thing, value]"""
    return things.values.flatten(0, 1).index_select(0, image * things.values.shape[1] + attribute)


def _average_values(attention: Tensor, things: ThingConcepts, image: Tensor, attribute: Tensor) -> Tensor:
    """[node, value] of the things attended to."""
    return torch.einsum("ni,niv->nv", attention, _select_values(things, image, attribute))


def _log_out(members: Tensor) -> Tensor:
    """[…] the logarithm of the probability that each is not in."""
    return torch.log1p(-members.clamp(max=1 - 1e-6))


def _none_of(members: Tensor) -> Tensor:
    return _log_out(members).sum(1).exp()


def _split_truth(truth: Tensor) -> Tensor:
    return torch.stack([1 - truth, truth], 1)


def count_members(members: Tensor) -> Tensor:
    """[set, 0 to things] the distribution of how many are in, each apart from the others."""
    found = F.pad(torch.ones_like(members[:, :1]), (0, members.shape[1]))
    for p in torch.split(members, 1, 1):
        found = found * (1 - p) + F.pad(found[:, :-1], (1, 0)) * p
    return found
