"""Study: train every row of the grid, evaluate it on every test set, store each entry once done.

The same call again resumes with the next missing entry. On a GPU, data are made in the background while a row is
trained or evaluated.
"""

import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import UserError, unknown
from ...folder import lock_folder, lock_path
from ...model import ModelOptions, ModelSetting, build_model
from ...records import content_id
from ...scene import load_schema
from ...suites.study import StudyRow, load_study
from ...train import train as training
from ...train.data import TRAIN, VAL, SuiteTrainingData, TrainValData, gather_split
from ...train.train import make_accelerator, name_device, require_torch
from ...trained_folder import MODEL_FILE, TrainedFolder
from .entries import EntryOrigin, OracleDiagnosis, StudyRecord, TrainingRecord, TransferEntry
from .entry_store import EntryStore, build_transfer_matrix, hash_train_data
from .evaluation import EntryRun, StudyTestSet, StudyTestSets, diagnose_models, evaluate_testset, write_run_folders

LOCAL_FOLDER = re.compile(r"(?<= )/\S*/")  # of this machine: whoever runs a command again has another
WEIGHTS, MODELS_FOLDER, RUNS = ("weights", "models", "runs")  # folders of a study: parts, whole models, runs
TIME_MARGIN = 1.1  # a training begins if there is time for one that takes so much longer than the longest
SWITCH_INTERVAL = 0.0005  # seconds: training must not wait long for the thread that makes data


@contextmanager
def prefetch(makers: Iterable[Callable[[], Any]], most: int) -> Iterator[Iterator[Any]]:
    """The results of the makers, in order; one thread works ahead until the end of the `with` block.

    At most `most` results wait; with 0, each is made when it is needed.
    """
    if not most:
        yield (make() for make in makers)
        return
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    pool = ThreadPoolExecutor(1)
    try:
        yield _work_ahead(pool, iter(makers), most)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        sys.setswitchinterval(before)


def _work_ahead(pool: ThreadPoolExecutor, makers: Iterator[Callable[[], Any]], most: int) -> Iterator[Any]:
    pending = deque(map(pool.submit, islice(makers, most + 1)))
    while pending:
        result = pending.popleft().result()
        pending.extend(map(pool.submit, islice(makers, 1)))
        yield result


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
        known = load_study(self.suite).models
        for model in self.models:
            if model not in known:
                raise unknown("model", model, known, "a study")
        if not self.models or not self.factors:
            raise UserError("a study needs at least one model and one factor")
        if self.minutes is not None and self.minutes <= 0:
            raise UserError(f"{self.minutes:g} minutes are too few; give more, or omit --minutes")
        self.list_rows()  # refuses what is not in the matrix

    def list_rows(self) -> list[StudyRow]:
        return load_study(self.suite).plan_rows(self.factors, self.visual, seeds=self.seeds, only=self.only)


Tell = Callable[[str], None]


def study(
    spec: StudySpec, *, tell: Tell = lambda sentence: None, bar: training.ProgressBar = training.show_no_progress
) -> Iterator[StudyRecord]:
    """Each record as it is stored; ends early, between rows, when the minutes are over."""
    require_torch(load_study(spec.suite).trained_as)
    return _StudyRun(spec, tell, bar).run()


class _StudyRun:
    """One study under way."""

    def __init__(self, spec: StudySpec, tell: Tell, bar: training.ProgressBar) -> None:
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

    def run(self) -> Iterator[StudyRecord]:
        lines = lock_path(self.store.path) if self.store.is_lines else nullcontext()
        with lock_folder(self.spec.out), lines:
            self._read_stored()
            yield from self._make_records()

    def _read_stored(self) -> None:
        stored = self.store.read_records()
        if self.spec.known is not None:
            stored += EntryStore(self.spec.known).read_records()
        matrix = build_transfer_matrix(stored, self.spec.scale)
        self.done = {key: self._list_dependencies(key[0], entry.origin) for key, entry in matrix.entries.items()}
        self.kept = {one.trained: one.origin.weights for one in matrix.trainings.values()}
        self.hashes = {  # of the parts that stored entries rest on
            part: entry.origin.hash_of(part.part)
            for entry in matrix.entries.values()
            for part in self.study.list_parts(entry.trained, self.spec.scale)
        }
        self.diagnosed = {(d.trained, d.tested): d for d in matrix.diagnoses}

    def _make_records(self) -> Iterator[StudyRecord]:
        groups: dict[Any, list[StudyRow]] = {}  # rows by the first part, which they share
        for row in self.rows:
            groups.setdefault(self._list_parts([row])[0], []).append(row)
        left = [rows for rows in groups.values() if not self._is_finished(rows)]
        if len(left) < len(groups):
            shared = self.study.parts[0].replace("_", " ")
            self.tell(f"{len(groups) - len(left)} of {len(groups)} {shared}s have all their entries already")
        self.tests = {row.trained: self._list_missing_tests(row) for rows in left for row in rows}
        # One part may be needed by several groups of rows: it is trained with the first.
        parts = [part for rows in left for part in self._list_parts(rows)]
        data_makers = [partial(self._make_training_data, part, parts.index(part) == k) for k, part in enumerate(parts)]
        testset_makers = [
            partial(self.testsets.get_or_make, at) for rows in left for row in rows for at in self.tests[row.trained]
        ]
        # Each holds images: of training data there is one more in memory, of test sets two.
        with (
            prefetch(data_makers, 1 if self.background else 0) as data,
            prefetch(testset_makers, 2 if self.background else 0) as testsets,
        ):
            for rows in left:
                longest = TIME_MARGIN * (self.longest_training + self.longest_evaluation)
                minutes = self.spec.minutes
                if minutes is not None and time.monotonic() + longest >= self.began + 60 * minutes:
                    self.tell("the minutes are over; the same command resumes from here")
                    break
                start = time.monotonic()
                weights = {part: self._find_or_train(part, next(data)) for part in self._list_parts(rows)}
                self.longest_training = max(self.longest_training, time.monotonic() - start)
                start = time.monotonic()
                for row in rows:
                    yield from self._evaluate_row(row, [weights[part] for part in self._list_parts([row])], testsets)
                self.longest_evaluation = max(self.longest_evaluation, time.monotonic() - start)

    def _is_finished(self, rows: Sequence[StudyRow]) -> bool:
        """Whether all entries of these rows are there, so that nothing is to be trained or evaluated."""
        wanted = [(m, row.trained, at) for row in rows for m in self.spec.models for at in row.tests]
        diagnosed = [(row.trained, at) for row in rows for at in row.tests if self.study.is_diagnosed(row.trained, at)]
        return (
            all(self._covers_all_models(self.diagnosed.get(key)) for key in diagnosed)
            and all(key in self.done for key in wanted)
            and not any(map(self._is_outdated, rows))
        )

    def _is_outdated(self, row: StudyRow) -> bool:
        """Whether an adapting model ran with these very weights, but depends on something else today."""
        origin = self._find_origin(row)
        if origin is None:
            return False
        for model in self.study.adapting_models & set(self.spec.models):
            weights, learned = self._list_dependencies(model, origin)
            before = [self.done[model, row.trained, at] for at in row.tests]
            if any(old == weights and other != learned for old, other in before):
                return True
        return False

    def _list_missing_tests(self, row: StudyRow) -> list[Any]:
        """The test sets a row is still to be evaluated on: all of them, where its parts are yet to be trained."""
        origin = self._find_origin(row)
        if origin is None:
            return list(row.tests)
        return [at for at in row.tests if self._lacks_diagnosis(origin, at) or self._list_missing_models(origin, at)]

    def _list_missing_models(self, origin: EntryOrigin, tested: Any) -> list[str]:
        """The models whose entry is still to be made."""
        keys = {model: (model, origin.trained, tested) for model in self.spec.models}
        return [m for m, key in keys.items() if self.done.get(key) != self._list_dependencies(m, origin)]

    def _list_dependencies(self, model: str, origin: EntryOrigin) -> tuple[tuple[tuple[str, str], ...], str | None]:
        """What a model's answers depend on: weights, and of adapting models what was learned besides."""
        return origin.weights, origin.learned if model in self.study.adapting_models else None

    def _lacks_diagnosis(self, origin: EntryOrigin, tested: Any) -> bool:
        """Whether oracles are still to be asked, of these weights and all models."""
        there = self.diagnosed.get((origin.trained, tested))
        same = there and (there.origin.weights, there.origin.learned) == (origin.weights, origin.learned)
        return self.study.is_diagnosed(origin.trained, tested) and not (same and self._covers_all_models(there))

    def _covers_all_models(self, diagnosis: OracleDiagnosis | None) -> bool:
        return diagnosis is not None and set(self.spec.models) <= set(diagnosis.models)

    # --- training: the first part, which some rows share, and their other parts ------------------------

    def _list_parts(self, rows: Sequence[StudyRow]) -> list[Any]:
        """The parts of the rows, each once; the shared one first."""
        parts = [self.study.list_parts(row.trained, self.spec.scale) for row in rows]
        return list(dict.fromkeys(part for column in zip(*parts, strict=True) for part in column))

    def _make_training_data(self, part: Any, first: bool) -> TrainValData | None:
        """What a part learns from; nothing where it is trained already, or will be by then."""
        if not first or self._find_part(part) is not None:
            return None
        return make_training_data(self.spec.suite, part, device=self.device, workers=self.spec.workers)

    def _find_or_train(self, part: Any, data: TrainValData | None) -> TrainedFolder:
        trained = self._find_part(part)
        if trained is not None:
            return trained
        self.tell(f"training {part.name}")
        if part.part != self.study.parts[0] and part in self.hashes:
            self.tell(
                f"stored entries rest on another training of {part.name}, which is not in {self.folder}: "
                "only those of the training with more entries will be shown"
            )
        assert data is not None
        given = {"device": self.spec.device, "command": self.spec.command}
        return train_part(self.spec.suite, part, data, self.folder, **given, bar=self.bar)

    def _find_part(self, part: Any) -> TrainedFolder | None:
        """The part as it was trained before: here, or as it is shipped where stored entries rest on that."""
        finished = find_finished(self.spec.suite, part, self.folder)
        return finished or self.study.find_shipped(part.part, self.hashes.get(part))

    # --- evaluation: the entries of a row ---------------------------------------------------------------

    def _evaluate_row(
        self, row: StudyRow, parts: Sequence[TrainedFolder], testsets: Iterator[StudyTestSet]
    ) -> Iterator[StudyRecord]:
        """The entries of a row, test set by test set."""
        origin = self._build_origin(row.trained, parts)
        folder = self.spec.out / MODELS_FOLDER / row.trained.label.replace("@", "-").replace(" ", "-")
        self.study.combine_parts(folder, parts)
        if self.kept.get(row.trained) != origin.weights:
            yield self._add(self._build_training_record(origin, parts))
        setting = ModelSetting(
            schema=load_schema(self.spec.suite), options=ModelOptions(device=self.device, trace=False)
        )
        models = {model: build_model(f"{model}:{folder}", setting) for model in self.spec.models}
        for tested in self.tests[row.trained]:
            testset = next(testsets)
            runs: dict[str, EntryRun] = {}
            for model in self._list_missing_models(origin, tested):
                runs[model] = evaluate_testset(models[model], model, testset)
                yield self._add(self._build_entry(origin, model, runs[model]))
            if self._lacks_diagnosis(origin, tested):
                every = {m: runs.get(m) or evaluate_testset(models[m], m, testset) for m in self.spec.models}
                yield self._add(diagnose_models(every, next(iter(models.values())), testset, origin))

    def _add(self, record: StudyRecord) -> StudyRecord:
        self.store.add(record)
        return record

    def _find_origin(self, row: StudyRow) -> EntryOrigin | None:
        """What entries of the row would rest on; None where a part is yet to be trained."""
        parts = [self._find_part(part) for part in self._list_parts([row])]
        trained = [part for part in parts if part is not None]
        return self._build_origin(row.trained, trained) if len(trained) == len(parts) else None

    def _build_origin(self, trained: Any, parts: Sequence[TrainedFolder]) -> EntryOrigin:
        return EntryOrigin(
            self.spec.suite,
            self.spec.scale,
            trained,
            tuple((name, part.about[name]["blake2b"]) for part, name in zip(parts, self.study.parts, strict=True)),
            hash_train_data(self.spec.suite, trained, self.spec.scale),
            self.study.hash_recipes(parts),
            self.device_name,
            __version__,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            self.study.hash_learned(parts),
        )

    def _build_training_record(self, origin: EntryOrigin, parts: Sequence[TrainedFolder]) -> TrainingRecord:
        seconds: list[tuple[str, float]] = []
        commands = []
        for trained, (name, stage) in zip(parts, self.study.stages.items(), strict=True):
            seconds += [(f"{stage}, {k}", float(v)) for k, v in trained.about["seconds"].items()]
            commands.append(trained.about[name].get("command"))
        return TrainingRecord(
            origin,
            tuple(seconds),
            tuple((k, float(v)) for k, v in self.study.list_validation(parts).items()),
            LOCAL_FOLDER.sub("", "; ".join(dict.fromkeys(filter(None, commands)))),
        )

    def _build_entry(self, origin: EntryOrigin, model: str, run: EntryRun) -> TransferEntry:
        """The entry of a run, which is written as a folder too: at the paper's scale, where it is large, on demand."""
        if self.spec.runs or self.spec.scale.name != "paper":
            write_run_folders(self.spec.out / RUNS, self.study, model, origin, run, self.spec.visual)
        seconds = {"make": run.testset.seconds, **run.seconds}
        return TransferEntry(
            model,
            replace(origin, learned=self._list_dependencies(model, origin)[1]),
            run.testset.test,
            run.score(),
            tuple((name, round(value, 3)) for name, value in seconds.items()),
            run.adapted,
        )


def open_part_data(suite: str, part: Any) -> SuiteTrainingData:
    return SuiteTrainingData(suite, part.domain.build_spec(part.scale))


def build_train_spec(suite: str, part: Any, device: str = "cpu", command: str = "") -> training.TrainSpec:
    data, model = open_part_data(suite, part), load_study(suite).trained_as
    return training.TrainSpec(
        model=model,
        data=data.name,
        visual=part.domain.visual,
        images=data.count(TRAIN),
        seed=part.seed,
        only=training.find_trainable(model).stage(part.part).option,
        epochs=part.epochs,
        device=device,
        command=command,
    )


def find_finished(suite: str, part: Any, folder: Path) -> TrainedFolder | None:
    """The part as it was trained before, if it was to the end; another one's folder is refused."""
    if not (folder / part.name / MODEL_FILE).exists():
        return None
    spec = build_train_spec(suite, part)
    trained = spec.trainable.folder.read(folder / part.name)
    wanted = content_id(spec.to_json(open_part_data(suite, part), None))
    return trained if content_id(trained.about.get("spec")) == wanted else None


def make_training_data(suite: str, part: Any, *, device: str, workers: int) -> TrainValData:
    """Make the images or questions that a part learns from."""
    start = time.perf_counter()
    data, stages = open_part_data(suite, part), build_train_spec(suite, part).stages
    train, val = (gather_split(data, split, stages, device=device, workers=workers) for split in (TRAIN, VAL))
    return TrainValData(train, val, time.perf_counter() - start)


def train_part(
    suite: str, part: Any, data: TrainValData, folder: Path, *, device: str, command: str, bar: training.ProgressBar
) -> TrainedFolder:
    """Train it on what was made ahead; a training that was stopped is resumed."""
    spec = build_train_spec(suite, part, device, command)
    return training.train_on(open_part_data(suite, part), spec, folder / part.name, splits=data, bar=bar)
