"""Dataset: a folder of shards, opened: its splits, images, questions and single examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UserError, unknown
from ..question import Question
from ..whole import known_digest
from .image import StoredImage
from .manifest import Manifest, read_manifest
from .shard import (
    QUESTIONS_IN_GROUP,
    REPAIR,
    Damaged,
    Shard,
    ShardFile,
    read_images,
    read_questions,
    reading,
    without_picture,
)
from .shelf import Shelf
from .tables import questions_of


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the images it asks about, in the question's order."""

    question: Question
    images: tuple[StoredImage, ...]
    split: str  # the dataset's; a question's provenance may name the split of another file


@dataclass(frozen=True, slots=True)
class Dataset:
    """A finished dataset. Nothing is read before it is asked for; iteration keeps a few rows in memory."""

    folder: Path
    manifest: Manifest
    made: int | None = field(default=None, compare=False)  # shards, by the build that gave it; None: opened

    @classmethod
    def open(cls, folder: Path) -> Dataset:
        """The dataset in a folder; sizes are checked, hashes only by `verify`."""
        manifest = read_manifest(folder)
        if manifest is None:
            raise UserError(f"{folder}: no dataset there (no manifest.json)")
        if not manifest.complete:
            raise UserError(
                f"{folder}: the dataset is not finished; run the command that made it again to go on"
            )
        for shard in manifest.shards:
            for file in shard.files:
                _sound(folder, file)
        return cls(folder, manifest)

    def __len__(self) -> int:
        """How many questions there are, in all splits."""
        return sum(self.manifest.count(split)[1] for split in self.splits)

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(split for split, _ in self.manifest.plan)

    def count(self, split: str) -> tuple[int, int]:
        """How many images and questions a split has."""
        self.shards(split)
        return self.manifest.count(split)

    def shards(self, split: str | None = None) -> tuple[Shard, ...]:
        """The shards of a split, or of all of them in order."""
        if split is not None and split not in self.splits:
            raise unknown("split", split, self.splits, str(self.folder))
        return tuple(s for s in self.manifest.shards if split in (None, s.split))

    def images(self, split: str | None = None) -> Iterator[StoredImage]:
        for shard in self.shards(split):
            if shard.images:
                yield from read_images(_sound(self.folder, shard.images))

    def questions(self, split: str | None = None) -> Iterator[Question]:
        for shard in self.shards(split):
            if shard.questions:
                yield from read_questions(_sound(self.folder, shard.questions))

    def examples(self, split: str | None = None) -> Iterator[Example]:
        """Every question with its images; images asked about in a row are read once."""
        shelf = Shelf(self.folder, self.shards())
        for shard in self.shards(split):
            if shard.questions:
                for question in read_questions(_sound(self.folder, shard.questions)):
                    yield _example(question, shard, shelf)

    def example(self, index: int, split: str | None = None) -> Example:
        """One question by its place in a split, or in the whole dataset; reads only what is near it."""
        shards = self.shards(split)
        total = sum(s.questions.rows for s in shards if s.questions)
        if not 0 <= index < total:
            where = f"split {split!r} of {self.folder}" if split else str(self.folder)
            raise UserError(f"no question {index} in {where}; it has {total:,}, counted from 0")
        for shard in shards:
            file = shard.questions
            if file and index < file.rows:
                with reading(_sound(self.folder, file)) as opened:
                    table = opened.read_row_group(index // QUESTIONS_IN_GROUP, use_threads=False)
                    question = next(questions_of(table.slice(index % QUESTIONS_IN_GROUP, 1)))
                return _example(question, shard, Shelf(self.folder, self.shards()))
            index -= file.rows if file else 0
        raise AssertionError("the shards hold fewer questions than they say")

    def check(self, file: ShardFile) -> None:
        """Refuse a file that is not what was written; one that is not touched is read once a process."""
        if known_digest(self.folder / file.path) != file.digest:
            raise UserError(f"{self.folder / file.path} is not what was written there; {REPAIR}")

    def without_picture(self) -> frozenset[str]:
        """The ids of the images that have none; reads next to nothing where all have one."""
        files = [s.images for s in self.manifest.shards if s.images]
        return frozenset(name for file in files for name in without_picture(self.folder / file.path))

    def verify(self) -> None:
        """Read every byte and refuse the first file that is not what was written."""
        for shard in self.manifest.shards:
            for file in shard.files:
                if not file.is_whole(self.folder):
                    raise Damaged(f"{self.folder / file.path} is not what was written there; {REPAIR}")


def _sound(folder: Path, file: ShardFile) -> Path:
    """Where a file is, if it has the size it was written with: the dataset may be another by now."""
    path = folder / file.path
    if not path.is_file() or path.stat().st_size != file.bytes:
        raise UserError(f"{path} is missing or cut short; {REPAIR}")
    return path


def _example(question: Question, shard: Shard, shelf: Shelf) -> Example:
    return Example(question, tuple(shelf.get(i, shard) for i in question.scenes), shard.split)
