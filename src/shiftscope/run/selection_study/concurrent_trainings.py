"""Concurrent trainings: several trainings of a study at once on one device, each in a process of its own.

A small network leaves most of a GPU idle. What the trainings learn from is read once, by the parent: supervision is
sent to every process when it starts, pictures are files that all of them map, and what one finds in them the others
read. A process trains and writes its own folder; records are the parent's.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import UserError
from ...executor import LocalExecutor, WorkerDied
from ...scene import Scene
from ...suites.selection_study import SelectionTraining
from ...train.data import TrainingData, TrainValData
from ...train.loop import TrainingPaused
from ...train.train import TrainSpec, train_on
from ...trainable import SplitData
from ...trained_folder import LONGEST_ERROR
from .study_data import open_pictures
from .training_answers import TrainingAnswers

LEAST_MINUTES = 0.1  # that a training gets, once it has begun


@dataclass(frozen=True, slots=True, eq=False)
class SharedSplits:
    """What all trainings of a study learn from and answer, as it is sent to their processes."""

    supervision: tuple[Any, ...]
    scenes: Mapping[str, tuple[Scene, ...]]  # by split


class SplitParts(NamedTuple):
    """A split of one training: where among what is shared its parts are."""

    split: str
    taught: Mapping[str, int | Any]  # by stage, a place in the shared supervision, or its own
    pictures: Path | None

    def open(self, shared: SharedSplits) -> SplitData:
        found = {k: shared.supervision[v] if isinstance(v, int) else v for k, v in self.taught.items()}
        pixels = None if self.pictures is None else open_pictures(self.pictures)
        return SplitData(pixels, shared.scenes.get(self.split, ()), found, self.pictures)


@dataclass(slots=True, eq=False)
class SplitPacker:
    """Collects what is shared; all of it before the first process starts."""

    supervision: list[Any] = field(default_factory=list)
    scenes: dict[str, tuple[Scene, ...]] = field(default_factory=dict)

    def pack(self, split: str, data: SplitData, *, own: bool = False) -> SplitParts:
        """`own`: its supervision is of one training alone, and travels with it."""
        taught = dict(data.supervision) if own else {k: self._place(v) for k, v in data.supervision.items()}
        if not own:
            self.scenes[split] = data.scenes
        return SplitParts(split, taught, None if data.pixels is None else data.kept)

    def _place(self, one: Any) -> int:
        for k, known in enumerate(self.supervision):
            if known is one:
                return k
        self.supervision.append(one)
        return len(self.supervision) - 1


@dataclass(frozen=True, slots=True, eq=False)
class ConcurrentJob:
    """A training as it is sent to a process."""

    training: SelectionTraining
    spec: TrainSpec
    opened: TrainingData
    folder: Path
    splits: Sequence[SplitParts]  # train, val
    answered: Sequence[SplitParts]
    counts: Mapping[str, int]  # questions of each split that is answered
    end: float | None  # as time.monotonic counts, which is one clock for all processes


class TrainingOutcome(NamedTuple):
    """What became of a training in its process: its weights and answers lie in its folder."""

    error: str = ""
    paused: bool = False
    planes: int = 1
    seconds: float = 0.0  # that answering took


def train_concurrently(
    jobs: Iterable[ConcurrentJob], packer: SplitPacker, together: int, device: str
) -> Generator[tuple[ConcurrentJob, TrainingOutcome], None, None]:
    """Each training with its outcome, as they come; closing this ends the processes."""
    shared = SharedSplits(tuple(packer.supervision), packer.scenes)
    task = partial(_train_job, shared, together, device)
    try:
        with closing(LocalExecutor(together).map_growing(task, jobs, deque())) as trained:
            yield from trained
    except WorkerDied:
        raise UserError(
            "the process of a training died, perhaps because memory ran out; finished trainings are kept: run the "
            f"same command again with fewer at once than --together {together}"
        ) from None


def _train_job(shared: SharedSplits, together: int, device: str, job: ConcurrentJob) -> TrainingOutcome:
    import torch

    left = None if job.end is None else (job.end - time.monotonic()) / 60
    if left is not None and left <= 0:
        return TrainingOutcome(paused=True)
    if device == "cpu":
        torch.set_num_threads(min(torch.get_num_threads(), max(1, (os.cpu_count() or 1) // together)))
    spec = job.spec if left is None else replace(job.spec, minutes=max(left, LEAST_MINUTES))
    answers = TrainingAnswers(job.folder, job.counts, together)
    try:
        train, val = (parts.open(shared) for parts in job.splits)
        watch = answers.watch(spec.stages[-1], {parts.split: parts.open(shared) for parts in job.answered}, device)
        train_on(job.opened, spec, job.folder, splits=TrainValData(train, val, 0.0), watch=watch)
    except TrainingPaused:
        return TrainingOutcome(paused=True)
    except Exception as error:  # of one model: the others are trained all the same
        return TrainingOutcome(describe_error(error))
    return TrainingOutcome(planes=answers.planes, seconds=answers.seconds)


def describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"


def measure_shared_throughput(mine: Sequence[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]) -> float:
    """Examples that all trainings learned from per second while an epoch of `mine` was trained: the most of any epoch.

    Both are rows of logs, of one machine. What others did meanwhile but learning, such as answering, counts nothing.
    """
    rest, found = [row for row in others if "began" in row], [0.0]  # a log of an older version does not say when
    for row in (row for row in mine if "began" in row):
        start, end = row["began"], row["began"] + row["lasted"]
        rate = row["examples_per_second"]
        for other in rest:
            shared = min(end, other["began"] + other["lasted"]) - max(start, other["began"])
            if shared > 0:
                rate += other["examples_per_second"] * shared / (end - start)
        found.append(rate)
    return round(max(found), 1)
