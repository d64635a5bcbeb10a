"""Reduce: what all parts counted, merged a range of keys at a time, and what follows from it for each part's own keys.

A range holds whole words or whole groups, so nothing of another range is needed to decide about them.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..audit import SPLIT_NAMES, TEST, TRAIN, VAL
from ..audit_statistics import ShortcutStatistics
from ..concepts import KW, Ints
from ..groups import HEAD, TAIL, PairFigures, find_imbalanced, mark_pairs, measure_pairs
from .counts import AlignedWriter, sweep_pairs
from .label import ALONE, TOGETHER
from .plan import StreamPlan
from .spool import Spool


@dataclass(frozen=True, slots=True)
class ReduceJob:
    """One kind of keys (KW, KO, or a shortcut), of all parts."""

    plan: StreamPlan
    what: str
    sizes: tuple[int, ...]  # [part] keys
    splits: tuple[int, ...] = ()  # samples of each

    @property
    def names(self) -> list[str]:
        return [f"{self.what}-{place}" for place in range(len(self.sizes))]


def reduce_members(job: ReduceJob) -> int:
    """f(w, a) of every part's pairs, and f(w); how many pairs no counted sample has."""
    plan, spool, width = job.plan, job.plan.spool, job.plan.answer_width
    name = f"reduce-{job.what}-members"
    if not spool.has(name):
        together = AlignedWriter(spool, TOGETHER[job.what], job.sizes, np.int64)
        alone = np.zeros(plan.sizes[2] if job.what == KW else plan.sizes[3], np.int64)
        never = 0
        for merged, place, slices in sweep_pairs(spool, job.names, width):
            together.put(slices, merged.counts[place])
            alone += np.bincount(merged.keys // width, weights=merged.counts, minlength=len(alone)).astype(np.int64)
            never += int((merged.counts == 0).sum())
        together.finish()
        spool.save_array(ALONE[job.what], alone)
        spool.save(name, never)
    found: int = spool.load_record(name)
    return found


def name_kinds(shortcut: str) -> str:
    return f"kind-{shortcut}"


def name_concepts(shortcut: str) -> str:
    return f"concept-{shortcut}"


def name_groups(shortcut: str) -> str:
    return f"group-{shortcut}"


def reduce_groups(job: ReduceJob) -> ShortcutStatistics:
    """The groups of a shortcut in every split, their heads and tails, and their line in Table 1.

    Kept for each part's keys: BALANCED, HEAD or TAIL, and the number of the concept; and the group of each concept.
    """
    plan, spool, settings = job.plan, job.plan.spool, job.plan.settings
    name = f"reduce-{job.what}-groups"
    if not spool.has(name):
        kinds = AlignedWriter(spool, name_kinds(job.what), job.sizes, np.int8)
        concepts = AlignedWriter(spool, name_concepts(job.what), job.sizes, np.int32)
        sums = {split: _GroupSums() for split in SPLIT_NAMES}
        groups: list[Ints] = [np.zeros(0, np.int64)]
        for merged, place, slices in sweep_pairs(spool, job.names, plan.split_width):
            split = merged.keys % plan.split_width // plan.answer_width - 1
            every, concept = np.unique(merged.keys // plan.split_width, return_inverse=True)
            kind = np.zeros(len(merged.keys), np.int8)
            for number, part in enumerate(SPLIT_NAMES):
                mine = np.flatnonzero(split == number)
                pairs = measure_pairs(concept[mine], merged.counts[mine], len(every))
                imbalanced = find_imbalanced(pairs, settings.imbalanced)
                kind[mine] = mark_pairs(pairs, imbalanced, settings.rare)
                sums[part].add(pairs, imbalanced, kind[mine])
            kinds.put(slices, kind[place])
            concepts.put(slices, (concept + sum(map(len, groups)))[place])
            groups.append(every)
        kinds.finish()
        concepts.finish()
        spool.save_array(name_groups(job.what), np.concatenate(groups))
        spool.save(name, asdict(_describe(job, sums)))
    return ShortcutStatistics(**spool.load_record(name))


class _GroupSums:
    """What is added up over the groups of one split."""

    def __init__(self) -> None:
        self.groups = self.imbalanced = self.samples = self.single = self.single_samples = 0
        self.parts = [0, 0, 0]  # samples that are balanced, head, tail
        self.weighted: list[npt.NDArray[np.float64]] = [np.zeros(0)]  # [concept] ê × size; summed at once, as in memory

    def add(self, pairs: PairFigures, imbalanced: npt.NDArray[np.bool_], kind: npt.NDArray[np.int8]) -> None:
        alone = pairs.classes == 1
        self.groups += int((pairs.size > 0).sum())
        self.imbalanced += int(imbalanced.sum())
        self.samples += int(pairs.size.sum())
        self.single += int(alone.sum())
        self.single_samples += int(pairs.size[alone].sum())
        for part in (HEAD, TAIL):
            self.parts[part] += int(pairs.count[kind == part].sum())
        self.weighted.append(pairs.entropy * pairs.size)

    @property
    def degree(self) -> float:
        return float(np.concatenate(self.weighted).sum() / self.samples) if self.samples else 1.0


def _describe(job: ReduceJob, sums: dict[str, _GroupSums]) -> ShortcutStatistics:
    train, val, test = (sums[name] for name in (TRAIN, VAL, TEST))
    return ShortcutStatistics(
        shortcut=job.what,
        train_groups=train.groups,
        test_groups=test.groups,
        imbalanced=test.imbalanced,
        head=test.parts[HEAD],
        tail=test.parts[TAIL],
        val_tail=val.parts[TAIL],
        degree=(train if job.splits[SPLIT_NAMES.index(TRAIN)] else test).degree,
        single_groups=test.single,
        single_share=float(np.int64(test.single_samples) / max(1, test.samples)),
        outside=job.splits[SPLIT_NAMES.index(TEST)] - test.samples,
    )


Mark = Callable[[PairFigures], npt.NDArray[np.int8]]


def mark_test_pairs(job: ReduceJob, name: str, mark: Mark) -> None:
    """Keep what a recipe says of each (group, answer) of the IID test, for each part's keys.

    The recipe sees all groups at once; memory grows with the groups and answers of this one shortcut.
    """
    plan, spool = job.plan, job.plan.spool
    if (spool.folder / f"{name}.npy").is_file():
        return
    group: list[Ints] = [np.zeros(0, np.int64)]
    count: list[Ints] = [np.zeros(0, np.int64)]
    for merged, _, _ in sweep_pairs(spool, job.names, plan.split_width):
        mine = _find_tested(plan, merged.keys)
        group.append(merged.keys[mine] // plan.split_width)
        count.append(merged.counts[mine])
    numbers = np.searchsorted(spool.map_array(name_groups(job.what)), np.concatenate(group))
    groups = len(spool.map_array(name_groups(job.what)))
    marks = mark(measure_pairs(numbers, np.concatenate(count), groups))
    writer, before = AlignedWriter(spool, name, job.sizes, np.int8), 0
    for merged, place, slices in sweep_pairs(spool, job.names, plan.split_width):
        mine = _find_tested(plan, merged.keys)
        kind = np.zeros(len(merged.keys), np.int8)
        kind[mine] = marks[before : before + len(mine)]
        before += len(mine)
        writer.put(slices, kind[place])
    writer.finish()


def _find_tested(plan: StreamPlan, keys: Ints) -> Any:
    return np.flatnonzero(keys % plan.split_width // plan.answer_width - 1 == SPLIT_NAMES.index(TEST))


def load_aligned(spool: Spool, name: str, start: int, size: int) -> Any:
    """The numbers of one part's keys, with one more, 0, for samples without a key."""
    return np.append(spool.map_array(name)[start : start + size], 0)
