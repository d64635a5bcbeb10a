"""Study of held-out splits: train on all questions or on what a split leaves of them, and test all on the same ones.

Data are made and read once for all trainings; what is seen of an image is computed once, too. Each entry is stored
when it is finished; the same call again resumes with the next one.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import UserError
from ...folder import lock_folder
from ...metrics.held_out_records import (
    OTHER_IMAGES,
    PARAPHRASED,
    PLAIN,
    HeldOutEntry,
    HeldOutRecord,
    HeldOutTest,
    HeldOutTraining,
    name_bits,
    pack_bits,
    parse_held_out_record,
)
from ...model import ModelOptions, ModelSetting, build_model, get_traits
from ...question import Question
from ...records import content_id
from ...shift.held_out import TooFewQuestions
from ...store.dataset import data_id
from ...suites.held_out_study import HeldOutStudy, load_held_out_study
from ...train.accelerator import make_accelerator, name_device
from ...train.data import TRAIN
from ...train.loop import TrainingPaused
from ...train.train import ProgressBar, require_torch, show_no_progress
from ...trainable import ANSWERS, IMAGES, PROGRAMS
from ...url_path import refuse_url
from ..study.entry_store import RecordStore
from .asking import ModelAnswers, ask_model, ask_network, exchange_images, mark_right
from .split_marks import SplitMarks, find_marks
from .study_data import SPLITS, TEST, StudyData, StudyDataLoader, Tell, pause_garbage_collection
from .study_training import FinishedTraining, StudyTrainer
from .test_sets import DerivedTestSet, Marks, build_test_set, describe_rows, list_answers, mark_transfer

DATA, MODELS, ANSWERS_FOLDER = "data", "models", "answers"  # folders of a study


@dataclass(frozen=True, slots=True)
class HeldOutStore(RecordStore[HeldOutRecord]):
    """Where the records of a study of held-out splits are kept."""

    parse: Callable[[Any], HeldOutRecord] = parse_held_out_record


@dataclass(frozen=True, slots=True)
class HeldOutStudySpec:
    """What to study, and where it goes."""

    suite: str
    out: Path
    cells: Path  # where records are stored: a folder, or FILE.jsonl
    scale: str = "small"
    models: tuple[str, ...] = ()  # else all, and the baselines
    splits: tuple[str, ...] = ()  # else all, and what is in-domain
    seeds: tuple[int, ...] = (0,)
    known: Path | None = None  # records of earlier studies, which are not made again
    settings: tuple[tuple[str, str], ...] = ()  # of the models: name, value
    epochs: int | None = None  # else as the scale says
    device: str = "auto"
    workers: int = 1
    minutes: float | None = None
    command: str = ""
    shots: tuple[int, ...] = ()  # K of K-shot trainings; else all that the study has

    def __post_init__(self) -> None:
        if self.minutes is not None and self.minutes <= 0:
            raise UserError(f"{self.minutes:g} minutes are too few; give more, or omit --minutes")
        if self.shots and not self.study.shots:
            raise UserError(f"study {self.suite} has no K-shot trainings; omit --shots")
        trainings = self.list_trainings()  # refuses what the study has not
        if not trainings:
            raise UserError(f"study {self.suite} trains none of {', '.join(self.models)} on {', '.join(self.splits)}")
        settings = (*self.study.list_sizes(self.study.find_scale(self.scale)), *self.settings)
        self.study.check_settings(settings, dict.fromkeys(one.model for one in trainings))

    @property
    def study(self) -> HeldOutStudy:
        return load_held_out_study(self.suite)

    def list_trainings(self) -> list[HeldOutTraining]:
        study, scale = self.study, self.study.find_scale(self.scale)
        models = self.models or (*study.baselines, *study.models)
        splits = self.splits or study.all_splits
        return study.list_trainings(models, splits, self.seeds, shots=self.shots or study.shots, scale=scale)


def study_held_out(
    spec: HeldOutStudySpec, *, tell: Tell = lambda sentence: None, bar: ProgressBar = show_no_progress
) -> Iterator[HeldOutRecord]:
    """Each record as it is stored; ends early, between or within trainings, when the minutes are over."""
    for model in {spec.study.find_model(one.model).model for one in spec.list_trainings()}:
        if get_traits(model).trainable:
            require_torch(model)
    return _HeldOutRun(spec, tell, bar).run()


class _HeldOutRun:
    """One study under way."""

    def __init__(self, spec: HeldOutStudySpec, tell: Tell, bar: ProgressBar) -> None:
        self.spec, self.tell, self.bar, self.study = spec, tell, bar, spec.study
        self.scale = self.study.find_scale(spec.scale)
        self.began = time.monotonic()
        device = make_accelerator(spec.device).device
        self.device, self.device_name = "cpu" if device.type == "cpu" else str(device), name_device(device)
        self.store = HeldOutStore(spec.cells)
        self.data = content_id(self.study.build_spec(self.scale, "").spec())
        self._loaded: dict[str, StudyData] = {}
        self._derived: dict[str, DerivedTestSet | None] = {}
        self.settings = (*self.study.list_sizes(self.scale), *spec.settings)
        self.trainer = StudyTrainer(
            study=self.study,
            folder=spec.out / MODELS,
            data_folder=spec.out / DATA,
            settings=self.settings,
            epochs=spec.epochs or self.scale.epochs,
            device=self.device,
            deadline=None if spec.minutes is None else self.began + 60 * spec.minutes,
            command=spec.command,
            load=self.load,
            find_marked=lambda split: self.marked.find_ids(split),
            bar=bar,
            tell=tell,
            workers=spec.workers,
        )

    def run(self) -> Iterator[HeldOutRecord]:
        refuse_url(self.spec.out, "a study")
        with lock_folder(self.spec.out):
            stored = self.store.read_records()
            if self.spec.known is not None:
                stored += HeldOutStore(self.spec.known).read_records()
            stored = [one for one in stored if one.scale == self.scale.name]
            own = [one for one in stored if isinstance(one, HeldOutTest) and one.suite == self.spec.suite]
            described = {(one.test_set, one.data): one for one in own}
            done = {
                (one.training, one.test_set, one.data)
                for one in stored
                if isinstance(one, HeldOutEntry) and self.study.is_planned(one.training, one.plan, self.settings)
            }
            todo = list(self._list_missing(done))
            if there := len(self.spec.list_trainings()) - len(todo):
                self.tell(f"{there} entries are there already")
            for name in dict.fromkeys(name for _, names in todo for name in ("", *names)):
                known = described.get((name, self._find_data(name)))
                test = self._describe(name)
                if known is None or not test.marks_like(known):  # what is drawn may have been drawn by another rule
                    yield self._add(test)
            for training, names in todo:
                if self._lacks_time():
                    return
                try:
                    yield from self._measure(training, names)
                except TrainingPaused:
                    self.tell(f"{training.label} was paused; the same command resumes it")
                    return

    def _list_missing(
        self, done: set[tuple[HeldOutTraining, str, str]]
    ) -> Iterator[tuple[HeldOutTraining, tuple[str, ...]]]:
        """Trainings, each with the test sets that it was not asked yet; sets without a question are not asked."""
        for training in self.spec.list_trainings():
            wanted = [(name, self._find_data(name)) for name in self.study.list_test_sets(training)]
            names = tuple(name for name, data in wanted if data and (training, name, data) not in done)
            if names:
                yield training, names

    def _find_data(self, test_set: str) -> str:
        """What identifies a test set; nothing where it has no questions."""
        if not test_set:
            return self.data
        return "" if self.find_test_set(test_set) is None else self._describe(test_set).data

    def _add(self, record: HeldOutRecord) -> HeldOutRecord:
        self.store.add(record)
        return record

    def _lacks_time(self) -> bool:
        if self.trainer.deadline is None or time.monotonic() < self.trainer.deadline:
            return False
        self.tell("the minutes are over; the same command resumes from here")
        return True

    # --- data and test sets ---------------------------------------------------------------------------------

    def load(self, kind: str) -> StudyData:
        """The data of a kind of training, the usual ones without a name; loaded once."""
        if kind not in self._loaded:
            stage = self.trainer.find_stage(self.study.models[0])
            where = (self.spec.out / DATA, stage, self.device, self.spec.workers, self.bar, self.tell)
            self._loaded[kind] = StudyDataLoader(*where).load(self.study.build_spec(self.scale, kind), kind)
        return self._loaded[kind]

    @property
    def main(self) -> StudyData:
        return self.load("")

    @cached_property
    def marked(self) -> SplitMarks:
        """For each named split and role the questions that have its property."""
        roles = {role: self.main.list_questions(role) for role in SPLITS}
        total, path = sum(map(len, roles.values())), self.spec.out / DATA / f"{self.spec.suite}_marks.json"
        with self.bar("marking properties") as tell, pause_garbage_collection():
            data = data_id(self.main.dataset)
            return find_marks(self.study.splits, roles, data, path, lambda done: tell(done, total, "questions"))

    def find_test_set(self, name: str) -> DerivedTestSet | None:
        """A derived set; None, and a sentence, where there is nothing to ask."""
        if name not in self._derived:
            plan = next(one for one in self.study.test_sets if one.name == name)
            with self.bar(f"test set {name}"):
                self._derived[name] = build_test_set(plan, self.load, self.spec.out / DATA)
            if self._derived[name] is None:
                self.tell(f"the test set {name} is left out: no test question can be asked so")
        return self._derived[name]

    def _describe(self, test_set: str) -> HeldOutTest:
        if test_set:
            derived = self.find_test_set(test_set)
            assert derived is not None
            return derived.describe(self.spec.suite, self.scale.name, self.data)
        questions = self.main.list_questions(TEST)
        marked = self.marked.marks
        marks: Marks = {name: roles[TEST] for name, roles in marked.items() if TEST in roles}
        for plan in self.study.test_sets:
            if plan.data and not plan.test:  # another benchmark, with which some answers are shared
                shared = list_answers(self.load(plan.data)) & list_answers(self.main)
                marks = {**marks, **mark_transfer(questions, shared)}
        return describe_rows(
            (self.spec.suite, self.scale.name, self.data),
            questions,
            self.main,
            {split: len(self.main.list_questions(split)) for split in SPLITS},
            marks,
            {name: int(roles[TRAIN].sum()) for name, roles in marked.items() if TRAIN in roles},
        )

    # --- trainings and what they answer ---------------------------------------------------------------------

    def _measure(self, training: HeldOutTraining, names: Sequence[str]) -> Iterator[HeldOutRecord]:
        """An entry for each test set, stored as soon as it is answered."""
        try:
            finished = self.trainer.train(training)
        except TooFewQuestions as error:
            self.tell(f"{training.label} is left out: {error}")
            return
        ask = self._open(training, finished)
        for name in names:
            folder = self.spec.out / ANSWERS_FOLDER / training.label / (name or TEST)
            exchanges = name == self.study.find_own_test_set(training) and self._sees(training, finished)
            right = self._answer(ask, name, folder, exchanges=exchanges)
            yield self._add(
                HeldOutEntry(
                    self.spec.suite,
                    self.scale.name,
                    self._find_data(name),
                    training,
                    finished.learned,
                    {of: pack_bits(bits) for of, bits in right.items()},
                    finished.val,
                    finished.epoch,
                    finished.rise,
                    finished.seconds,
                    finished.speed,
                    self.device_name,
                    __version__,
                    finished.recipe,
                    self.study.identify_training(training, self.settings),
                    name,
                )
            )
            shutil.rmtree(folder, ignore_errors=True)

    def _open(self, training: HeldOutTraining, finished: FinishedTraining) -> Callable[..., ModelAnswers]:
        """What answers questions about some data; it may keep what it answered so far in a folder."""
        chosen = self.study.find_model(training.model)
        given: dict[str, Any] = {"schema": self.main.training_data.schema, "options": ModelOptions(device=self.device)}
        if finished.trained is None:  # shipped, or a baseline, which learns from answers in no time
            learned = self.main.list_questions(TRAIN)
            model = build_model(chosen.model, ModelSetting(**given, train=lambda: iter(learned)))
            stages = trainable.stages if (trainable := get_traits(chosen.model).trainable) else ()
            writes = any(PROGRAMS in stage.supervision for stage in stages)
            return lambda questions, source, folder: ask_model(
                model, chosen.model, questions, source, TEST, folder=folder, programs=writes
            )
        trained, stage = finished.trained, self.trainer.find_stage(training.model)
        if ANSWERS in stage.supervision:

            def ask(questions: Sequence[Question], source: StudyData, folder: Path) -> ModelAnswers:
                seen = self.trainer.see(stage, source, TEST)
                collected = stage.collect(source.list_scenes(TEST), questions)
                return ask_network(stage, trained, seen, collected, self.device)

            return ask
        model = build_model(f"{chosen.model}:{trained.folder}", ModelSetting(**given))
        how: dict[str, Any] = {"deadline": self.trainer.deadline, "by": trained.id()}
        how["programs"] = PROGRAMS in stage.supervision
        return lambda questions, source, folder: ask_model(
            model, chosen.model, questions, source, TEST, folder=folder, **how
        )

    def _sees(self, training: HeldOutTraining, finished: FinishedTraining) -> bool:
        """Whether a network was trained here to answer by what it sees."""
        if finished.trained is None:
            return False
        return self.trainer.find_stage(training.model).supervision >= {ANSWERS, IMAGES}

    def _answer(
        self, ask: Callable[..., ModelAnswers], test_set: str, folder: Path, *, exchanges: bool
    ) -> dict[str, Any]:
        """By wording or side, and by what is measured of programs: [row] bits; also about exchanged images."""
        found: dict[str, Any] = {}
        if test_set:
            derived = self.find_test_set(test_set)
            assert derived is not None
            source, plain = derived.source, derived.questions
            found |= derived.score(ask(plain, source, folder))
            asked: dict[str, Sequence[Question]] = {}
        else:
            source, plain = self.main, tuple(self.main.list_questions(TEST))
            asked = {PLAIN: plain, PARAPHRASED: self.paraphrased}
        if exchanges:
            asked[OTHER_IMAGES] = exchange_images(plain)
        for wording, questions in asked.items():
            answers = ask(questions, source, folder / wording)
            truth = [q.answer for q in questions]
            found |= {name_bits(wording, how): mark_right(said, truth) for how, said in answers.said.items()}
            found |= {name_bits(wording, name): bits for name, bits in answers.flags.items()}
        return found

    @cached_property
    def paraphrased(self) -> list[Question]:
        """The test questions in the freer wording that they were made with."""
        found = []
        for q in self.main.list_questions(TEST):
            text = q.note("paraphrase")
            if not text:
                raise UserError(f"question {q.id} has no paraphrase; make the data again")
            found.append(replace(q, text=str(text)))
        return found
