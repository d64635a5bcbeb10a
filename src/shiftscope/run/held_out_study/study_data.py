"""The data of a study of held-out splits: made unless they are there, then read once for all trainings.

Pictures are drawn when the first model looks at those of a split: most trainings need those of few, or none.
"""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...picture import Picture
from ...question import Question
from ...scene import Scene
from ...store.dataset import Dataset, data_id
from ...suites import load_suite
from ...train.data import TRAIN, VAL, DatasetTrainingData, gather_split
from ...train.train import ProgressBar
from ...trainable import ANSWERS, IMAGES, SplitData, TrainStage

TEST = "test"
SPLITS = (TRAIN, VAL, TEST)

Tell = Callable[[str], None]


class QuestionListStage(TrainStage):
    """Keeps the questions themselves beside what models learn from them."""

    name = "questions"
    supervision = frozenset((ANSWERS,))

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> list[Question]:
        return [q for q in questions if q.answer is not None]


class SceneListStage(TrainStage):
    """Keeps the scenes of the images, in their order."""

    name = "scenes"
    supervision = frozenset((ANSWERS,))

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> list[Scene]:
        return list(scenes)


class PictureStage(TrainStage):
    """Looks at images and learns nothing: what it gathers is their pixels."""

    name = "pictures"
    supervision = frozenset((IMAGES,))

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> None:
        return None


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """While millions of small records are read that all stay; they are not looked through later either."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if before:
            gc.enable()


@dataclass(frozen=True, slots=True, eq=False)
class StudyData:
    """The splits of a dataset in memory, each with its questions and scenes, and where it lies."""

    kind: str  # as the study's `build_spec` takes it
    dataset: Dataset
    splits: Mapping[str, SplitData]  # without pictures
    seconds: float
    draw: Callable[[str], SplitData]  # the pictures of a split
    _drawn: dict[str, SplitData] = field(default_factory=dict)

    def show(self, split: str) -> SplitData:
        """A split with its pictures, drawn at the first call."""
        if split not in self._drawn:
            self._drawn[split] = replace(self.splits[split], pixels=self.draw(split).pixels)
        return self._drawn[split]

    def list_questions(self, split: str) -> list[Question]:
        found: list[Question] = self.splits[split].supervision[QuestionListStage.name]
        return found

    def list_scenes(self, split: str) -> list[Scene]:
        found: list[Scene] = self.splits[split].supervision[SceneListStage.name]
        return found

    def find_pictures(self, split: str) -> dict[str, Picture]:
        """The images of a split by the names of their scenes."""
        pixels, data = self.show(split).pixels, data_id(self.dataset)
        names = [scene.id for scene in self.list_scenes(split)]
        return {name: Picture(block=pixels, row=k, id=f"{data}:{split}:{name}") for k, name in enumerate(names)}

    @property
    def training_data(self) -> DatasetTrainingData:
        return DatasetTrainingData(self.dataset)


@dataclass(frozen=True, slots=True)
class StudyDataLoader:
    """Where the data of a study lie, and how they are read."""

    folder: Path
    stage: TrainStage  # whose supervision is gathered: that of models which see images
    device: str
    workers: int
    bar: ProgressBar
    tell: Tell

    def load(self, spec: Any, kind: str, splits: Sequence[str] = SPLITS) -> StudyData:
        """The dataset of a suite's spec, made unless it is there."""
        name = kind or "main"
        began = time.monotonic()
        made = load_suite(spec.suite).make(spec, self.folder / name, workers=self.workers, bar=self.bar)
        counts = ", ".join(f"{split} {made.dataset.count(split)[1]:,}" for split in made.dataset.splits)
        self.tell(f"{name} data: {counts} questions, made in {time.monotonic() - began:.1f} s")
        data = DatasetTrainingData(made.dataset)
        answers = copy.copy(self.stage)
        answers.supervision = self.stage.supervision - {IMAGES}
        found = {}
        for split in splits:
            with pause_garbage_collection():
                found[split] = self._gather(data, split, answers, QuestionListStage(), SceneListStage())
        seconds = time.monotonic() - began
        self.tell(f"{name} data: in memory after {seconds:.1f} s")
        return StudyData(kind, made.dataset, found, seconds, lambda split: self._gather(data, split, PictureStage()))

    def _gather(self, data: DatasetTrainingData, split: str, *stages: TrainStage) -> SplitData:
        with self.bar(f"{split} {'pictures' if len(stages) == 1 else 'data'}") as tell:
            return gather_split(data, split, stages, device=self.device, workers=self.workers, tell=tell)
