"""Source: where questions to be asked come from: a dataset of ours, or the VQA files of an audit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ..audit.folder import MANIFEST, check_audit, was_audit
from ..canonical import content_id
from ..catalog import SUITES
from ..errors import UserError
from ..question import Question
from ..result import Lineage
from ..scene import Scene
from ..schema import OPEN, Schema
from ..store.dataset import Dataset
from ..store.shard import groups, read_questions
from .conditions import Feed, Item
from .vqa_files import VqaFiles


class Prompts(Protocol):
    """The questions of one split, as a model is asked them."""

    @property
    def remedy(self) -> str: ...

    def ids(self, limit: int | None = None) -> list[str]: ...

    def lacking(self, limit: int | None = None) -> dict[str, str]: ...

    def pictures(self, limit: int | None = None) -> dict[str, str]: ...

    def items(
        self, condition: str, limit: int | None = None, done: frozenset[str] = frozenset()
    ) -> Iterator[Item]: ...


class Source(Protocol):
    """What can be asked and learned from."""

    @property
    def splits(self) -> tuple[str, ...]: ...

    def data_id(self) -> str: ...

    def lineage(self) -> Lineage | None: ...

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

    def lineage(self) -> Lineage:
        return lineage_of(self.dataset)

    def schema(self) -> Schema:
        image = next(self.dataset.images(), None)
        return image.scene.schema if image else OPEN

    def questions(self, split: str) -> Iterator[Question]:
        for shard in self.dataset.shards(split):
            if shard.questions:
                self.dataset.check(shard.questions)
                yield from read_questions(self.dataset.folder / shard.questions.path)

    def scenes(self, question: Question) -> Sequence[Scene]:
        if not self._scenes:
            for shard in self.dataset.shards():
                if shard.images:
                    self.dataset.check(shard.images)
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


def lineage_of(dataset: Dataset) -> Lineage:
    """What a dataset is a variant of, by the spec of its suite (`base_spec`), where it tells."""
    chain = [dict(dataset.manifest.spec)]
    name = str(chain[0].get("suite", ""))
    base_spec = getattr(SUITES.load(name), "base_spec", None) if name in SUITES.names() else None
    while base_spec is not None and (base := base_spec(chain[-1])) != chain[-1]:
        chain.append(base)
    ids = [content_id(spec) for spec in chain]
    return Lineage(ids[0], ids[min(1, len(ids) - 1)], ids[-1])


def data_id(dataset: Dataset) -> str:
    """The same for the same content, wherever the folder stands."""
    return content_id([file.digest for shard in dataset.shards() for file in shard.files])
