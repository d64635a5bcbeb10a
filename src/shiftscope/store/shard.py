"""Shard: the unit that is made, hashed and remade; a Parquet file of images and one of questions."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from ..arrow_array import build_array
from ..errors import UserError
from ..files import digest_of, file_digest, open_arrow_file
from ..folder import open_folder
from ..question import Question
from ..scene import Scene
from ..url_path import UrlPath
from .image import StoredImage
from .tables import build_image_table, build_question_table, parse_images, parse_questions

IMAGES_IN_GROUP = 16  # rows read together to get at one: a few megabytes of pictures
QUESTIONS_IN_GROUP = 1000
PNG_COLUMN = "image.bytes"  # the column of pictures
MAX_COUNT = 1 << 48  # bytes, rows or shards in a manifest
MAX_SHARD_BYTES = 1 << 30  # Arrow addresses 2 GB of bytes in a column
REPAIR_HINT = "run the shiftscope make that made it again with --repair, or the same shiftscope test again"
ROW_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # what rows that nobody wrote raise


class DamagedFile(UserError):
    """A file is not what was written there; a build with `repair` makes it again."""


@dataclass(frozen=True, slots=True)
class ShardFile:
    """One file of a shard, as it was written."""

    path: str  # inside the dataset's folder, with forward slashes
    rows: int
    bytes: int
    digest: str  # blake2b

    def is_whole(self, folder: Path) -> bool:
        """Whether the file still is what was written; reads all of it, unless a store knows its digest."""
        path = folder / self.path
        if isinstance(path, UrlPath):
            return self.has_head(path) and file_digest(path) == self.digest
        return path.is_file() and path.stat().st_size == self.bytes and file_digest(path) == self.digest

    def has_head(self, path: UrlPath) -> bool:
        """Whether the object there has this size and, if it tells one, this digest; reads nothing of it."""
        try:
            head = path.read_head()
        except FileNotFoundError:
            return False
        return head.size == self.bytes and head.digest in ("", self.digest)


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard k of a split; a file without rows is not written."""

    split: str
    index: int
    images: ShardFile | None = None
    questions: ShardFile | None = None

    @property
    def files(self) -> tuple[ShardFile, ...]:
        return tuple(f for f in (self.images, self.questions) if f is not None)

    def to_json(self) -> dict[str, Any]:
        files = {"images": self.images, "questions": self.questions}
        return {"split": self.split, "index": self.index} | {
            name: {"path": f.path, "rows": f.rows, "bytes": f.bytes, "blake2b": f.digest}
            for name, f in files.items()
            if f is not None
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        files = {}
        for name in ("images", "questions"):
            if (f := data.get(name)) is not None:
                path, digest = f["path"], f["blake2b"]
                inside = isinstance(path, str) and not {"/", ".."} & set(Path(path).parts)
                if not inside or not isinstance(digest, str):
                    raise ValueError(f"{path!r} is no file of a dataset")
                files[name] = ShardFile(path, get_count(f, "rows"), get_count(f, "bytes"), digest)
        if not isinstance(data["split"], str):
            raise TypeError(f"{data['split']!r} is no split")
        return cls(data["split"], get_count(data, "index"), **files)


def get_count(data: Mapping[str, Any], name: str) -> int:
    """A count that a manifest gives; anything else is a ValueError."""
    value = data[name]
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{name} is {value!r}, not a count")
    return value


@dataclass(frozen=True, slots=True)
class SharedImages:
    """The images of another dataset's shard, to be taken over as they are."""

    folder: Path  # of that dataset
    file: ShardFile


class EncodedShard(NamedTuple):
    """A shard whose files are still to be written."""

    shard: Shard
    contents: Mapping[str, Any]  # bytes by path
    shared: SharedImages | None = None  # where another dataset has the images already


def write_shard(
    folder: Path,
    split: str,
    index: int,
    images: Sequence[StoredImage] | SharedImages,
    questions: Sequence[Question],
    before: Shard | None = None,
) -> Shard:
    """Write the files of a shard; the same records give the same bytes.

    A shard that differs from the one made `before` is refused, and no file is touched.
    """
    return store_shard(folder, encode_shard(split, index, images, questions), before)


def encode_shard(
    split: str, index: int, images: Sequence[StoredImage] | SharedImages, questions: Sequence[Question]
) -> EncodedShard:
    """The files of a shard, in memory."""
    _refuse_repeated_ids([q.id for q in questions], f"question of shard {index} of {split}")
    name = f"{split}/{index:05d}.parquet"
    image_file = question_file = None
    contents: dict[str, Any] = {}  # by path
    if isinstance(images, SharedImages):
        image_file = replace(images.file, path=f"images/{name}")
    elif images:
        _refuse_repeated_ids([i.id for i in images], f"image of shard {index} of {split}")
        if sum(len(i.png) for i in images) > MAX_SHARD_BYTES:
            raise UserError(f"shard {index} of {split} holds more than 1 GB of images; make the shards smaller")
        image_file = _encode_parquet(f"images/{name}", build_image_table(images), IMAGES_IN_GROUP, contents)
    if questions:
        table = build_question_table(questions)
        question_file = _encode_parquet(f"questions/{name}", table, QUESTIONS_IN_GROUP, contents)
    shared = images if isinstance(images, SharedImages) else None
    return EncodedShard(Shard(split, index, image_file, question_file), contents, shared)


def store_shard(folder: Path, encoded: EncodedShard, before: Shard | None = None) -> Shard:
    """Write the files of a shard, unless another was made before."""
    shard, contents, shared = encoded
    if shared is not None and not shared.file.is_whole(shared.folder):
        raise UserError(f"{shared.folder / shared.file.path} is not what was written there; {REPAIR_HINT}")
    if before is not None and before != shard:
        raise UserError(
            f"{folder}: shard {shard.index} of {shard.split} came out differently than the first time, so nothing was "
            "changed; it is not a function of its spec: make the dataset in another folder and report this"
        )
    files = open_folder(folder)
    if shared is not None and shard.images is not None:
        files.adopt(shared.folder / shared.file.path, shard.images.path)
    for path, data in contents.items():
        files.write_whole(path, data)
    return shard


def _refuse_repeated_ids(ids: list[str], what: str) -> None:
    if len(set(ids)) < len(ids):
        twice = next(i for i in ids if ids.count(i) > 1)
        raise ValueError(f"{what}: id {twice!r} is used twice")


def _encode_parquet(path: str, table: Any, group: int, contents: dict[str, Any]) -> ShardFile:
    """A table as a Parquet file, whose bytes join the contents."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    words = [f.name for f in table.schema if not pa.types.is_nested(f.type)]
    # Pictures are compressed already: zstd would look at them for nothing.
    packed = {leaf: "none" if leaf == PNG_COLUMN else "zstd" for f in table.schema for leaf in _list_leaves(f)}
    pq.write_table(table, sink, row_group_size=group, compression=packed, use_dictionary=words)
    data = contents[path] = sink.getvalue()
    return ShardFile(path, table.num_rows, data.size, digest_of(data))


def _list_leaves(field: Any, path: str = "") -> list[str]:
    """The columns that a Parquet file keeps of an Arrow one, by their paths."""
    import pyarrow as pa

    path += field.name
    if pa.types.is_list(field.type):
        return _list_leaves(field.type.value_field.with_name("element"), f"{path}.list.")
    if pa.types.is_struct(field.type):
        return [leaf for inner in field.type for leaf in _list_leaves(inner, f"{path}.")]
    return [path]


def read_images(path: Path) -> Iterator[StoredImage]:
    """The images of a file, a few in memory at a time."""
    return iterate_row_groups(path, parse=parse_images)


def read_questions(path: Path, only: Collection[str] | None = None) -> Iterator[Question]:
    """All questions of a file, or those of these ids alone; programs of others are not parsed."""
    if only is None:
        return iterate_row_groups(path, parse=parse_questions)
    import pyarrow as pa

    def parse(table: Any) -> Iterator[Question]:
        kept = build_array([name in only for name in table["question_id"].to_pylist()], pa.bool_())
        return parse_questions(table.filter(kept))

    return iterate_row_groups(path, parse=parse)


def read_shard_scenes(path: Path) -> Iterator[Scene]:
    """The scenes of a file of images, without the pictures."""
    for table in iterate_row_groups(path, ["scene"]):
        yield from (Scene.from_json(json.loads(text)) for text in table["scene"].to_pylist())


def iterate_row_groups(
    path: Path, columns: Sequence[str] | None = None, parse: Callable[[Any], Iterable[Any]] = lambda table: (table,)
) -> Iterator[Any]:
    """The tables a file is made of, one after the other, or what each is parsed into."""
    with open_parquet(path) as file:
        for k in range(file.num_row_groups):
            yield from parse(file.read_row_group(k, columns=columns, use_threads=False))


def list_ids_without_picture(path: Path) -> Iterator[str]:
    """The ids of the images of a file that have no picture; the pictures themselves are not read."""
    with open_parquet(path) as file:
        for k in range(file.num_row_groups):
            group = file.metadata.row_group(k)
            column = next(c for i in range(group.num_columns) if (c := group.column(i)).path_in_schema == PNG_COLUMN)
            if column.is_stats_set and column.statistics.has_null_count and not column.statistics.null_count:
                continue
            table = file.read_row_group(k, columns=["image_id", "image.path"], use_threads=False)
            yield from table.filter(table["image"].is_null())["image_id"].to_pylist()


def read_columns(path: Path, columns: Sequence[str], remedy: str = REPAIR_HINT) -> Any:
    """A few small columns of a whole file, as one table."""
    with open_parquet(path, remedy) as file:
        return file.read(columns=columns, use_threads=False)


@contextmanager
def open_parquet(path: Path, remedy: str = REPAIR_HINT) -> Iterator[Any]:
    """An open Parquet file; damage is an error that says how to repair it, also of rows made from it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    remote = isinstance(path, UrlPath)
    if not remote and path.exists() and not path.is_file():
        raise UserError(f"{path} is no file; {remedy}")
    try:
        with open_arrow_file(path) as opened, pq.ParquetFile(opened, pre_buffer=remote) as file:
            yield file
    except FileNotFoundError:
        raise UserError(f"{path} is missing; {remedy}") from None
    except (pa.ArrowException, OSError, *ROW_ERRORS) as error:
        why = " ".join(str(error).split())
        raise UserError(f"{path} is damaged ({why}); {remedy}") from None
