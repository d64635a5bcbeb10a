"""Study: train every row of the grid, evaluate it on every test set, store each entry once done.

The same call again resumes with the next missing entry. On a GPU, data are made in the background while a row is
trained or evaluated.
"""

from __future__ import annotations

import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import UserError, unknown
from ...folder import lock_folder, lock_path
from ...metrics.transfer_matrix import TransferMatrix
from ...model import Model, ModelOptions, ModelSetting, build_model
from ...records import content_id
from ...scene import load_schema
from ...train.data import TRAIN, VAL, SuiteTrainingData
from ...train.examples import TrainValData, gather_split
from ...train.train import (
    ProgressBar,
    TrainSpec,
    find_trainable,
    make_accelerator,
    name_device,
    require_torch,
    show_no_progress,
    train_on,
)
from ...trained_folder import MODEL_FILE, TrainedFolder
from .definition import load_study
from .entries import EntryOrigin, OracleDiagnosis, StudyRecord, TrainingRecord, TransferEntry
from .entry_store import EntryStore
from .evaluation import EntryRun, diagnose_models, evaluate_testset, write_run_folders
from .testsets import StudyTestSet, StudyTestSets
from .transfer_matrix import build_transfer_matrix, hash_train_data

LOCAL_FOLDER = re.compile(r"(?<= )/\S*/")  # of this machine: whoever runs a command again has another
WEIGHTS, MODELS_FOLDER, RUNS = ("weights", "models", "runs")  # folders of a study: parts, whole models, runs
TIME_MARGIN = 1.1  # a training begins if there is time for one that takes so much longer than the longest
SWITCH_INTERVAL = 0.0005  # seconds: training must not wait long for the thread that makes data


class Prefetcher:
    """One thread works through the makers; at most `most` results wait. With 0, each is made when it is needed."""

    def __init__(self, makers: Iterable[Callable[[], Any]], most: int) -> None:
        self._makers, self._most = iter(makers), most
        self._pending: deque[Future[Any]] = deque()
        self._pool = ThreadPoolExecutor(1) if most else None

    def next(self) -> Any:
        """The next result."""
        if self._pool is None:
            return next(self._makers)()
        self._fill()
        found = self._pending.popleft().result()
        self._fill()
        return found

    def _fill(self) -> None:
        assert self._pool is not None
        while len(self._pending) < self._most + 1:
            maker = next(self._makers, None)
            if maker is None:
                return
            self._pending.append(self._pool.submit(maker))

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def prefetch(makers: Iterable[Callable[[], Any]], most: int) -> Iterator[Prefetcher]:
    """Work ahead until the end of the `with` block."""
    before = sys.getswitchinterval()
    if most:
        sys.setswitchinterval(SWITCH_INTERVAL)
    ahead = Prefetcher(makers, most)
    try:
        yield ahead
    finally:
        ahead.close()
        sys.setswitchinterval(before)


@dataclass(frozen=True, slots=True)
class StudySpec:
    """What to study, and where it goes."""

    suite: str
    out: Path
    cells: Path  # where entries are stored: a folder, or FILE.jsonl
    scale: Any
    models: tuple[str, ...]
    factors: tuple[str, ...]
    visual: str = "mid"
    known: Path | None = None  # entries of earlier studies, which are not made again
    seeds: tuple[int, ...] = (0,)
    only: tuple[str, ...] = ()  # trainings, as their factors call them
    device: str = "auto"
    workers: int = 1
    minutes: float | None = None
    runs: bool = False  # write each entry as a run folder too
    command: str = ""
    background: bool | None = None  # make data in the background; None: if there is a GPU

    def __post_init__(self) -> None:
        known = load_study(self.suite).MODELS
        for model in self.models:
            if model not in known:
                raise unknown("model", model, known, "a study")
        if not self.models or not self.factors:
            raise UserError("a study needs at least one model and one factor")
        if self.minutes is not None and self.minutes <= 0:
            raise UserError(f"{self.minutes:g} minutes are too few; give more, or omit --minutes")
        self.list_rows()  # refuses what is not in the matrix

    def list_rows(self) -> list[Any]:
        return load_study(self.suite).plan_rows(self.factors, self.visual, seeds=self.seeds, only=self.only)

    @property
    def writes_runs(self) -> bool:
        """At any scale but the paper's, whose runs are large, always."""
        return self.runs or self.scale.name != "paper"


Tell = Callable[[str], None]


def study(
    spec: StudySpec, *, tell: Tell = lambda sentence: None, bar: ProgressBar = show_no_progress
) -> Iterator[StudyRecord]:
    """Each record as it is stored; ends early, between rows, when the minutes are over."""
    require_torch(load_study(spec.suite).TRAINED_AS)
    return _StudyRun(spec, tell, bar).run()


class _StudyRun:
    """One study under way."""

    def __init__(self, spec: StudySpec, tell: Tell, bar: ProgressBar) -> None:
        self.spec, self.tell, self.bar, self.study = spec, tell, bar, load_study(spec.suite)
        self.began = time.monotonic()
        self.store = EntryStore(spec.cells)
        accelerator = make_accelerator(spec.device)
        self.device = "cpu" if accelerator.device.type == "cpu" else str(accelerator.device)
        self.device_name = name_device(accelerator.device)
        self.rows = spec.list_rows()
        diagnosed = {at for row in self.rows for at in row.tests if self.study.is_diagnosed(row.trained, at)}
        self.testsets = StudyTestSets(self.study, spec.scale, device=self.device, workers=spec.workers, whole=diagnosed)
        self.folder = spec.out / WEIGHTS
        self.background = self.device != "cpu" if spec.background is None else spec.background
        self.longest_training = self.longest_evaluation = 0.0
        self.models: dict[str, Model] = {}  # of the row that is evaluated

    def run(self) -> Iterator[StudyRecord]:
        lines = lock_path(self.store.path) if self.store.is_lines else nullcontext()
        with lock_folder(self.spec.out), lines:
            yield from self._make_records()

    def _make_records(self) -> Iterator[StudyRecord]:
        stored = self.store.read_records()
        if self.spec.known is not None:
            stored += EntryStore(self.spec.known).read_records()
        matrix = build_transfer_matrix(stored, self.spec.scale)
        self.done = {key: self._list_dependencies(key[0], entry.origin) for key, entry in matrix.entries.items()}
        self.kept = {one.trained: one.origin.weights for one in matrix.trainings.values()}
        self.hashes = self._find_part_hashes(matrix)
        self.diagnosed = {(d.trained, d.tested): d for d in matrix.diagnoses}
        groups: dict[Any, list[Any]] = {}  # rows by the first part, which they share
        for row in self.rows:
            groups.setdefault(self._list_parts([row])[0], []).append(row)
        left = [rows for rows in groups.values() if not self._is_finished(rows)]
        if len(left) < len(groups):
            shared = self.study.PARTS[0].replace("_", " ")
            self.tell(f"{len(groups) - len(left)} of {len(groups)} {shared}s have all their entries already")
        self.tests = {row.trained: self._list_missing_tests(row) for rows in left for row in rows}
        data_makers = self._list_data_makers(part for rows in left for part in self._list_parts(rows))
        testset_makers = [
            partial(self.testsets.get_or_make, at) for rows in left for row in rows for at in self.tests[row.trained]
        ]
        # Each holds images: of training data there is one more in memory, of test sets two.
        with (
            prefetch(data_makers, 1 if self.background else 0) as data,
            prefetch(testset_makers, 2 if self.background else 0) as testsets,
        ):
            for rows in left:
                if not self._has_time_for_another():
                    self.tell("the minutes are over; the same command resumes from here")
                    break
                yield from self._evaluate_rows(rows, self._train_parts(rows, data), testsets)

    def _is_finished(self, rows: Sequence[Any]) -> bool:
        """Whether all entries of these rows are there, so that nothing is to be trained or evaluated."""
        wanted = [(m, row.trained, at) for row in rows for m in self.spec.models for at in row.tests]
        diagnosed = [(row.trained, at) for row in rows for at in row.tests if self.study.is_diagnosed(row.trained, at)]
        return (
            all(self._covers_all_models(self.diagnosed.get(key)) for key in diagnosed)
            and all(key in self.done for key in wanted)
            and not any(map(self._is_outdated, rows))
        )

    def _is_outdated(self, row: Any) -> bool:
        """Whether an adapting model ran with these very weights, but depends on something else today."""
        origin = self._find_origin(row)
        if origin is None:
            return False
        for model in self.study.ADAPTING_MODELS & set(self.spec.models):
            weights, learned = self._list_dependencies(model, origin)
            before = [self.done[model, row.trained, at] for at in row.tests]
            if any(old == weights and other != learned for old, other in before):
                return True
        return False

    def _has_time_for_another(self) -> bool:
        if self.spec.minutes is None:
            return True
        longest = self.longest_training + self.longest_evaluation
        return time.monotonic() + TIME_MARGIN * longest < self.began + 60 * self.spec.minutes

    def _list_missing_tests(self, row: Any) -> tuple[Any, ...]:
        """The test sets a row is still to be evaluated on: all of them, where its parts are yet to be trained."""
        origin = self._find_origin(row)
        if origin is None:
            return tuple(row.tests)

        def is_missing(tested: Any) -> bool:
            undiagnosed = self.study.is_diagnosed(row.trained, tested) and not self._is_diagnosed(origin, tested)
            return undiagnosed or bool(self._list_missing_models(origin, tested))

        return tuple(filter(is_missing, row.tests))

    def _list_missing_models(self, origin: EntryOrigin, tested: Any) -> list[str]:
        """The models whose entry is still to be made."""
        trained = origin.trained
        return [
            model
            for model in self.spec.models
            if self.done.get((model, trained, tested)) != self._list_dependencies(model, origin)
        ]

    def _list_dependencies(self, model: str, origin: EntryOrigin) -> tuple[tuple[tuple[str, str], ...], str | None]:
        """What a model's answers depend on: weights, and of adapting models what was learned besides."""
        return origin.weights, origin.learned if model in self.study.ADAPTING_MODELS else None

    def _is_diagnosed(self, origin: EntryOrigin, tested: Any) -> bool:
        there = self.diagnosed.get((origin.trained, tested))
        return (
            there is not None
            and self._covers_all_models(there)
            and (there.origin.weights, there.origin.learned) == (origin.weights, origin.learned)
        )

    def _covers_all_models(self, diagnosis: OracleDiagnosis | None) -> bool:
        return diagnosis is not None and set(self.spec.models) <= set(diagnosis.models)

    # --- training: the first part, which some rows share, and their other parts ------------------------

    def _list_parts(self, rows: Sequence[Any]) -> list[Any]:
        """The parts of the rows, each once; the shared one first."""
        parts = [self.study.list_parts(row.trained, self.spec.scale) for row in rows]
        return list(dict.fromkeys(part for column in zip(*parts, strict=True) for part in column))

    def _list_data_makers(self, parts: Iterable[Any]) -> Iterator[Callable[[], Any]]:
        """A maker of training data for each part; one that several groups of rows need is trained with the first."""
        seen: set[Any] = set()
        for part in parts:
            yield (lambda: None) if part in seen else partial(self._make_training_data, part)
            seen.add(part)

    def _make_training_data(self, part: Any) -> TrainValData | None:
        """What a part learns from; nothing where it is trained already."""
        if self._find_part(part) is not None:
            return None
        return make_training_data(self.spec.suite, part, device=self.device, workers=self.spec.workers)

    def _train_parts(self, rows: Sequence[Any], data: Prefetcher) -> dict[Any, TrainedFolder]:
        start = time.monotonic()
        weights = {part: self._find_or_train(part, data.next()) for part in self._list_parts(rows)}
        self.longest_training = max(self.longest_training, time.monotonic() - start)
        return weights

    def _find_or_train(self, part: Any, data: TrainValData | None) -> TrainedFolder:
        found = self._find_part(part)
        if found is not None:
            return found
        self.tell(f"training {part.name}")
        if part.part != self.study.PARTS[0] and self._find_hash(part):
            self.tell(
                f"stored entries rest on another training of {part.name}, which is not in {self.folder}: "
                "only those of the training with more entries will be shown"
            )
        assert data is not None
        given = {"device": self.spec.device, "command": self.spec.command}
        return train_part(self.spec.suite, part, data, self.folder, **given, bar=self.bar)

    def _find_part(self, part: Any) -> TrainedFolder | None:
        """The part as it was trained before: here, or as it is shipped where stored entries rest on that."""
        return find_finished(self.spec.suite, part, self.folder) or self.study.find_shipped(
            part.part, self._find_hash(part)
        )

    def _find_hash(self, part: Any) -> str | None:
        return self.hashes.get(part)

    def _find_part_hashes(self, matrix: TransferMatrix) -> dict[Any, str]:
        """The hashes of the parts that stored entries rest on."""
        return {
            part: entry.origin.hash_of(part.part)
            for entry in matrix.entries.values()
            for part in self.study.list_parts(entry.trained, self.spec.scale)
        }

    # --- evaluation: the rows of a first part, and their entries ---------------------------------------

    def _evaluate_rows(
        self, rows: Sequence[Any], weights: dict[Any, TrainedFolder], testsets: Prefetcher
    ) -> Iterator[StudyRecord]:
        """The entries of rows, test set by test set."""
        start = time.monotonic()
        for row in rows:
            parts = [weights[part] for part in self._list_parts([row])]
            origin = self._build_origin(row.trained, parts)
            folder = self.spec.out / MODELS_FOLDER / row.trained.label.replace("@", "-").replace(" ", "-")
            self.study.combine_parts(folder, parts)
            yield from self._store_training(origin, parts)
            self.models = {model: self._build_model(model, folder) for model in self.spec.models}
            for tested in self.tests[row.trained]:
                testset = testsets.next()
                runs: dict[str, EntryRun] = {}
                for model in self._list_missing_models(origin, tested):
                    runs[model] = evaluate_testset(self.models[model], model, testset)
                    yield self._store_entry(origin, model, runs[model])
                if self.study.is_diagnosed(row.trained, tested) and not self._is_diagnosed(origin, tested):
                    yield self._store_diagnosis(origin, testset, runs)
        self.longest_evaluation = max(self.longest_evaluation, time.monotonic() - start)

    def _build_model(self, model: str, folder: Path) -> Model:
        options = ModelOptions(device=self.device, trace=False)
        return build_model(f"{model}:{folder}", ModelSetting(schema=load_schema(self.spec.suite), options=options))

    def _find_origin(self, row: Any) -> EntryOrigin | None:
        """What entries of the row would rest on; None where a part is yet to be trained."""
        parts = [self._find_part(part) for part in self._list_parts([row])]
        found = [part for part in parts if part is not None]
        return self._build_origin(row.trained, found) if len(found) == len(parts) else None

    def _build_origin(self, trained: Any, parts: Sequence[TrainedFolder]) -> EntryOrigin:
        hashes = (trained.about[name]["blake2b"] for trained, name in zip(parts, self.study.PARTS, strict=True))
        return EntryOrigin(
            self.spec.suite,
            self.spec.scale,
            trained,
            tuple(zip(self.study.PARTS, hashes, strict=True)),
            hash_train_data(self.spec.suite, trained, self.spec.scale),
            self.study.hash_recipes(parts),
            self.device_name,
            __version__,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            self.study.hash_learned(parts),
        )

    def _store_training(self, origin: EntryOrigin, parts: Sequence[TrainedFolder]) -> Iterator[StudyRecord]:
        if self.kept.get(origin.trained) == origin.weights:
            return
        seconds: list[tuple[str, float]] = []
        commands = []
        for trained, name in zip(parts, self.study.PARTS, strict=True):
            stage = self.study.STAGES[name]
            seconds += [(f"{stage}, {k}", float(v)) for k, v in trained.about["seconds"].items()]
            commands.append(trained.about[name].get("command"))
        record = TrainingRecord(
            origin,
            tuple(seconds),
            tuple((k, float(v)) for k, v in self.study.list_validation(parts).items()),
            LOCAL_FOLDER.sub("", "; ".join(dict.fromkeys(filter(None, commands)))),
        )
        self.store.add(record)
        yield record

    def _store_entry(self, origin: EntryOrigin, model: str, run: EntryRun) -> TransferEntry:
        seconds = {"make": run.testset.seconds, **run.seconds}
        entry = TransferEntry(
            model,
            replace(origin, learned=self._list_dependencies(model, origin)[1]),
            run.testset.test,
            run.score(),
            tuple((name, round(value, 3)) for name, value in seconds.items()),
            run.adapted,
        )
        if self.spec.writes_runs:
            write_run_folders(self.spec.out / RUNS, self.study, model, origin, run, self.spec.visual)
        self.store.add(entry)
        return entry

    def _store_diagnosis(
        self, origin: EntryOrigin, testset: StudyTestSet, runs: dict[str, EntryRun]
    ) -> OracleDiagnosis:
        every = {m: runs.get(m) or evaluate_testset(self.models[m], m, testset) for m in self.spec.models}
        record = diagnose_models(every, next(iter(self.models.values())), testset, origin)
        self.store.add(record)
        return record


# One part of a model: its data, and its training in a folder of its own.


def open_part_data(suite: str, part: Any) -> SuiteTrainingData:
    return SuiteTrainingData(suite, part.domain.build_spec(part.scale))


def build_train_spec(suite: str, part: Any, device: str = "cpu", command: str = "") -> TrainSpec:
    data, model = open_part_data(suite, part), load_study(suite).TRAINED_AS
    return TrainSpec(
        model=model,
        data=data.name,
        visual=part.domain.visual,
        images=data.count(TRAIN),
        seed=part.seed,
        only=find_trainable(model).stage(part.part).option,
        epochs=part.epochs,
        device=device,
        command=command,
    )


def find_finished(suite: str, part: Any, folder: Path) -> TrainedFolder | None:
    """The part as it was trained before, if it was to the end; another one's folder is refused."""
    if not (folder / part.name / MODEL_FILE).exists():
        return None
    spec = build_train_spec(suite, part)
    found = spec.trainable.folder.read(folder / part.name)
    wanted = content_id(spec.to_json(open_part_data(suite, part), None))
    return found if content_id(found.about.get("spec")) == wanted else None


def make_training_data(suite: str, part: Any, *, device: str, workers: int) -> TrainValData:
    """Make the images or questions that a part learns from."""
    start = time.perf_counter()
    data, stages = open_part_data(suite, part), build_train_spec(suite, part).stages
    train, val = (gather_split(data, split, stages, device=device, workers=workers) for split in (TRAIN, VAL))
    return TrainValData(train, val, time.perf_counter() - start)


def train_part(
    suite: str, part: Any, data: TrainValData, folder: Path, *, device: str, command: str, bar: ProgressBar
) -> TrainedFolder:
    """Train it on what was made ahead; a training that was stopped is resumed."""
    spec = build_train_spec(suite, part, device, command)
    return train_on(open_part_data(suite, part), spec, folder / part.name, splits=data, bar=bar)
