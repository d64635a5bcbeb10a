"""The trainings of a study of held-out splits: which questions each learns from, and how it went."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UserError
from ...executor import LocalExecutor
from ...metrics.held_out_records import BEFORE, HELD_OUT, IID_SIZE, K_SHOT, HeldOutTraining
from ...model import get_traits
from ...question import Question
from ...records import content_id
from ...registry import GENERALIZATION_TESTS
from ...rng import derive
from ...scene import Scene
from ...shift import held_out
from ...shift.held_out import HeldOutIds, TooFewQuestions
from ...shift.held_out.predicates import parse_expression
from ...store.dataset import data_id
from ...store.question_part import QuestionPart
from ...suites.held_out_study import HeldOutStudy
from ...train.data import TRAIN, VAL, DatasetTrainingData, TrainValData
from ...train.train import LOG, ProgressBar, TrainSpec, find_trainable, train_on
from ...trainable import ANSWERS, IMAGES, SplitData, TrainStage
from ...trained_folder import MODEL_FILE, TrainedFolder
from .study_data import TEST, StudyData, Tell
from .test_sets import derive_questions

LEAST_MINUTES = 0.05  # that a training gets once it has begun
TOGETHER = 500  # scenes about which something is written in one go
SHOT_POOL = 1_500  # training questions whose variants the examples of K-shot trainings are drawn from


@dataclass(frozen=True, slots=True, eq=False)
class FinishedTraining:
    """What came of a training; a baseline has no folder."""

    trained: TrainedFolder | None
    learned: int  # questions
    val: float | None = None
    epoch: str = ""
    rise: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)
    speed: float = 0.0
    recipe: str = ""


@dataclass(slots=True, eq=False)
class StudyTrainer:
    """Trains what a study names, on data in memory; what was finished in the study's folder before is only read."""

    study: HeldOutStudy
    folder: Path  # of the trained models
    data_folder: Path
    settings: Sequence[tuple[str, str]]  # of all models: each takes those it knows, the last of a name counts
    epochs: int | None
    device: str
    deadline: float | None
    command: str
    load: Callable[[str], StudyData]
    find_marked: Callable[[str], Mapping[str, HeldOutIds]]
    bar: ProgressBar
    tell: Tell
    workers: int = 1
    _seen: dict[tuple[str, str, str], SplitData] = field(default_factory=dict)
    _collected: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    _pool: tuple[Any, ...] | None = None

    def find_stage(self, model: str) -> TrainStage:
        """The last, which does what the model is asked for."""
        return self._list_stages(model)[-1]

    def _list_stages(self, model: str) -> tuple[TrainStage, ...]:
        chosen = self.study.find_model(model)
        return find_trainable(chosen.model).configure(dict(self.study.list_settings(model, self.settings))).stages

    def train(self, training: HeldOutTraining) -> FinishedTraining:
        """TooFewQuestions where too few have what the training is about."""
        chosen = self.study.find_model(training.model)
        if chosen.shipped:
            return FinishedTraining(None, 0)
        model = chosen.model
        source = self.load(training.kind if training.kind in self.study.data_kinds else "")
        if get_traits(model).trainable is None:
            return FinishedTraining(None, len(source.list_questions(TRAIN)))
        stage = self.find_stage(training.model)
        part, extra = self._find_part(training, source), self._draw_shots(training, source)
        splits = {split: self._select(stage, source, split, part, extra) for split in (TRAIN, VAL)}
        begun = self._train_before(training.model)
        spec = self._plan(training.model, source)
        spec = replace(spec, seed=training.seed, part=part)
        if begun is not None:
            spec = replace(spec, only=stage.option, other=begun.folder)
        self.tell(f"training {training.label}")
        trained = train_on(
            DatasetTrainingData(source.dataset, part=part),
            spec,
            self.folder / training.label,
            splits=TrainValData(splits[TRAIN], splits[VAL], 0.0),
            bar=self.bar,
        )
        finished = self._describe(stage, trained, len(splits[TRAIN].supervision[stage.name]))
        if begun is None:
            return finished
        return replace(finished, seconds={**finished.seconds, BEFORE: float(begun.about["seconds"]["all"])})

    def _plan(self, model: str, source: StudyData) -> TrainSpec:
        left = None
        if self.deadline is not None:
            left = max((self.deadline - time.monotonic()) / 60, LEAST_MINUTES)
        return TrainSpec(
            self.study.find_model(model).model,
            str(source.dataset.folder),
            epochs=self.epochs,
            settings=tuple(self.study.list_settings(model, self.settings)),
            device=self.device,
            minutes=left,
            command=self.command,
        )

    def _train_before(self, model: str) -> TrainedFolder | None:
        """What a model learns before it is asked anything, once for all its trainings: from all images, seed 0."""
        *before, stage = self._list_stages(model)
        if not before:
            return None
        source = self.load("")
        spec = replace(self._plan(model, source), only=",".join(one.option for one in before))
        folder, splits = self.folder / f"{model}-{'-'.join(one.option for one in before)}", None
        if not (folder / MODEL_FILE).exists():
            self.tell(f"training {folder.name}")
            train, val = (self._collect_before(before, stage, source, split) for split in (TRAIN, VAL))
            splits = TrainValData(train, val, 0.0)
        data = DatasetTrainingData(source.dataset)
        return train_on(data, spec, folder, splits=splits, bar=self.bar)

    def _collect_before(
        self, stages: Sequence[TrainStage], last: TrainStage, source: StudyData, split: str
    ) -> SplitData:
        data, scenes = self.see(last, source, split), source.list_scenes(split)
        pieces = [scenes[start : start + TOGETHER] for start in range(0, len(scenes), TOGETHER)]
        told = {}
        ahead = 2 * self.workers
        for stage in stages:
            task = partial(_collect_piece, stage)
            with closing(LocalExecutor(self.workers).map(task, pieces, ahead)) as made:
                told[stage.name] = stage.join(list(made))
        return replace(data, supervision={**data.supervision, **told})

    def _describe(self, stage: TrainStage, trained: TrainedFolder, learned: int) -> FinishedTraining:
        entry = trained.about[stage.name]
        rows = [json.loads(line) for line in (trained.folder / LOG).read_text().splitlines()]
        return FinishedTraining(
            trained,
            learned,
            stage.choose_by(entry["val"]) if entry["val"] else None,
            f"{entry['epoch']} of {sum(row['part'] == stage.name for row in rows)}",
            entry["rise"],
            {name: float(value) for name, value in trained.about["seconds"].items()},
            max((row["examples_per_second"] for row in rows), default=0.0),
            content_id([stage.describe(trained.schema), entry["recipe"]]),
        )

    def _find_part(self, training: HeldOutTraining, source: StudyData) -> QuestionPart | None:
        """The questions it learns from, and those to stop early by, without the property; None for all."""
        if training.kind == K_SHOT:
            ids = [q.id for q in (*source.list_questions(TRAIN), *self._draw_shots(training, source))]
            return QuestionPart(training.label, frozenset(ids), TRAIN, data_id(source.dataset))
        if training.kind not in (HELD_OUT, IID_SIZE):
            return None
        settings = held_out.HeldOutSettings(held_out.COVR_SPLITS[training.split].hold_out, training.shots, 0)
        marked, hold_out = self.find_marked(training.split), parse_expression(settings.hold_out)
        parts = {part.name: part for part in held_out.build_parts(marked, settings, hold_out)}
        name = "train_iid_size"
        if training.kind == HELD_OUT:
            name = "train_m_shot" if training.shots else "train_zero_shot"
        early = frozenset(parts["val_without"].ids)
        label = f"{training.split}:{name}"
        return QuestionPart(label, frozenset(parts[name].ids), TRAIN, data_id(source.dataset), early)

    # --- K-shot examples ------------------------------------------------------------------------------------

    def _draw_shots(self, training: HeldOutTraining, source: StudyData) -> list[Question]:
        """K variants of training questions of a row of the contrast set, another K for each seed."""
        if training.kind != K_SHOT or not training.shots:
            return []
        found = [pair.asked[0] for pair in self._list_pool(source) if training.split in pair.rows]
        return draw_shots(found, training.split, training.shots, training.seed)

    def _list_pool(self, source: StudyData) -> tuple[Any, ...]:
        if self._pool is None:
            plan = next(one for one in self.study.test_sets if one.name == self.study.shots_from)
            folder = self.data_folder / f"{plan.name}_train"
            questions = derive_questions(plan, source.dataset, TRAIN, folder, SHOT_POOL)
            self._pool = tuple(GENERALIZATION_TESTS.load(plan.test).pair_questions(questions))
        return self._pool

    # --- what a stage learns from ---------------------------------------------------------------------------

    def _select(
        self, stage: TrainStage, source: StudyData, split: str, part: QuestionPart | None, extra: Sequence[Question]
    ) -> SplitData:
        """A split of the part's questions and, to learn from, the extra ones."""
        data, questions = self.see(stage, source, split), source.list_questions(split)
        held = self._collect_all(stage, source, split)
        kept = None if part is None else part.ids if split == TRAIN else part.early
        if kept is not None and not extra:  # extra ones are learned from besides all others
            rows = [k for k, q in enumerate(questions) if q.id in kept]
            held = [held[k] for k in rows] if isinstance(held, list) else held.take(np.array(rows, np.int64))
        if extra and split == TRAIN:
            scenes, listed = source.list_scenes(split), isinstance(held, list)
            held = [*held, *stage.collect(scenes, extra)] if listed else stage.collect(scenes, [*questions, *extra])
        return replace(data, supervision={**data.supervision, stage.name: held})

    def _collect_all(self, stage: TrainStage, source: StudyData, split: str) -> Any:
        """What a stage takes of a split; that of the study's first model was gathered with the data."""
        if ANSWERS not in stage.supervision:
            return self._collect(stage, source, split)
        if stage.collects_like(self.find_stage(self.study.models[0])):
            return source.splits[split].supervision[stage.name]
        return stage.collect(source.list_scenes(split), source.list_questions(split))

    def _collect(self, stage: TrainStage, source: StudyData, split: str) -> list[Any]:
        """What a stage that sees no image takes of a split, one for each question; stages that take alike share it."""
        key = source.kind, split, content_id(stage.describe(source.training_data.schema))
        if key not in self._collected:
            found = stage.collect(source.list_scenes(split), source.list_questions(split))
            if len(found) != len(source.list_questions(split)):
                raise UserError(f"{source.dataset.folder} has questions without programs, which this model needs")
            self._collected[key] = found
        return list(self._collected[key])

    def see(self, stage: TrainStage, source: StudyData, split: str) -> SplitData:
        """A split with what such a stage sees of its images, which stages that see alike share."""
        if IMAGES not in stage.supervision:
            return source.splits[split]
        config = stage.fit_vocabulary(source.training_data.schema, source.show(TRAIN))
        key = source.kind, split, content_id([type(stage).see.__qualname__, dict(config.features)])
        if key not in self._seen:
            self._seen = {k: v for k, v in self._seen.items() if k[0] == source.kind or k[1] == TEST}
            self._seen[key] = stage.see(source.show(split), config, self.device)
        return self._seen[key]


def draw_shots(found: Sequence[Question], row: str, shots: int, seed: int) -> list[Question]:
    """K of these, no two of the same words, and none whose words a smaller seed has drawn."""
    texts = {q.text for q in found}
    if len(texts) < shots * (seed + 1):
        raise TooFewQuestions(f"{len(texts)} variants of {row} in training questions differ in their words")
    taken: set[str] = set()
    drawn: list[Question] = []
    for one in range(seed + 1):
        drawn = []
        for k in derive("k_shot", row, one).permutation(len(found)).tolist():
            if len(drawn) < shots and found[k].text not in taken:
                drawn.append(found[k])
                taken.add(found[k].text)
    return drawn


def _collect_piece(stage: TrainStage, scenes: Sequence[Scene]) -> Any:
    return stage.collect(scenes, ())
