"""Dataset: a folder of shards, opened: its splits, images (found by id), questions and single examples."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Self

from ..errors import UserError, unknown
from ..files import remember_file_digest
from ..question import Question
from ..records import content_id
from ..scene import Scene
from ..schema import OPEN, Schema
from ..url_path import UrlPath
from . import shard as shard_files
from .image import StoredImage
from .manifest import MANIFEST_FILE, Manifest, read_manifest
from .shard import REPAIR_HINT, DamagedFile, Shard, ShardFile
from .tables import parse_images, parse_questions

CACHED_GROUPS = 8  # row groups in memory


class ImageIndex:
    """The images of a dataset. Looks near the question first: most shards hold the images they ask about.

    `check` is called for each file before it is read.
    """

    def __init__(
        self, folder: Path, shards: Iterable[Shard], check: Callable[[ShardFile], None] = lambda file: None
    ) -> None:
        self._folder = folder
        self._shards = tuple(s for s in shards if s.images)
        self._files = {s.images.path: s.images for s in self._shards if s.images}
        self._check = check
        self._ids: dict[str, dict[str, int]] = {}  # file → image id → row
        self._groups: OrderedDict[tuple[str, int], tuple[StoredImage, ...]] = OrderedDict()

    def get(self, image_id: str, near: Shard) -> StoredImage:
        """The image of that id: in the shard given, else in its split, else anywhere."""
        nearest_first = chain(
            (near,),
            (s for s in self._shards if s.split == near.split),
            (s for s in self._shards if s.split != near.split),
        )
        for shard in nearest_first:
            if shard.images:
                path = shard.images.path
                row = self._index_rows(path).get(image_id)
                if row is not None:
                    return self._load_group(path, row // shard_files.IMAGES_IN_GROUP)[row % shard_files.IMAGES_IN_GROUP]
        raise UserError(f"{self._folder}: no image {image_id!r} in it")

    def _index_rows(self, path: str) -> dict[str, int]:
        if path not in self._ids:
            self._check(self._files[path])
            tables = shard_files.iterate_row_groups(self._folder / path, ["image_id"])
            ids = [image_id for table in tables for image_id in table["image_id"].to_pylist()]
            self._ids[path] = {image_id: row for row, image_id in enumerate(ids)}
        return self._ids[path]

    def _load_group(self, path: str, k: int) -> tuple[StoredImage, ...]:
        key = (path, k)
        if key not in self._groups:
            with shard_files.open_parquet(self._folder / path) as file:
                self._groups[key] = tuple(parse_images(file.read_row_group(k, use_threads=False)))
        self._groups.move_to_end(key)
        while len(self._groups) > CACHED_GROUPS:
            self._groups.popitem(last=False)
        return self._groups[key]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the images it asks about, in the question's order."""

    question: Question
    images: tuple[StoredImage, ...]
    split: str  # the dataset's; a question's provenance may name the split of another file


@dataclass(frozen=True, slots=True)
class Dataset:
    """A finished dataset. Files are read when they are needed; iteration keeps a few rows in memory."""

    folder: Path
    manifest: Manifest
    made: int | None = field(default=None, compare=False)  # shards, by the build that gave it; None: opened

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The dataset in a folder; sizes are checked, hashes only by `verify`."""
        manifest = read_manifest(folder)
        if manifest is None:
            raise UserError(f"{folder}: no dataset there (no manifest.json)")
        if not manifest.complete:
            raise UserError(f"{folder}: the dataset is not finished; run the command that made it again to resume")
        sizes = folder.list_sizes() if isinstance(folder, UrlPath) else {}  # of a store, in a few requests
        for file in manifest.files:
            if sizes.get(file.path) != file.bytes:
                _check_size(folder, file)
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
                yield from shard_files.read_images(_check_size(self.folder, shard.images))

    def scenes(self, split: str | None = None) -> Iterator[Scene]:
        """The scenes of the images, without reading these."""
        for shard in self.shards(split):
            if shard.images:
                yield from shard_files.read_shard_scenes(_check_size(self.folder, shard.images))

    def questions(self, split: str | None = None) -> Iterator[Question]:
        for shard in self.shards(split):
            if shard.questions:
                yield from shard_files.read_questions(_check_size(self.folder, shard.questions))

    def examples(self, split: str | None = None) -> Iterator[Example]:
        """Every question with its images; images that follow each other are read once."""
        index = ImageIndex(self.folder, self.shards())
        for shard in self.shards(split):
            if shard.questions:
                for question in shard_files.read_questions(_check_size(self.folder, shard.questions)):
                    yield _build_example(question, shard, index)

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
                with shard_files.open_parquet(_check_size(self.folder, file)) as opened:
                    table = opened.read_row_group(index // shard_files.QUESTIONS_IN_GROUP, use_threads=False)
                    question = next(parse_questions(table.slice(index % shard_files.QUESTIONS_IN_GROUP, 1)))
                return _build_example(question, shard, ImageIndex(self.folder, self.shards()))
            index -= file.rows if file else 0
        raise AssertionError("the shards hold fewer questions than they say")

    def check_file(self, file: ShardFile) -> None:
        """Refuse a file that is not what was written; one that is not touched is read once a process."""
        if remember_file_digest(self.folder / file.path) != file.digest:
            raise UserError(f"{self.folder / file.path} is not what was written there; {REPAIR_HINT}")

    def list_ids_without_picture(self) -> frozenset[str]:
        """The ids of the images that have none; reads next to nothing where all have one."""
        files = [s.images for s in self.manifest.shards if s.images]
        return frozenset(
            name for file in files for name in shard_files.list_ids_without_picture(self.folder / file.path)
        )

    def verify(self) -> None:
        """Read every byte and refuse the first file that is not what was written."""
        for file in self.manifest.files:
            if not file.is_whole(self.folder):
                raise DamagedFile(f"{self.folder / file.path} is not what was written there; {REPAIR_HINT}")


CardSection = Callable[[Dataset], str]  # writes a section of the dataset's card in Markdown, or nothing


def _check_size(folder: Path, file: ShardFile) -> Path:
    """Where a file is, if it still has the size it was written with; in a store, the digest as well."""
    path = folder / file.path
    if isinstance(path, UrlPath):
        whole = file.has_head(path)
    else:
        whole = path.is_file() and path.stat().st_size == file.bytes
    if not whole:
        raise UserError(f"{path} is missing or cut short; {REPAIR_HINT}")
    return path


def _build_example(question: Question, shard: Shard, index: ImageIndex) -> Example:
    return Example(question, tuple(index.get(i, shard) for i in question.scenes), shard.split)


def data_id(dataset: Dataset) -> str:
    """The same for the same content, wherever the folder stands."""
    return content_id([file.digest for file in dataset.manifest.files])


def find_schema(dataset: Dataset) -> Schema:
    image = next(dataset.images(), None)
    return image.scene.schema if image else OPEN


def has_grounding(dataset: Dataset) -> bool:
    """Whether its questions say which of their phrases refer to what; reads next to nothing."""
    for shard in dataset.shards():
        if shard.questions:
            with shard_files.open_parquet(dataset.folder / shard.questions.path) as file:
                return "grounding" in file.schema_arrow.names
    return False


def refuse_study(folder: Path) -> None:
    """Refuse a folder of datasets, such as a study, with the names of those in it."""
    if (folder / MANIFEST_FILE).exists() or not folder.is_dir():
        return
    if found := sorted(p.parent.name for p in folder.glob(f"*/{MANIFEST_FILE}")):
        example, names = folder / found[0], ", ".join(found)
        raise UserError(f"{folder} holds several datasets; name one of them, as in {example} (there are {names})")
