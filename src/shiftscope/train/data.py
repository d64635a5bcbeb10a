"""Data to train on: a dataset's folder, or a suite's world whose images are drawn and never stored."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from ..errors import UserError, did_you_mean
from ..registry import SUITES
from ..schema import Schema
from ..store.dataset import Dataset, data_id, find_schema, refuse_study
from ..store.question_part import QuestionPart
from ..suites import load_suite
from ..world import load_world
from .feed import SuiteSource, list_trainable_suites

TRAIN, VAL = "train", "val"


@dataclass(frozen=True, slots=True)
class SuiteTrainingData:
    """A suite's world: the train and val splits that `make` would write for the same spec."""

    suite: str
    spec: Any  # the suite's

    @property
    def name(self) -> str:
        variant = getattr(self.spec, "name", "")
        return f"{self.suite}:{variant}" if variant else self.suite

    @property
    def variant(self) -> str:
        """As reports name it."""
        return str(getattr(self.spec, "name", self.suite))

    @property
    def schema(self) -> Schema:
        return load_world(load_suite(self.suite).world).schema

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the images."""
        size: tuple[int, int] = self.spec.size
        return size

    @property
    def shard(self) -> int:
        """Images that one of several processes gets at a time."""
        return int(self.spec.shard)

    def to_json(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.spec.spec()
        return spec

    def count(self, split: str) -> int:
        return int(self.spec.splits()[split])

    def source(self, split: str, questions: bool) -> SuiteSource:
        none = {} if questions else dict.fromkeys(self.spec.question_fields, 0)
        return SuiteSource(self.suite, replace(self.spec, **none), split)


@dataclass(frozen=True, slots=True)
class DatasetTrainingData:
    """The train and val splits of a dataset; of train at most so many images, the first.

    A part leaves out questions, not images: what is held out is a property of questions.
    """

    size: ClassVar[tuple[int, int]] = (0, 0)  # known once images are read
    shard: ClassVar[int] = 1

    dataset: Dataset
    images: int
    part: QuestionPart | None = None

    @property
    def name(self) -> str:
        spec = self.dataset.manifest.spec
        parts = [str(spec[key]) for key in ("suite", "variant") if spec.get(key)]
        return ":".join(parts) or self.dataset.folder.resolve().name

    @property
    def variant(self) -> str:
        spec = self.dataset.manifest.spec
        return str(spec.get("variant") or spec.get("suite") or self.dataset.folder.resolve().name)

    @property
    def schema(self) -> Schema:
        return find_schema(self.dataset)

    def to_json(self) -> dict[str, Any]:
        part = {"part": self.part.spec()} if self.part else {}
        return {"data_id": data_id(self.dataset), "images": self.count(TRAIN)} | part

    def count(self, split: str) -> int:
        there = self.dataset.count(split)[0]
        return min(there, self.images) if split == TRAIN else there


TrainingData: TypeAlias = SuiteTrainingData | DatasetTrainingData


def open_training_data(
    text: str, *, visual: str = "", images: int = 20_000, part: QuestionPart | None = None
) -> TrainingData:
    """What `--data` names: DIR, or SUITE[:VARIANT] with so many training images, and a quarter for val."""
    if images < 1:
        raise UserError(f"{images} images are too few to train on; give at least 1")
    path = Path(text)
    refuse_study(path)
    if path.exists() or "/" in text:
        if visual:
            raise UserError(f"{text} is made already: --visual is for a suite, as in --data superclevr")
        return _open_dataset(path, images, part)
    if part is not None:
        raise UserError(f"{text} is a suite, whose questions are made while training; --part takes a dataset")
    suite, _, variant = text.partition(":")
    if suite not in SUITES.names() or not load_suite(suite).trainable:
        known = list_trainable_suites()
        raise UserError(
            f"{text}: no such folder, nor a suite that can be trained on{did_you_mean(suite, known)} "
            f"({', '.join(known)})"
        )
    usual = load_suite(suite).spec.from_variant(variant, visual)
    sizes = usual.splits()
    if TRAIN not in sizes:
        raise UserError(f"{suite}:{variant} is for testing alone; train on another variant")
    near = round(images * usual.images / sizes[TRAIN])
    for total in sorted(range(max(1, near - 12), near + 13), key=lambda total: (abs(total - near), total)):
        spec = replace(usual, images=total)
        if spec.splits().get(TRAIN) == images and spec.splits().get(VAL):
            return SuiteTrainingData(suite, spec)
    raise UserError(f"{images} training images leave none to choose by; train on at least 4")


def _open_dataset(path: Path, images: int, part: QuestionPart | None) -> DatasetTrainingData:
    data = DatasetTrainingData(Dataset.open(path), images, part)
    for split in (TRAIN, VAL):
        if split not in data.dataset.splits or not data.dataset.count(split)[0]:
            raise UserError(
                f"{path} has no images in a split {split!r}: training needs {TRAIN} to learn from and "
                f"{VAL} to be chosen by"
            )
        for file in (file for shard in data.dataset.shards(split) for file in shard.files):
            data.dataset.check_file(file)
    if part is not None:
        part.check(data_id(data.dataset), TRAIN, (q.id for q in data.dataset.questions(TRAIN)))
    return data
