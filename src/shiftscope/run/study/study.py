"""Study: train every row of the grid, evaluate it on every test set, store each entry once done.

The same call again resumes with the next missing entry. On a GPU, data are made in the background while a row is
trained or evaluated.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import UserError
from ...folder import lock_folder, lock_path
from ...model import (
    ADAPTATION_IMAGES,
    DEFAULTS,
    NO_ADAPTATION,
    Model,
    ModelOptions,
    ModelSetting,
    build_model,
    get_traits,
)
from ...records import content_id
from ...scene import load_schema
from ...suites.study import Contender, StudyRow, find_family, load_study
from ...train import train as training
from ...train.accelerator import make_accelerator, name_device
from ...train.data import TrainValData
from ...train.loop import TrainingPaused
from ...train.train import require_torch
from ...trained_folder import TrainedFolder
from ...url_path import refuse_url
from .entries import EntryOrigin, StudyRecord, TrainingRecord, TransferEntry
from .entry_store import EntryStore, build_transfer_matrix, hash_plan, hash_train_data
from .evaluation import adapt_model, diagnose_models, evaluate_testset, write_run_folders
from .part_training import StudyParts, train_part
from .prefetch import prefetch
from .spread_training import spread_training
from .study_spec import StudySpec
from .test_sets import TEST, StudyTestSet, StudyTestSets

LOCAL_FOLDER = re.compile(r"(?<= )/\S*/")  # of this machine: whoever runs a command again has another
WEIGHTS, MODELS_FOLDER, RUNS = ("weights", "models", "runs")  # folders of a study: parts, whole models, runs
LEARNED = ("vocabulary", "words", "answers", "features")  # of a config, what differs with the data of a row
LEAST_MINUTES = 0.1  # that a training gets, once it has begun


Tell = Callable[[str], None]
TestKey = tuple[Any, str]  # domain, split


def study(
    spec: StudySpec, *, tell: Tell = lambda sentence: None, bar: training.ProgressBar = training.show_no_progress
) -> Iterator[StudyRecord]:
    """Each record as it is stored; ends early, between entries, when the minutes are over."""
    for model in spec.models:
        require_torch(model)
    return _StudyRun(spec, tell, bar).run()


@dataclass(frozen=True, slots=True)
class _Job:
    """The rows of a family of models that share their first part, and what they are still to be tested on."""

    family: str
    rows: tuple[tuple[StudyRow, tuple[TestKey, ...]], ...]
    parts: tuple[Any, ...]  # of all rows, each once; what they stand on first, then the shared one


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
        self.testsets = StudyTestSets(
            self.study,
            spec.scale,
            device=self.device,
            workers=spec.workers,
            whole=diagnosed,
            adapted=len(spec.adapts) > 1,
        )
        self.folder = spec.out / WEIGHTS
        self.parts = StudyParts(self.study, spec.out / MODELS_FOLDER, self.folder, self.device, spec.workers)
        self.background = self.device != "cpu" if spec.background is None else spec.background

    def run(self) -> Iterator[StudyRecord]:
        refuse_url(self.spec.out, "a study")
        lines = lock_path(self.store.path) if self.store.is_lines else nullcontext()
        with lock_folder(self.spec.out), lines:
            self._read_stored()
            yield from self._make_records()

    def _read_stored(self) -> None:
        stored = self.store.read_records()
        if self.spec.known is not None:
            stored += EntryStore(self.spec.known).read_records()
        matrices = {
            s: build_transfer_matrix(stored, self.spec.scale, split=s) for s in dict.fromkeys((TEST, *self.spec.splits))
        }
        self.done = {
            (entry.contender, entry.trained, entry.tested, split): (entry.origin.weights, entry.origin.learned)
            for split, matrix in matrices.items()
            for entry in matrix.entries.values()
        }
        self.kept = {row: one.origin.weights for row, one in matrices[TEST].trainings.items()}
        self.hashes = {  # of the parts that stored entries rest on
            part: entry.origin.hash_of(part.stages)
            for matrix in matrices.values()
            for entry in matrix.entries.values()
            for part in self.study.list_parts(entry.trained, self.spec.scale, entry.origin.family)
        }
        self.diagnosed = {(d.origin.family, d.trained, d.tested): d for d in matrices[TEST].diagnoses}

    def _make_records(self) -> Iterator[StudyRecord]:
        jobs = self._list_jobs()
        # One part may be needed by several jobs: it is trained with the first.
        parts = [part for job in jobs for part in job.parts]
        if not self.spec.executor.shares_disk and not self._train_on_cluster(list(dict.fromkeys(parts))):
            return
        data_makers = [
            partial(self.parts.make_data, part, parts[k:] if parts.index(part) == k else ())
            for k, part in enumerate(parts)
        ]
        testset_makers = [
            partial(self.testsets.get_or_make, *key) for job in jobs for _, tests in job.rows for key in tests
        ]
        # Each holds images: of training data there is one more in memory, of test sets two.
        with (
            prefetch(data_makers, 1 if self.background else 0) as data,
            prefetch(testset_makers, 2 if self.background else 0) as testsets,
        ):
            for job in jobs:
                parts_to_come = iter(job.parts)
                weights: dict[Any, TrainedFolder] = {}
                for row, tests in job.rows:  # each is asked as soon as its own parts are there
                    if self._lacks_time():
                        return
                    wanted = self._list_parts(job.family, row)
                    try:
                        while not weights.keys() >= set(wanted):
                            part = next(parts_to_come)
                            weights[part] = self._find_or_train(part, next(data))
                    except TrainingPaused:
                        self.tell(f"a training was paused; the same command resumes it from {self.folder}")
                        return
                    mine = [weights[part] for part in wanted]
                    for record in self._evaluate_row(job.family, row, tests, mine, testsets):
                        if record is None:
                            return
                        yield record

    def _lacks_time(self) -> bool:
        """Whether the minutes are over; trainings pause by themselves."""
        minutes = self.spec.minutes
        if minutes is None or time.monotonic() < self.began + 60 * minutes:
            return False
        self.tell("the minutes are over; the same command resumes from here")
        return True

    def _list_jobs(self) -> list[_Job]:
        """What is still to be done: rows that share their first part together, and models that share a row."""
        finished = 0
        jobs: list[tuple[int, _Job]] = []  # with the place of its first row
        for family in dict.fromkeys(map(find_family, self.spec.models)):
            groups: dict[Any, list[tuple[StudyRow, tuple[TestKey, ...]]]] = {}
            for row in (row for row in self.rows if self.study.suits(family, row.trained)):
                if missing := self._list_missing_tests(family, row):
                    groups.setdefault(self._list_parts(family, row)[0], []).append((row, missing))
                else:
                    finished += 1
            for rows in groups.values():
                parts = [self._list_parts(family, row) for row, _ in rows]
                shared = dict.fromkeys(part for column in zip(*parts, strict=True) for part in column)
                base = dict.fromkeys(one for part in shared for one in part.base)
                jobs.append((self.rows.index(rows[0][0]), _Job(family, tuple(rows), (*base, *shared))))
        if finished:
            self.tell(f"{finished} rows have all their entries already")
        return [job for _, job in sorted(jobs, key=lambda one: one[0])]

    def _list_missing_tests(self, family: str, row: StudyRow) -> tuple[TestKey, ...]:
        """The test sets a row is still to be evaluated on; one that is diagnosed comes once more, at the end.

        All of them, where its parts are yet to be trained.
        """
        origin = self._find_origin(family, row)
        splits = {at: at.build_spec(self.spec.scale).splits() for at in row.tests}
        keys = [(at, split) for split in self.spec.splits for at in row.tests if split in splits[at]]
        if origin is None:
            stored = all(self._is_stored(family, row.trained, *key) for key in keys)
            again = [(at, TEST) for at in row.tests if self.study.is_diagnosed(row.trained, at)]
            return () if stored else (*keys, *(again if self._find_oracles(family) else ()))
        missing = [key for key in keys if self._list_missing(origin, *key)]
        return (*missing, *((at, TEST) for at in row.tests if self._lacks_diagnosis(origin, at)))

    def _is_stored(self, family: str, trained: Any, tested: Any, split: str) -> bool:
        """Whether all entries of a test are there, of whatever weights; these may lie elsewhere."""
        wanted = self.spec.list_contenders(family)
        return all((contender, trained, tested, split) in self.done for contender in wanted)

    def _list_missing(self, origin: EntryOrigin, tested: Any, split: str) -> list[Contender]:
        """The contenders whose entry is still to be made."""
        return [
            contender
            for contender in self.spec.list_contenders(origin.family)
            if self.done.get((contender, origin.trained, tested, split))
            != (origin.weights, _hash_learned(contender, origin))
        ]

    def _lacks_diagnosis(self, origin: EntryOrigin, tested: Any) -> bool:
        """Whether oracles are still to be asked, of these weights and all models."""
        if not self.study.is_diagnosed(origin.trained, tested) or not self._find_oracles(origin.family):
            return False
        there = self.diagnosed.get((origin.family, origin.trained, tested))
        same = there and (there.origin.weights, there.origin.learned) == (origin.weights, origin.learned)
        return not (there and same and set(self._find_oracles(origin.family)) <= set(there.models))

    def _find_oracles(self, family: str) -> list[str]:
        """The models whose stages can be told the truth: those that execute programs."""
        known = [m for m in self.spec.models if find_family(m) == family and get_traits(m).positions]
        return known if TEST in self.spec.splits else []

    # --- training: the first part, which some rows share, and their other parts ------------------------

    def _list_parts(self, family: str, row: StudyRow) -> Sequence[Any]:
        return self.study.list_parts(row.trained, self.spec.scale, family)

    def _find_or_train(self, part: Any, data: TrainValData | None) -> TrainedFolder:
        trained = self.parts.find(part)
        if trained is not None:
            return trained
        self.tell(f"training {part.name}")
        if part in self.hashes:
            self.tell(
                f"stored entries rest on another training of {part.name}, which is not in {self.folder}: "
                "only those of the training with more entries will be shown"
            )
        assert data is not None
        left = self.spec.minutes and max(self.spec.minutes - (time.monotonic() - self.began) / 60, LEAST_MINUTES)
        given: dict[str, Any] = {"device": self.spec.device, "command": self.spec.command, "minutes": left}
        return train_part(
            self.spec.suite, part, data, self.folder, **given, bar=self.bar, base=self.parts.find_base(part)
        )

    def _train_on_cluster(self, parts: Sequence[Any]) -> bool:
        """Train what is missing, as much at once as the cluster has room for; False where the minutes were too few."""
        bases = [part for part in parts if not part.base]
        return all(self._train_at_once(some) for some in (bases, [part for part in parts if part.base]))

    def _train_at_once(self, parts: Sequence[Any]) -> bool:
        todo = [part for part in parts if self.parts.find(part) is None]
        if not todo:
            return True
        where = self.spec.suite, todo, self.folder, self.spec.executor
        end = self.began + 60 * self.spec.minutes if self.spec.minutes else None
        given: dict[str, Any] = {"device": self.spec.device, "command": self.spec.command, "end": end}
        finished = 0
        with self.bar("training on the cluster") as tell:
            tell(0, len(todo), "")
            for outcome in spread_training(*where, **given, find_base=self.parts.find_base):
                finished += not outcome.paused
                tell(finished, len(todo), "")
        if finished < len(todo):
            self.tell(f"{finished} of {len(todo)} trainings are finished; the same command resumes from {self.folder}")
        return finished == len(todo)

    # --- evaluation: the entries of a row ---------------------------------------------------------------

    def _evaluate_row(
        self,
        family: str,
        row: StudyRow,
        tests: Sequence[TestKey],
        parts: Sequence[TrainedFolder],
        testsets: Iterator[StudyTestSet],
    ) -> Iterator[StudyRecord | None]:
        """The entries of a row, test set by test set; None once the minutes are over."""
        origin = self._build_origin(family, row.trained, parts)
        folder = self.parts.combine(row.trained.label.replace("@", "-").replace(" ", "-"), parts)
        if self.kept.get((family, row.trained)) != origin.weights:
            yield self._add(self._build_training_record(origin, parts))
        models: dict[tuple[str, str], Model | None] = {}
        for tested, split in tests:
            if self._lacks_time():
                yield None
            testset = next(testsets)
            missing = self._list_missing(origin, tested, split)
            for contender in missing:
                if self._lacks_time():  # what is done is stored, and an entry takes seconds
                    yield None
                key = contender.model, contender.positions
                if key not in models:
                    models[key] = self._find_model(contender, folder)
                if (model := models[key]) is None:
                    continue
                entry = self._evaluate(origin, contender, model, testset)
                self.done[contender, row.trained, tested, split] = origin.weights, entry.origin.learned
                yield self._add(entry)
            if not missing and self._lacks_diagnosis(origin, tested):
                names = self._find_oracles(family)
                plain = {
                    m: models.get((m, DEFAULTS.positions)) or self._build_model(Contender(m), folder) for m in names
                }
                runs = {m: evaluate_testset(model, m, testset) for m, model in plain.items()}
                yield self._add(diagnose_models(runs, plain[names[0]], testset, origin))

    def _find_model(self, contender: Contender, folder: Path) -> Model | None:
        """None, and a sentence, where older weights have learned nothing of such positions."""
        try:
            return self._build_model(contender, folder)
        except UserError as error:
            if contender.positions == DEFAULTS.positions:
                raise
            self.tell(f"{contender.label} is left out: {error}")
            return None

    def _build_model(self, contender: Contender, folder: Path) -> Model:
        options = ModelOptions(device=self.device, trace=False, positions=contender.positions)
        return build_model(
            f"{contender.model}:{folder}", ModelSetting(schema=load_schema(self.spec.suite), options=options)
        )

    def _evaluate(
        self, origin: EntryOrigin, contender: Contender, model: Model, testset: StudyTestSet
    ) -> TransferEntry:
        """The entry, whose run is written as a folder too: at the paper's scale, where it is large, on demand."""
        model = adapt_model(model, contender, testset)
        adapted = getattr(model, "adapted", None)
        test, learned = testset.test, _hash_learned(contender, origin)
        if adapted == ():  # nothing was kept: answers are those without adaptation, which has an entry
            return TransferEntry(contender, replace(origin, learned=learned), test, (), (), adapted)
        usual = contender == Contender(contender.model) and test.split == TEST
        keep_rows = usual and (self.spec.runs or self.spec.scale.name != "paper")
        run = evaluate_testset(model, contender.model, testset, keep_rows=keep_rows)
        if keep_rows:
            write_run_folders(self.spec.out / RUNS, self.study, contender.model, origin, run, self.spec.visual)
        seconds = {"make": testset.seconds, **run.seconds}
        took = tuple((name, round(value, 3)) for name, value in seconds.items())
        return TransferEntry(contender, replace(origin, learned=learned), test, run.outcomes, took, adapted)

    def _add(self, record: StudyRecord) -> StudyRecord:
        self.store.add(record)
        return record

    def _find_origin(self, family: str, row: StudyRow) -> EntryOrigin | None:
        """What entries of the row would rest on; None where a part is yet to be trained."""
        parts = [self.parts.find(part) for part in self._list_parts(family, row)]
        trained = [part for part in parts if part is not None]
        return self._build_origin(family, row.trained, trained) if len(trained) == len(parts) else None

    def _build_origin(self, family: str, trained: Any, parts: Sequence[TrainedFolder]) -> EntryOrigin:
        planned = self.study.list_parts(trained, self.spec.scale, family)
        stages = [(part, stage) for part, plan in zip(parts, planned, strict=True) for stage in plan.stages]
        recipes = [
            [{k: v for k, v in part.config(stage).items() if k not in LEARNED}, part.about[stage]["recipe"]]
            for part, stage in stages
        ]
        fitted = [part.about.get(key) for part in parts for key in part.FIGURES]
        return EntryOrigin(
            self.spec.suite,
            family,
            self.spec.scale,
            trained,
            tuple((stage, part.about[stage]["blake2b"]) for part, stage in stages),
            hash_train_data(self.spec.suite, trained, self.spec.scale, family),
            content_id(recipes),
            self.device_name,
            __version__,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            content_id(fitted) if fitted else None,
            hash_plan(self.spec.suite, trained, self.spec.scale, family),
        )

    def _build_training_record(self, origin: EntryOrigin, parts: Sequence[TrainedFolder]) -> TrainingRecord:
        seconds: list[tuple[str, float]] = []
        commands = []
        for trained, plan in zip(
            parts, self.study.list_parts(origin.trained, origin.scale, origin.family), strict=True
        ):
            what = plan.only or plan.model
            seconds += [(f"{what}, {k}", float(v)) for k, v in trained.about["seconds"].items()]
            commands += [trained.about[stage].get("command") for stage in plan.stages]
        devices = ", ".join(dict.fromkeys(str(trained.about["device"]) for trained in parts))
        return TrainingRecord(
            replace(origin, device=devices),
            tuple(seconds),
            tuple((k, float(v)) for k, v in self.study.list_validation(parts).items()),
            LOCAL_FOLDER.sub("", "; ".join(dict.fromkeys(filter(None, commands)))),
        )


def _hash_learned(contender: Contender, origin: EntryOrigin) -> str | None:
    """What answers depend on besides the weights: what was fitted after training, and how models adapt."""
    if contender.adapt == NO_ADAPTATION:
        return origin.learned
    return content_id([origin.learned, get_traits(contender.model).adaptation_version, ADAPTATION_IMAGES])
