"""Selection study: train every method with every seed, answer all sets after each epoch, choose by every strategy.

The same call again resumes: finished trainings are skipped, one whose minutes were over goes on from its checkpoint,
beside which lies what its epochs answered. A training that fails is told and does not end the study.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...errors import UserError
from ...executor import open_executor
from ...folder import lock_folder, open_folder
from ...metrics.model_selection import (
    PRIORS,
    STRATEGIES,
    VAL,
    SelectionRun,
    StudyWorld,
    pack_bits,
    parse_selection_record,
    select_epoch,
    select_priors_epoch,
)
from ...store.dataset import Dataset
from ...suites import load_suite
from ...suites.planted_shortcuts import list_ties
from ...suites.selection_study import SelectionScale, SelectionStudy, SelectionTraining
from ...train import train as training
from ...train.accelerator import make_accelerator, name_device
from ...train.epochs import EpochAnswerer
from ...train.loop import TrainingPaused
from ...trained_folder import LONGEST_ERROR
from ...url_path import refuse_url
from ..study.entry_store import RecordStore
from .question_data import AuditedQuestions
from .study_data import SelectionData

WEIGHTS, WORLD = "weights", "world"  # folders of a study
ANSWERS = "answers"  # beside the weights of a training, until it is stored: which questions each epoch answered rightly
THIRDS = 3  # of the score of an answer, where several annotators answered
LEAST_MINUTES = 0.1  # that a training gets, once it has begun
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SelectionStore(RecordStore[StudyWorld | SelectionRun]):
    """Where the records of a study of model selection are kept."""

    parse: Callable[[Any], StudyWorld | SelectionRun] = parse_selection_record


@dataclass(frozen=True, slots=True)
class SelectionStudySpec:
    """What to study, and where it goes."""

    study: SelectionStudy
    out: Path
    cells: Path  # a folder of records, or FILE.jsonl
    scale: SelectionScale
    parts: tuple[str, ...]
    methods: tuple[str, ...] = ()  # all
    seeds: tuple[int, ...] = ()  # the study's
    data: Path | None = None  # a world that was made before; else it is made in `out`
    audit: Path | None = None  # of VQA files, instead of a world: the language side only
    device: str = "auto"
    workers: int = 1
    minutes: float | None = None
    command: str = ""

    def write_command(self) -> str:
        """The command as a record keeps it: folders of this machine by the names of their options."""
        places = {str(self.cells): "CELLS", str(self.audit): "AUDIT", str(self.data): "DATA", str(self.out): "OUT"}
        words = [word.rpartition("=") for word in shlex.split(self.command)]
        return shlex.join(f"{option}{sign}{places.get(value, value)}" for option, sign, value in words)

    def plan(self) -> list[SelectionTraining]:
        seeds = self.seeds or self.study.seeds
        if self.audit is not None:
            return self.study.plan_language(self.methods, seeds)
        return self.study.plan_trainings(self.parts, self.methods, seeds)


def run_selection_study(
    spec: SelectionStudySpec,
    *,
    tell: Tell = lambda sentence: None,
    bar: training.ProgressBar = training.show_no_progress,
    make_bar: Any = None,
) -> Iterator[StudyWorld | SelectionRun]:
    """Each record as it is stored; ends early, between trainings, when the minutes are over."""
    refuse_url(spec.out, "a study")
    plan = spec.plan()
    models = dict.fromkeys(spec.study.find_method(job.method).model for job in plan)
    for model in models:
        training.require_torch(model)
    with lock_folder(spec.out):
        yield from _SelectionRunner(spec, tell, bar, make_bar).run(plan)


class _SelectionRunner:
    def __init__(self, spec: SelectionStudySpec, tell: Tell, bar: training.ProgressBar, make_bar: Any) -> None:
        self.spec, self.tell, self.bar, self.make_bar = spec, tell, bar, make_bar
        self.began = time.monotonic()
        device = make_accelerator(spec.device).device
        self.device, self.device_name = "cpu" if device.type == "cpu" else str(device), name_device(device)
        self.store = SelectionStore(spec.cells)

    def run(self, plan: list[SelectionTraining]) -> Iterator[StudyWorld | SelectionRun]:
        data, tied = self._open_data()
        world = data.describe_world(self.spec.study.suite, self.spec.scale.name, tied)
        stored = self.store.read_records()
        if world.name not in {record.name for record in stored}:
            self.store.add(world)
            yield world
        runs = (r for r in stored if isinstance(r, SelectionRun) and r.data == world.data)
        done = {run.key for run in runs if self.spec.study.trains_alike(run)}
        failed: list[str] = []
        for job in plan:
            if (job.method, job.seed, job.training) in done:
                continue
            if self._minutes_left() == 0:
                self.tell("the minutes are over; the same command resumes from here")
                break
            if data.list_ids(job.training) == frozenset():
                self.tell(f"{job.training}: its shortcut has no head or no tail in train, so there is no such training")
                continue
            try:
                run = self._train(job, data, world)
            except TrainingPaused:
                self.tell(f"a training was paused; the same command resumes it from {self.spec.out / WEIGHTS}")
                break
            except Exception as error:  # of one model: the others are measured all the same
                failed.append(f"{job.method}, {job.training}, seed {job.seed}")
                why = " ".join(str(error).split())[:LONGEST_ERROR]
                self.tell(f"{failed[-1]} failed: {type(error).__name__}: {why}")
                continue
            self.store.add(run)
            shutil.rmtree(self._find_folder(job) / ANSWERS, ignore_errors=True)
            yield run
        if failed:
            raise UserError(f"{len(failed)} of {len(plan)} trainings failed: {'; '.join(failed)}; see above why")

    def _open_data(self) -> tuple[SelectionData | AuditedQuestions, list[dict[str, Any]]]:
        """What models learn from and answer, and what was planted in it."""
        if self.spec.audit is not None:
            return AuditedQuestions(self.spec.audit), []
        data = SelectionData(self._open_world(), self.device, self.spec.workers)
        suite_spec = load_suite(self.spec.study.world).spec.of(data.dataset.manifest.spec)
        tied = [{"shortcut": t.shortcut, **asdict(t)} for t in list_ties(suite_spec)]
        return data, [one | {"words": list(one["words"]), "kinds": list(one["kinds"])} for one in tied]

    def _open_world(self) -> Dataset:
        if self.spec.data is not None:
            return Dataset.open(self.spec.data)
        suite, folder = load_suite(self.spec.study.world), self.spec.out / WORLD
        how: dict[str, Any] = {"bar": self.make_bar} if self.make_bar else {}
        executor = open_executor(self.spec.workers)
        wanted = self.spec.study.build_spec(self.spec.scale)
        return suite.make(wanted, folder, executor=executor, device=self.device, **how).dataset

    def _minutes_left(self) -> float | None:
        """None without a limit; 0 once it is over."""
        minutes = self.spec.minutes
        left = minutes - (time.monotonic() - self.began) / 60 if minutes else None
        return None if left is None else 0 if left <= 0 else max(left, LEAST_MINUTES)

    def _find_folder(self, job: SelectionTraining) -> Path:
        name = f"{self.spec.scale.name}-{job.method}-{job.training}-{job.seed}"
        return self.spec.out / WEIGHTS / name.replace("/", "-").replace(" ", "-")

    def _train(self, job: SelectionTraining, data: SelectionData | AuditedQuestions, world: StudyWorld) -> SelectionRun:
        """Train, answer with every epoch, and choose."""
        method = self.spec.study.find_method(job.method)
        opened = data.open_part(job.training)
        spec = training.TrainSpec(
            model=method.model,
            data=data.source,
            seed=job.seed,
            epochs=self.spec.scale.epochs,
            part=getattr(opened, "part", None),
            settings=method.settings,
            device=self.spec.device,
            workers=self.spec.workers,
            minutes=self._minutes_left(),
            command=self.spec.command,
        )
        self.tell(f"training {job.method}, {job.training}, seed {job.seed}")
        folder, stages = self._find_folder(job), spec.stages
        splits = data.gather_training(job.training, stages)
        answers = _TrainingAnswers(folder, stages[-1], data, self.device)
        trained = training.train_on(opened, spec, folder, splits=splits, bar=self.bar, watch=answers.take)
        right, hits = answers.read(len(training.read_log(trained.folder, stages[-1].name)))
        chosen = {select_epoch(right, world.sizes, strategy) for strategy in STRATEGIES}
        chosen |= {select_priors_epoch(right)} if job.training == PRIORS else set()
        last = spec.stages[-1].name
        return SelectionRun(
            study=world.study,
            scale=world.scale,
            data=world.data,
            method=job.method,
            seed=job.seed,
            training=job.training,
            examples=int(trained.about[last]["examples"]),
            right={name: tuple(counts) for name, counts in right.items()},
            hits={str(epoch + 1): pack_bits(hits[epoch]) for epoch in sorted(chosen)},
            planes=answers.planes,
            weights=str(trained.about[last]["blake2b"]),
            recipe=dict(trained.about[last]["recipe"]) | dict(method.settings),
            seconds={"training": round(float(trained.about["seconds"]["all"]) - answers.seconds, 2)}
            | {"answering": round(answers.seconds, 2)},
            throughput=max(row["examples_per_second"] for row in training.read_log(trained.folder, last)),
            device=self.device_name,
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            command=self.spec.write_command(),
        )


class _TrainingAnswers:
    """Which questions of each set every epoch of a training answers rightly, on disk until the training is stored.

    Where ten people answered, a question has a score in thirds, kept as three planes of bits: at least one, two, three.
    """

    def __init__(self, folder: Path, stage: Any, data: SelectionData | AuditedQuestions, device: str) -> None:
        self.folder, self.data, self.seconds = folder / ANSWERS, data, 0.0
        self.counts = data.answered
        gathered = {split: data.gather(split, [stage]) for split in self.counts}
        for split in self.counts:
            data.check_order(stage.name, gathered[split], split)
        votes = getattr(gathered[VAL].supervision[stage.name], "votes", None)
        self.planes = 1 if votes is None or not votes.shape[1] else THIRDS
        self.answer = EpochAnswerer(stage, gathered, device)

    def take(self, epoch: int, module: Any, config: Any) -> None:
        """Answer everything with the weights of an epoch."""
        start = time.monotonic()
        found = self.answer(epoch, module, config).right
        bits = np.concatenate([np.packbits(self._spread(found[split])) for split in self.counts])
        open_folder(self.folder).write_whole(f"{epoch:03}.bits", bits.tobytes(), durable=False)
        self.seconds += time.monotonic() - start

    def _spread(self, scores: Any) -> Any:
        """[plane, question] of a score from 0 to 1 each, which is the mean over the planes."""
        return np.rint(scores * self.planes)[None] > np.arange(self.planes)[:, None]

    def read(self, epochs: int) -> tuple[dict[str, list[float]], list[Any]]:
        """[epoch] how many of each set are right, and [epoch, plane, question] which of the test questions."""
        right: dict[str, list[float]] = {}
        hits: list[Any] = []
        val_sets, sets = self.data.val_sets, self.data.sets
        for epoch in range(1, epochs + 1):
            found = self._read_epoch(epoch)
            tested = np.concatenate([found[split] for split in self.counts if split != VAL], axis=1)
            for planes, listed in ((found[VAL], val_sets), (tested, sets)):
                for name, mask in listed.items():
                    count = int(planes[:, mask].sum())
                    right.setdefault(name, []).append(count if self.planes == 1 else round(count / self.planes, 4))
            hits.append(tested)
        return right, hits

    def _read_epoch(self, epoch: int) -> dict[str, Any]:
        path = self.folder / f"{epoch:03}.bits"
        counts = {split: self.planes * count for split, count in self.counts.items()}
        sizes = [-(-count // 8) for count in counts.values()]
        data = path.read_bytes() if path.is_file() else b""
        if len(data) != sum(sizes):
            raise UserError(
                f"{path}: what epoch {epoch} answered is missing; delete {self.folder.parent} to train it again"
            )
        parts = np.split(np.frombuffer(data, np.uint8), np.cumsum(sizes)[:-1])
        held = zip(counts.items(), parts, strict=True)
        return {
            split: np.unpackbits(part, count=count).reshape(self.planes, -1).astype(bool)
            for (split, count), part in held
        }
