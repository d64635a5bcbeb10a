"""Selection study: train every method with every seed, answer all sets after each epoch, choose by every strategy.

The same call again resumes: finished trainings are skipped, one whose minutes were over goes on from its checkpoint,
beside which lies what its epochs answered. A training that fails is told and does not end the study. Several may run
at once (`concurrent_trainings`).
"""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from ... import __version__
from ...errors import UserError
from ...executor import open_executor
from ...folder import lock_folder
from ...metrics.model_selection import (
    PRIORS,
    STAGE_VAL,
    STRATEGIES,
    VAL,
    WHOLE,
    SelectionRun,
    StudyWorld,
    pack_bits,
    parse_selection_record,
    select_epoch,
    select_priors_epoch,
)
from ...shortcuts.audit import TRAIN
from ...store.dataset import Dataset
from ...suites import load_suite
from ...suites.planted_shortcuts import list_ties
from ...suites.selection_study import SelectionScale, SelectionStudy, SelectionTraining
from ...train import train as training
from ...train.accelerator import make_accelerator
from ...train.data import TrainingData
from ...train.epochs import remove_epochs
from ...train.loop import TrainingPaused
from ...trainable import SplitData, TrainStage
from ...url_path import refuse_url
from ..study.entry_store import RecordStore
from .concurrent_trainings import (
    LEAST_MINUTES,
    ConcurrentJob,
    SplitPacker,
    SplitParts,
    describe_error,
    measure_shared_throughput,
    train_concurrently,
)
from .question_data import AuditedQuestions
from .study_data import SelectionData
from .training_answers import ANSWERS, TrainingAnswers

WEIGHTS, WORLD = "weights", "world"  # folders of a study
RIGHT = "right"  # the share of right answers, as a trained folder names it
PICTURES = "pictures"  # another, while several trainings run at once
MINUTES_OVER = "the minutes are over; the same command resumes from here"
Tell = Callable[[str], None]
StudyData: TypeAlias = SelectionData | AuditedQuestions
TrainedRuns: TypeAlias = Iterator[tuple[SelectionTraining, SelectionRun]]


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
    together: int = 1  # trainings at once, on the one device
    minutes: float | None = None
    keep_epochs: bool = False  # every epoch's weights until all strategies have chosen, then those of chosen epochs
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
        self.device = "cpu" if device.type == "cpu" else str(device)
        self.failed: list[str] = []
        self.store = SelectionStore(spec.cells)

    def run(self, plan: list[SelectionTraining]) -> Iterator[StudyWorld | SelectionRun]:
        data, tied = self._open_data()
        world = data.describe_world(self.spec.study.suite, self.spec.scale.name, tied)
        stored = self.store.read_records()
        if world.name not in {record.name for record in stored}:
            self.store.add(world)
            yield world
        same = {world.data} | {r.data for r in stored if isinstance(r, StudyWorld) and r.is_redrawn(world)}
        runs = (r for r in stored if isinstance(r, SelectionRun) and r.data in same)
        done = {run.key for run in runs if self.spec.study.trains_alike(run)}
        todo = [job for job in plan if (job.method, job.seed, job.training) not in done]
        for job, run in (self._train_at_once if self.spec.together > 1 else self._train_in_turn)(todo, data, world):
            self.store.add(run)
            shutil.rmtree(self._find_folder(job) / ANSWERS, ignore_errors=True)
            if self.spec.keep_epochs:
                remove_epochs(self._find_folder(job), but=set(map(int, run.hits)))
            yield run
        if self.failed:
            names = "; ".join(self.failed)
            raise UserError(f"{len(self.failed)} of {len(plan)} trainings failed: {names}; see above why")

    def _train_in_turn(self, todo: list[SelectionTraining], data: StudyData, world: StudyWorld) -> TrainedRuns:
        for job in todo:
            if self._minutes_left() == 0:
                self.tell(MINUTES_OVER)
                return
            if not self._is_possible(job, data):
                continue
            try:
                run = self._train(job, data, world)
            except TrainingPaused:
                self.tell(f"a training was paused; the same command resumes it from {self.spec.out / WEIGHTS}")
                return
            except Exception as error:  # of one model: the others are measured all the same
                self._note_failure(job, describe_error(error))
                continue
            yield job, run

    def _train_at_once(self, todo: list[SelectionTraining], data: StudyData, world: StudyWorld) -> TrainedRuns:
        """As many as are wanted, each in a process of its own, on data that are read here, once."""
        todo = [job for job in todo if self._is_possible(job, data)]
        if not todo or self._minutes_left() == 0:
            if todo:
                self.tell(MINUTES_OVER)
            return
        self.tell(f"{len(todo)} trainings, {self.spec.together} at once: reading what they share")
        pictures = self.spec.out / PICTURES
        shutil.rmtree(pictures, ignore_errors=True)  # of a study that was killed
        try:
            yield from self._train_prepared(todo, data, world, pictures)
        finally:
            shutil.rmtree(pictures, ignore_errors=True)

    def _train_prepared(
        self, todo: list[SelectionTraining], data: StudyData, world: StudyWorld, pictures: Path
    ) -> TrainedRuns:
        packer, counts = SplitPacker(), data.answered
        for job in todo:  # reads all pictures, once
            with suppress(Exception):  # told when its turn comes
                self._gather_shared(job, data)
        data.share_pictures(pictures)
        if self.device != "cpu":
            import torch

            torch.cuda.empty_cache()  # the pictures' memory, for the trainings
        prepared: dict[SelectionTraining, dict[str, SplitParts]] = {}
        for job in todo:
            try:
                shared = self._gather_shared(job, data)
            except Exception as error:
                self._note_failure(job, describe_error(error))
                continue
            prepared[job] = {name: packer.pack(name.rpartition(" ")[2], one) for name, one in shared.items()}
        begun: list[Path] = []

        def iterate_jobs() -> Iterator[ConcurrentJob]:
            for job, parts in prepared.items():
                if self._minutes_left() == 0:
                    return
                spec, opened = self._plan_training(job, data)
                train = parts.get(TRAIN)
                if train is None:
                    own = data.gather_training(job.training, spec.stages).train
                    train = packer.pack(TRAIN, own, own=True)
                begun.append(self._find_folder(job))
                answered = [parts[f"{ANSWERS} {split}"] for split in counts]
                end = None if self.spec.minutes is None else self.began + 60 * self.spec.minutes
                yield ConcurrentJob(job, spec, opened, begun[-1], (train, parts[VAL]), answered, counts, end)

        finished, paused = 0, False
        trained = train_concurrently(iterate_jobs(), packer, self.spec.together, self.device)
        with closing(trained):
            for made, outcome in trained:
                job, paused = made.training, paused or outcome.paused
                if outcome.error:
                    self._note_failure(job, outcome.error)
                elif not outcome.paused:
                    finished += 1
                    self.tell(f"trained {_name_job(job)}: {finished} of {len(todo)}")
                    answers = TrainingAnswers(made.folder, counts)
                    answers.planes, answers.seconds = outcome.planes, outcome.seconds
                    others = [row for folder in begun if folder != made.folder for row in _read_rows(folder)]
                    yield job, self._build_run(job, made.spec, answers, data, world, others)
        if paused or len(begun) < len(prepared):
            self.tell(MINUTES_OVER)

    def _gather_shared(self, job: SelectionTraining, data: StudyData) -> dict[str, SplitData]:
        """What a training learns from, unless that is a part of the questions, is chosen by, and answers."""
        stages = self._plan_training(job, data)[0].stages
        found = {f"{ANSWERS} {split}": one for split, one in _gather_answered(stages[-1], data).items()}
        if job.training == WHOLE:
            splits = data.gather_training(job.training, stages)
            return found | {TRAIN: splits.train, VAL: splits.val}
        data.gather(TRAIN, stages)  # whose pictures are shared, too
        return found | {VAL: data.gather(VAL, stages)}

    def _is_possible(self, job: SelectionTraining, data: StudyData) -> bool:
        if data.list_ids(job.training) == frozenset():
            self.tell(f"{job.training}: its shortcut has no head or no tail in train, so there is no such training")
            return False
        return True

    def _note_failure(self, job: SelectionTraining, why: str) -> None:
        self.failed.append(_name_job(job))
        self.tell(f"{self.failed[-1]} failed: {why}")

    def _open_data(self) -> tuple[StudyData, list[dict[str, Any]]]:
        """What models learn from and answer, and what was planted in it."""
        if self.spec.audit is not None:
            return AuditedQuestions(self.spec.audit), []
        data = SelectionData(self._open_world(), self.device, self.spec.workers)
        suite_spec = load_suite(self.spec.study.world).spec.of(data.dataset.manifest.spec)
        tied = [{"shortcut": t.shortcut, **asdict(t)} for t in list_ties(suite_spec)]
        return data, [one | {"words": list(one["words"]), "kinds": list(one["kinds"])} for one in tied]

    def _open_world(self) -> Dataset:
        if self.spec.data is not None:
            opened, world = open_world(self.spec.study, self.spec.data)
            _check_scale(self.spec.scale, world, self.spec.data)
            return opened
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

    def _plan_training(self, job: SelectionTraining, data: StudyData) -> tuple[training.TrainSpec, TrainingData]:
        method = self.spec.study.find_method(job.method)
        opened = data.open_part(job.training)
        spec = training.TrainSpec(
            model=method.model,
            data=data.source,
            seed=job.seed,
            epochs=self.spec.scale.epochs,
            part=getattr(opened, "part", None),
            settings=self.spec.study.find_settings(method, job.training),
            device=self.spec.device,
            workers=self.spec.workers,
            keep_epochs=self.spec.keep_epochs,
            command=self.spec.command,
        )
        return spec, opened

    def _train(self, job: SelectionTraining, data: StudyData, world: StudyWorld) -> SelectionRun:
        """Train, answer with every epoch, and choose."""
        spec, opened = self._plan_training(job, data)
        spec = replace(spec, minutes=self._minutes_left())
        self.tell(f"training {_name_job(job)}")
        folder, stages = self._find_folder(job), spec.stages
        splits = data.gather_training(job.training, stages)
        answers = TrainingAnswers(folder, data.answered)
        watch = answers.watch(stages[-1], _gather_answered(stages[-1], data), self.device)
        training.train_on(opened, spec, folder, splits=splits, bar=self.bar, watch=watch)
        return self._build_run(job, spec, answers, data, world)

    def _build_run(
        self,
        job: SelectionTraining,
        spec: training.TrainSpec,
        answers: TrainingAnswers,
        data: StudyData,
        world: StudyWorld,
        others: Sequence[dict[str, Any]] = (),
    ) -> SelectionRun:
        """The record of a finished training; `others` are the epochs of those that may have run beside it."""
        *earlier, last = (stage.name for stage in spec.stages)
        trained = spec.trainable.folder.read(self._find_folder(job))
        rows, together = training.read_log(trained.folder, last), answers.read_company()
        right, hits = answers.read(len(rows), data.val_sets, data.sets)
        chosen = {select_epoch(right, world.sizes, strategy) for strategy in STRATEGIES}
        chosen |= {select_priors_epoch(right)} if job.training == PRIORS else set()
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
            recipe=dict(trained.about[last]["recipe"]) | _read_validation(trained.about, earlier) | dict(spec.settings),
            seconds={"training": round(float(trained.about["seconds"]["all"]) - answers.seconds, 2)}
            | {"answering": round(answers.seconds, 2)},
            throughput=max(row["examples_per_second"] for row in rows),
            together=together,
            shared_throughput=measure_shared_throughput(rows, others) if together > 1 else 0.0,
            device=str(trained.about["device"]),
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            command=self.spec.write_command(),
        )


def open_world(study: SelectionStudy, folder: Path) -> tuple[Dataset, Any]:
    """A world that was made before, and its spec."""
    opened = Dataset.open(folder)
    if (suite := opened.manifest.spec["suite"]) != study.world:
        raise UserError(f"{folder} is a dataset of {suite}; study {study.suite} wants a world of {study.world}")
    return opened, load_suite(study.world).spec.of(opened.manifest.spec)


def _check_scale(scale: SelectionScale, world: Any, folder: Path) -> None:
    """Records are labelled by the scale, which says how many images there are, and of which size."""
    found, named = (f"{one.images:,} images of {one.size[0]}x{one.size[1]}" for one in (world, scale))
    if found != named:
        raise UserError(f"{folder} has {found}, and scale {scale.name} has {named}; omit --scale and --images")


def _name_job(job: SelectionTraining) -> str:
    return f"{job.method}, {job.training}, seed {job.seed}"


def _read_validation(about: Mapping[str, Any], stages: Sequence[str]) -> dict[str, float]:
    """How good the parts are that were trained before, such as a branch: accuracies of those that answer."""
    known = {stage: about[stage]["val"].get(RIGHT) for stage in stages}
    return {f"{stage}{STAGE_VAL}": float(share) for stage, share in known.items() if share is not None}


def _gather_answered(stage: TrainStage, data: StudyData) -> dict[str, SplitData]:
    """What every epoch answers, in the order of the sets."""
    gathered = {split: data.gather(split, [stage]) for split in data.answered}
    for split, one in gathered.items():
        data.check_order(stage.name, one, split)
    return gathered


def _read_rows(folder: Path) -> list[dict[str, Any]]:
    """The epochs of all parts of a training, so far."""
    path = folder / training.LOG
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
