"""Source: where questions to be asked come from: a dataset of ours, or the VQA files of an audit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ..audit.folder import MANIFEST, check_audit, was_audit
from ..canonical import content_id
from ..errors import UserError
from ..question import Question
from ..scene import Scene
from ..schema import OPEN, Schema
from ..store.dataset import Dataset
from ..store.shard import groups
from .conditions import Feed, Item
from .vqa_files import VqaFiles


class Prompts(Protocol):
    """The questions of one split, as a model is asked them."""

    def ids(self, limit: int | None = None) -> list[str]: ...

    def items(
        self, condition: str, limit: int | None = None, done: frozenset[str] = frozenset()
    ) -> Iterator[Item]: ...


class Source(Protocol):
    """What can be asked and learned from."""

    @property
    def splits(self) -> tuple[str, ...]: ...

    def data_id(self) -> str: ...

    def schema(self) -> Schema: ...

    def questions(self, split: str) -> Iterator[Question]: ...

    def scenes(self, question: Question) -> Sequence[Scene]: ...

    def prompts(
        self, split: str, mode: str, joined: bool = False, only: frozenset[str] | None = None
    ) -> Prompts: ...


class DatasetSource:
    """A dataset of ours."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._scenes: dict[str, Scene] = {}

    @property
    def splits(self) -> tuple[str, ...]:
        return self.dataset.splits

    def data_id(self) -> str:
        return data_id(self.dataset)

    def schema(self) -> Schema:
        image = next(self.dataset.images(), None)
        return image.scene.schema if image else OPEN

    def questions(self, split: str) -> Iterator[Question]:
        return self.dataset.questions(split)

    def scenes(self, question: Question) -> Sequence[Scene]:
        if not self._scenes:
            files = [self.dataset.folder / s.images.path for s in self.dataset.shards() if s.images]
            for table in (t for f in files for t in groups(f, ["scene"])):
                for text in table["scene"].to_pylist():
                    scene = Scene.from_json(json.loads(text))
                    self._scenes[scene.id] = scene
        return [self._scenes[name] for name in question.scenes]

    def prompts(
        self, split: str, mode: str, joined: bool = False, only: frozenset[str] | None = None
    ) -> Prompts:
        return Feed(self.dataset, split, mode, joined, only)


def open_source(folder: Path, images: Path | None = None) -> Source:
    """What is in a folder: a dataset, or an audit. `images` is where the pictures of an audit lie."""
    if (folder / MANIFEST).exists() or not was_audit(folder):
        if images is not None:
            raise UserError(f"{folder} is no audit: a dataset holds its images; leave --images away")
        return DatasetSource(Dataset.open(folder))
    check_audit(folder)
    return VqaFiles(folder, images)


def data_id(dataset: Dataset) -> str:
    """The same for the same content, wherever the folder stands."""
    return content_id([file.digest for shard in dataset.shards() for file in shard.files])
