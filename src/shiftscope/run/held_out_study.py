"""Study of held-out splits: train on all questions or on what a split leaves of them, and test all on the same ones.

Data are made and read once for all trainings; what is seen of an image is computed once, too. Each entry is stored
when it is finished; the same call again resumes with the next one.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..answer import spell
from ..errors import UserError
from ..folder import lock_folder
from ..metrics.held_out_matrix import (
    EASY,
    HELD_OUT,
    IID_SIZE,
    PARAPHRASED,
    PLAIN,
    Bools,
    HeldOutEntry,
    HeldOutRecord,
    HeldOutTest,
    HeldOutTraining,
    pack_array,
    pack_bits,
    parse_held_out_record,
)
from ..model import ModelSetting, Prompt, build_model, get_traits
from ..question import Question
from ..records import content_id
from ..scene import Scene
from ..shift import held_out
from ..shift.held_out import HeldOutIds
from ..shift.held_out.predicates import parse_expression
from ..store.dataset import Dataset, data_id
from ..store.question_part import QuestionPart
from ..suites import load_suite
from ..suites.held_out_study import load_held_out_study
from ..train.accelerator import make_accelerator, name_device
from ..train.data import TRAIN, VAL, DatasetTrainingData, TrainValData, gather_split
from ..train.loop import TrainingPaused
from ..train.train import LOG, ProgressBar, TrainSpec, find_trainable, require_torch, show_no_progress, train_on
from ..trainable import ANSWERS, IMAGES, SplitData, TrainStage
from ..trained_folder import TrainedFolder
from ..url_path import refuse_url
from .split import ListedQuestions, mark_questions
from .study.entry_store import RecordStore

TEST = "test"
SPLITS = (TRAIN, VAL, TEST)
DATA, MODELS = "data", "models"  # folders of a study
ALL_IMAGES = 1_000_000_000
LEAST_MINUTES = 0.05  # that a training gets once it has begun

Tell = Callable[[str], None]


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

    def __post_init__(self) -> None:
        if self.minutes is not None and self.minutes <= 0:
            raise UserError(f"{self.minutes:g} minutes are too few; give more, or omit --minutes")
        self.list_trainings()  # refuses what the study has not

    def list_trainings(self) -> list[HeldOutTraining]:
        study = load_held_out_study(self.suite)
        models = self.models or (*study.baselines, *study.models)
        return study.list_trainings(models, self.splits or study.all_splits, self.seeds)


class QuestionListStage(TrainStage):
    """Keeps the questions themselves beside what models learn from them."""

    name = "questions"
    supervision = frozenset((ANSWERS,))

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> list[Question]:
        return [q for q in questions if q.answer is not None]


def study_held_out(
    spec: HeldOutStudySpec, *, tell: Tell = lambda sentence: None, bar: ProgressBar = show_no_progress
) -> Iterator[HeldOutRecord]:
    """Each record as it is stored; ends early, between or within trainings, when the minutes are over."""
    for model in {one.model for one in spec.list_trainings()}:
        if get_traits(model).trainable:
            require_torch(model)
    return _HeldOutRun(spec, tell, bar).run()


@dataclass(frozen=True, slots=True, eq=False)
class StudyData:
    """The splits of a dataset in memory, each with its questions, and where it lies."""

    dataset: Dataset
    splits: Mapping[str, SplitData]
    seconds: float

    def list_questions(self, split: str) -> list[Question]:
        found: list[Question] = self.splits[split].supervision[QuestionListStage.name]
        return found


class _HeldOutRun:
    """One study under way."""

    def __init__(self, spec: HeldOutStudySpec, tell: Tell, bar: ProgressBar) -> None:
        self.spec, self.tell, self.bar = spec, tell, bar
        self.study = load_held_out_study(spec.suite)
        self.scale = self.study.find_scale(spec.scale)
        self.began = time.monotonic()
        device = make_accelerator(spec.device).device
        self.device, self.device_name = "cpu" if device.type == "cpu" else str(device), name_device(device)
        self.store = HeldOutStore(spec.cells)
        self.data = content_id(self.study.build_spec(self.scale, "").spec())
        self._seen: dict[tuple[bool, str, str], SplitData] = {}

    def run(self) -> Iterator[HeldOutRecord]:
        refuse_url(self.spec.out, "a study")
        with lock_folder(self.spec.out):
            stored = self.store.read_records()
            if self.spec.known is not None:
                stored += HeldOutStore(self.spec.known).read_records()
            mine = [one for one in stored if (one.scale, one.data) == (self.scale.name, self.data)]
            done = {one.training for one in mine if isinstance(one, HeldOutEntry)}
            todo = [one for one in self.spec.list_trainings() if one not in done]
            if done:
                self.tell(f"{len(done)} entries are there already")
            if todo and not any(isinstance(one, HeldOutTest) for one in mine):
                yield self._add(self._describe_test())
            for training in todo:
                if self._lacks_time():
                    return
                try:
                    part = self._find_part(training)
                except UserError as error:  # too few questions have the property, or none
                    self.tell(f"{training.label} is left out: {error}")
                    continue
                try:
                    yield self._add(self._measure(training, part))
                except TrainingPaused:
                    self.tell(f"the training of {training.label} was paused; the same command resumes it")
                    return

    def _add(self, record: HeldOutRecord) -> HeldOutRecord:
        self.store.add(record)
        return record

    def _lacks_time(self) -> bool:
        if self.spec.minutes is None or time.monotonic() < self.began + 60 * self.spec.minutes:
            return False
        self.tell("the minutes are over; the same command resumes from here")
        return True

    # --- data -----------------------------------------------------------------------------------------------

    @cached_property
    def main(self) -> StudyData:
        return self._load(easy=False, splits=SPLITS)

    def _load(self, *, easy: bool, splits: Sequence[str]) -> StudyData:
        """Made unless it is there, then read and drawn, once for all trainings."""
        spec = self.study.build_spec(self.scale, EASY if easy else "")
        folder = self.spec.out / DATA / (EASY if easy else "main")
        began = time.monotonic()
        suite = load_suite(self.spec.suite)
        made = suite.make(spec, folder, workers=self.spec.workers, bar=self.bar)
        counts = ", ".join(f"{split} {made.dataset.count(split)[1]:,}" for split in made.dataset.splits)
        self.tell(f"{folder.name} data: {counts} questions, made in {time.monotonic() - began:.1f} s")
        data = DatasetTrainingData(made.dataset, ALL_IMAGES)
        stages = [self._find_stage(next(m for m in self.study.models)), QuestionListStage()]
        found = {}
        for split in splits:
            with self.bar(f"{split} data") as tell:
                where: dict[str, Any] = {"device": self.device, "workers": self.spec.workers}
                found[split] = gather_split(data, split, stages, **where, tell=tell)
        seconds = time.monotonic() - began
        self.tell(f"{folder.name} data: in memory after {seconds:.1f} s")
        return StudyData(made.dataset, found, seconds)

    @cached_property
    def marked(self) -> dict[str, dict[str, HeldOutIds]]:
        """For each named split and role the questions that have its property."""
        with self.bar("marking properties") as tell:
            wanted = {name: parse_expression(held_out.COVR_SPLITS[name].hold_out) for name in self.study.splits}
            roles = {role: self.main.list_questions(role) for role in SPLITS}
            total = sum(map(len, roles.values()))
            listed = ListedQuestions(roles)
            return mark_questions(wanted, listed, 0, lambda done: tell(done, total, "questions"), strict=False)

    def _describe_test(self) -> HeldOutTest:
        questions = self.main.list_questions(TEST)
        templates = tuple(sorted({q.provenance.template for q in questions}))
        number = {name: k for k, name in enumerate(templates)}
        images = self.main.splits[TEST].supervision[self._find_stage(self.study.models[0]).name].images
        there = images >= 0
        held = {name: set(roles[TEST].held) for name, roles in self.marked.items() if TEST in roles}
        return HeldOutTest(
            self.spec.suite,
            self.scale.name,
            self.data,
            {split: len(self.main.list_questions(split)) for split in SPLITS},
            templates,
            pack_array(np.array([number[q.provenance.template] for q in questions], np.uint8)),
            pack_array(there.sum(1).astype(np.uint8)),
            pack_array(images[there].astype(np.uint32)),
            {name: pack_bits(np.array([q.id in ids for q in questions], np.bool_)) for name, ids in held.items()},
            {name: len(roles[TRAIN].held) for name, roles in self.marked.items() if TRAIN in roles},
        )

    # --- trainings ------------------------------------------------------------------------------------------

    def _find_stage(self, model: str) -> TrainStage:
        return find_trainable(model).configure(dict(self._list_settings(model))).stages[0]

    def _list_settings(self, model: str) -> tuple[tuple[str, str], ...]:
        """Those that the model knows: a text-only one has no backbone, and cuts no patches."""
        stage = find_trainable(model).stages[0]
        known = {*getattr(stage, "sizes", ()), "batch", "lr", *(("backbone",) if IMAGES in stage.supervision else ())}
        return tuple((name, value) for name, value in self.spec.settings if name in known)

    def _measure(self, training: HeldOutTraining, part: QuestionPart | None) -> HeldOutEntry:
        if get_traits(training.model).trainable is None:
            return self._measure_baseline(training)
        trained, learned = self._train(training, part)
        entry = trained.about[self._find_stage(training.model).name]
        log = (trained.folder / LOG).read_text().splitlines()
        speeds = [json.loads(line)["examples_per_second"] for line in log]
        return HeldOutEntry(
            self.spec.suite,
            self.scale.name,
            self.data,
            training,
            learned,
            {wording: pack_bits(hits) for wording, hits in self._answer(training.model, trained).items()},
            entry["val"].get("right"),
            f"{entry['epoch']} of {entry['recipe']['epochs']}",
            entry["rise"],
            {name: float(value) for name, value in trained.about["seconds"].items()},
            max(speeds, default=0.0),
            self.device_name,
            __version__,
            content_id([entry["config"]["sizes"], entry["config"]["features"], entry["recipe"]]),
        )

    def _find_part(self, training: HeldOutTraining) -> QuestionPart | None:
        """The questions it learns from, and those to stop early by, without the property; None for all."""
        if training.kind not in (HELD_OUT, IID_SIZE):
            return None
        settings = held_out.HeldOutSettings(held_out.COVR_SPLITS[training.split].hold_out, training.shots, 0)
        parts = {
            part.name: part
            for part in held_out.build_parts(self.marked[training.split], settings, parse_expression(settings.hold_out))
        }
        name = "train_iid_size"
        if training.kind == HELD_OUT:
            name = "train_m_shot" if training.shots else "train_zero_shot"
        early = frozenset(parts["val_without"].ids)
        label = f"{training.split}:{name}"
        return QuestionPart(label, frozenset(parts[name].ids), TRAIN, data_id(self.main.dataset), early)

    def _train(self, training: HeldOutTraining, part: QuestionPart | None) -> tuple[TrainedFolder, int]:
        easy = training.kind == EASY
        source = self._load(easy=True, splits=(TRAIN, VAL)) if easy else self.main
        stage = self._find_stage(training.model)
        splits = {}
        for split in (TRAIN, VAL):
            data = self._see(stage, source, split, easy)
            if part is not None:
                kept = part.ids if split == TRAIN else part.early or frozenset()
                rows = np.array([k for k, q in enumerate(source.list_questions(split)) if q.id in kept], np.int64)
                held = {**data.supervision, stage.name: data.supervision[stage.name].take(rows)}
                data = replace(data, supervision=held)
            splits[split] = data
        left = self.spec.minutes and max(self.spec.minutes - (time.monotonic() - self.began) / 60, LEAST_MINUTES)
        spec = TrainSpec(
            training.model,
            str(source.dataset.folder),
            images=ALL_IMAGES,
            seed=training.seed,
            epochs=self.spec.epochs or self.scale.epochs,
            part=part,
            settings=self._list_settings(training.model),
            device=self.spec.device,
            minutes=left,
            command=self.spec.command,
        )
        self.tell(f"training {training.label}")
        trained = train_on(
            DatasetTrainingData(source.dataset, ALL_IMAGES, part),
            spec,
            self.spec.out / MODELS / training.label,
            splits=TrainValData(splits[TRAIN], splits[VAL], 0.0),
            bar=self.bar,
        )
        return trained, len(splits[TRAIN].supervision[stage.name])

    def _see(self, stage: TrainStage, source: StudyData, split: str, easy: bool) -> SplitData:
        """A split with what such a stage sees of its images, which stages that see alike share."""
        config = stage.fit_vocabulary(DatasetTrainingData(source.dataset, ALL_IMAGES).schema, source.splits[TRAIN])
        key = easy, split, content_id(dict(config.features))
        if key not in self._seen:
            self._seen = {k: v for k, v in self._seen.items() if k[0] == easy or k[1] == TEST}
            self._seen[key] = stage.see(source.splits[split], config, self.device)
        return self._seen[key]

    # --- tests ----------------------------------------------------------------------------------------------

    def _answer(self, model: str, trained: TrainedFolder) -> dict[str, Bools]:
        """[question] which test questions the weights that were written answer right, in both wordings."""
        import torch

        stage = self._find_stage(model)
        config = stage.read_config(trained.config(stage.name))
        module = trained.load(stage.name, stage.build(config, {})).to(self.device).eval()
        data = self._see(stage, self.main, TEST, False)
        found = {}
        for wording, questions in self._word_questions(stage, data).items():
            examples = stage.make_examples(
                replace(data, supervision={**data.supervision, stage.name: questions}), config, self.device
            )
            hits = []
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=self.device != "cpu"):
                for rows in torch.split(torch.arange(len(examples)), stage.batch_to_measure(self.device) or 1024):
                    batch = examples.batch(rows)
                    hits.append((stage.logits(module, batch).argmax(-1) == batch.targets).cpu().numpy())
            found[wording] = np.concatenate(hits)
        return found

    def _word_questions(self, stage: TrainStage, data: SplitData) -> dict[str, Any]:
        """The test questions as a stage takes them, as they are and paraphrased."""
        return {PLAIN: data.supervision[stage.name], PARAPHRASED: stage.collect(data.scenes, self.paraphrased)}

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

    def _measure_baseline(self, training: HeldOutTraining) -> HeldOutEntry:
        schema = DatasetTrainingData(self.main.dataset, ALL_IMAGES).schema
        learned = self.main.list_questions(TRAIN)
        model = build_model(training.model, ModelSetting(schema=schema, train=lambda: iter(learned)))
        right = {}
        for wording, questions in ((PLAIN, self.main.list_questions(TEST)), (PARAPHRASED, self.paraphrased)):
            responses = model.predict([Prompt(replace(q, answer=None)) for q in questions])
            pairs = zip(responses, questions, strict=True)
            hits = [
                r.answer is not None and q.answer is not None and spell(r.answer) == spell(q.answer) for r, q in pairs
            ]
            right[wording] = pack_bits(np.array(hits, np.bool_))
        about = (self.spec.suite, self.scale.name, self.data, training, len(learned), right)
        return HeldOutEntry(*about, device=self.device_name, version=__version__)
