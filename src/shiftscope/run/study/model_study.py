"""A study of models: make the dataset, train what its rows need, run every row on every test set.

Everything is in one folder, so that it can be left and resumed; what is finished is stored at once.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import UserError
from ...folder import lock_folder, lock_path
from ...metrics import accuracy, action_accuracy
from ...model import ModelOptions
from ...records import content_id
from ...result import RunLog, Score
from ...store.dataset import Dataset
from ...suites.model_study import ACCURACY, ACTION, SEED, Figure, ModelRow, ModelScale, ModelStudy, StudyResults
from ...train.accelerator import make_accelerator, name_device
from ...train.data import open_training_data
from ...train.loop import TrainingPaused
from ...train.train import LOG, ProgressBar, TrainSpec, require_torch, show_no_progress, train
from ...trained_folder import MODEL_FILE, TRAINING_FOLDER, TrainedFolder
from ...url_path import refuse_url
from ..evaluate import RunSpec, evaluate
from ..make import make
from .model_records import (
    ModelOrigin,
    ModelRecord,
    ModelRecordStore,
    ModelTestRecord,
    ModelTrainingRecord,
    collect_results,
)

DATA, MODELS, RUNS = "data", "weights", "runs"  # folders of a study
TAIL = "tail"  # the setting of a recipe that lets epochs follow (`train/schedule.py`)
SHIPPED_FIELD = "shipped"  # of model.json: the weights are those of the package
TOLD = ("val", "epoch", "rise", "seconds", "examples")  # of what model.json says of a part

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelStudySpec:
    """What to train and run; the lower half changes only where and how long."""

    study: ModelStudy
    out: Path
    cells: Path
    scale: ModelScale
    models: tuple[str, ...] = ()  # none: all
    tests: tuple[str, ...] = ()
    device: str = "auto"
    workers: int = 1
    minutes: float | None = None
    command: str = ""

    def __post_init__(self) -> None:
        self.study.select_rows(self.models)
        for split in self.tests:
            if split not in self.study.tests:
                raise UserError(f"no test set {split!r} in this study; there are {', '.join(self.study.tests)}")


def name_data(study: ModelStudy, scale: ModelScale) -> str:
    """Names what figures rest on: the dataset as today's code makes it, and how much is trained and asked."""
    spec = study.build_spec(scale)
    return content_id([spec.spec() | spec.identify(), {k: v for k, v in asdict(scale).items() if k != "name"}])


def read_results(study: ModelStudy, cells: Path, asked: ModelScale | None = None) -> StudyResults:
    """The stored figures of a scale, else of the largest that there are any of, else none of the paper's."""
    records = ModelRecordStore(cells).read_records()
    if asked is not None:
        return collect_results(study, records, asked, name_data(study, asked))
    for scale in sorted(study.scales.values(), key=lambda one: -one.images):
        found = collect_results(study, records, scale, name_data(study, scale))
        if found.tests or found.trainings:
            return found
    largest = max(study.scales.values(), key=lambda one: one.images)
    return StudyResults({}, {}, largest)


def run_model_study(
    spec: ModelStudySpec, *, tell: Tell = lambda sentence: None, bar: ProgressBar = show_no_progress
) -> Iterator[ModelRecord]:
    """Each record as it is stored; ends early when the minutes are over."""
    for plan in spec.study.trainings.values():
        require_torch(plan.model)
    return _ModelStudyRun(spec, tell, bar).run()


class _ModelStudyRun:
    """One study under way."""

    def __init__(self, spec: ModelStudySpec, tell: Tell, bar: ProgressBar) -> None:
        self.spec, self.study, self.tell, self.bar = spec, spec.study, tell, bar
        self.deadline = time.monotonic() + 60 * spec.minutes if spec.minutes else float("inf")
        self.store = ModelRecordStore(spec.cells)
        self.device_name = name_device(make_accelerator(spec.device).device)
        self.data_name = name_data(self.study, spec.scale)
        self.described: set[str] = set()  # trainings that were looked at in this call

    def run(self) -> Iterator[ModelRecord]:
        refuse_url(self.spec.out, "a study")
        lines = lock_path(self.store.path) if self.store.is_lines else nullcontext()
        with lock_folder(self.spec.out), lines:
            try:
                yield from self._make_records()
            except (TrainingPaused, KeyboardInterrupt):
                self.tell("the minutes are over; the same command resumes from here")

    def _make_records(self) -> Iterator[ModelRecord]:
        chosen = self.study.select_rows(self.spec.models)
        tests = self.spec.tests or tuple(self.study.tests)
        done = collect_results(self.study, self.store.read_records(), self.spec.scale, self.data_name)
        with self._stop_in_time():
            make(
                self.study.suite,
                self.study.build_spec(self.spec.scale),
                self.spec.out / DATA,
                workers=self.spec.workers,
            )
        for name, row in chosen.items():
            if row.training:
                yield from self._train(row.training, done)
            trained = self._read_trained(row.training) if row.training else None
            for split in tests:
                there = done.tests.get((name, split))
                if there is None or there.weights != (trained.id() if trained else ""):
                    yield self._add(self._evaluate(name, row, split, trained))

    def _add(self, record: ModelRecord) -> ModelRecord:
        self.store.add(record)
        return record

    def _build_origin(self) -> ModelOrigin:
        made = datetime.now(UTC).isoformat(timespec="seconds")
        return ModelOrigin(self.study.suite, self.spec.scale.name, self.data_name, self.device_name, __version__, made)

    # --- training ---------------------------------------------------------------------------------------

    def _find_folder(self, training: str) -> Path:
        return self.spec.out / MODELS / training

    def _read_trained(self, training: str) -> TrainedFolder:
        return self._build_train_spec(training).trainable.folder.read(self._find_folder(training))

    def _build_train_spec(self, training: str) -> TrainSpec:
        plan, scale = self.study.trainings[training], self.spec.scale
        drawn = plan.world if scale.drawn else ""
        settings = [one for one in plan.settings if not scale.epochs or one[0] != TAIL]  # a trial ends when it says
        return TrainSpec(
            plan.model,
            drawn or str(self.spec.out / DATA),
            images=scale.drawn if drawn else scale.images,
            only=plan.only,
            other=self._find_folder(plan.other) if plan.other else None,
            epochs=scale.epochs or plan.epochs,
            seed=SEED,
            settings=(*((key, str(self._find_folder(other))) for key, other in plan.folders), *settings),
            device=self.spec.device,
            workers=self.spec.workers,
            command=self.spec.command,
        )

    def _train(self, training: str, done: StudyResults) -> Iterator[ModelRecord]:
        """Train it and what it needs, each once; a record of each that is not stored yet."""
        if training in self.described:
            return
        for needed in self.study.trainings[training].needs:
            yield from self._train(needed, done)
        spec, folder = self._build_train_spec(training), self._find_folder(training)
        stored = done.trainings.get(training)
        there = (folder / MODEL_FILE).is_file()
        if stored is not None and there and spec.trainable.folder.read(folder).id() == stored.weights:
            # Trained in this study, perhaps on another machine, whose files of the same data differ in their bytes.
            self.described.add(training)
            return
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TrainingPaused
        if left != float("inf"):
            spec = replace(spec, minutes=left / 60)
        if _take_shipped(spec, folder):
            self.tell(f"{training} ships with the package, trained in the same way")
            trained = spec.trainable.folder.read(folder)
        else:
            self.tell(f"training {training}")
            trained = train(spec, folder, bar=self.bar)
        if stored is None or stored.weights != trained.id():
            yield self._add(self._describe_training(training, trained, [stage.name for stage in spec.stages]))
        self.described.add(training)

    def _describe_training(self, training: str, trained: TrainedFolder, stages: Sequence[str]) -> ModelTrainingRecord:
        parts = {name: {key: trained.about[name].get(key) for key in TOLD} for name in stages}
        return ModelTrainingRecord(
            self._build_origin(),
            training,
            self.study.identify_training(training),
            trained.id(),
            parts,
            _read_curves(trained.folder / LOG, stages),
            sum(len(trained.read_bytes(part)) for part in trained.parts),
            sum(float(about["seconds"] or 0.0) for about in parts.values()),
            str(trained.about.get("command", "")).replace(str(self.spec.out), "OUT"),
        )

    # --- evaluation -------------------------------------------------------------------------------------

    def _evaluate(self, name: str, row: ModelRow, split: str, trained: TrainedFolder | None) -> ModelTestRecord:
        weights = trained.id() if trained else ""
        label = "".join(c if c.isalnum() else "_" for c in name)
        folder = self.spec.out / RUNS / f"{label}-{split}-{weights[:8] or 'plain'}"
        spec = RunSpec(
            f"{row.model}:{trained.folder}" if trained else row.model,
            self.spec.out / DATA,
            split,
            conditions=(row.condition,),
            options=ModelOptions(device=self.spec.device),
            limit=self.spec.scale.limit,
        )
        began = time.monotonic()
        with self._stop_in_time():
            log = evaluate(spec, folder, use_cache=False)
        seconds = round(time.monotonic() - began, 1)
        figures = measure_run(log, self.study.by)
        figures |= self.study.measure_more(Dataset.open(self.spec.out / DATA), split, folder)
        return ModelTestRecord(self._build_origin(), name, row.model, row.condition, split, weights, figures, seconds)

    @contextmanager
    def _stop_in_time(self) -> Iterator[None]:
        """Within, the end of the minutes is as Ctrl-C: what is written by then is kept."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TrainingPaused
        if left == float("inf"):
            yield
            return

        def interrupt(number: int, frame: Any) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, left)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _take_shipped(spec: TrainSpec, folder: Path) -> bool:
    """Whether the folder holds weights that ship with the package; these are put there if trained as these would be."""
    kind = spec.trainable.folder
    if (folder / MODEL_FILE).is_file():
        return SHIPPED_FIELD in kind.read(folder).about
    if spec.other or spec.settings:  # it rests on other folders
        return False
    data = open_training_data(spec.data, images=spec.images)
    shipped = kind.SHIPPED / data.schema.name if kind.SHIPPED else None
    if shipped is None or not (shipped / MODEL_FILE).is_file() or (folder / TRAINING_FOLDER).is_dir():
        return False
    found = kind.read(shipped)
    wanted = {s.name: (spec.seed, data.to_json(), spec.recipe(s).to_json()) for s in spec.stages}
    for name, (seed, order, recipe) in wanted.items():
        entry = found.about.get(name, {})
        if (entry.get("seed"), entry.get("data"), entry.get("recipe")) != (seed, order, recipe):
            return False
    figures = [figure for stage in spec.stages for figure in stage.figures]
    kept = ("kind", "version", "schema", "size", "device", "seconds", "versions", *wanted, *figures)
    about = {key: found.about[key] for key in kept if key in found.about} | {SHIPPED_FIELD: True}
    kind.write(folder, about, {name: found.read_bytes(name) for name in wanted})
    return True


def _read_curves(log: Path, stages: Sequence[str]) -> dict[str, list[float]]:
    """What each stage's epochs were chosen by, epoch by epoch."""
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["part"] in stages:
            found.setdefault(row["part"], []).append(round(float(row["figure"]), 5))
    return found


def measure_run(log: RunLog, columns: Sequence[str]) -> dict[str, dict[str, Figure]]:
    """Accuracy and, where programs were written, action accuracy: of all, and by slices."""
    there = {name for name, _ in log.records.facts}
    by = [name for name in columns if name in there]
    found = {ACCURACY: _list_figures(accuracy.measure(log.records, by))}
    if (log.records.action_right >= 0).any():
        found[ACTION] = _list_figures(action_accuracy.measure(log.records, by))
    return found


def _list_figures(scores: Sequence[Score]) -> dict[str, Figure]:
    made: dict[str, Figure] = {}
    for s in scores:
        made.setdefault(",".join(f"{name}={value}" for name, value in s.slice), (s.value, s.low, s.high, s.n))
    return made
