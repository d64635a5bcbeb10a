"""The files of sample rows: Parquet, JSON Lines and tars, read as columns of many rows at a time."""

import gzip
import hashlib
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .. import json_files as _json
from ..errors import UserError
from ..files import GZIP_MAGIC

MAX_ROW_BYTES = 64 << 20


def find_kind(head: bytes) -> str:
    """What a file is by its first bytes, unzipped: "parquet", "tar", "lines", or "" for none of these."""
    if head[:4] == b"PAR1":
        return "parquet"
    if head[257:262] == b"ustar":
        return "tar"
    with suppress(ValueError, RecursionError):
        row = json.loads(head.lstrip().partition(b"\n")[0])
        return "lines" if isinstance(row, dict) and "question" in row else ""
    return ""


@contextmanager
def explain_file_errors(path: Path) -> Iterator[None]:
    """Say in one sentence why a file cannot be read."""
    import pyarrow as pa

    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: broken gzip file ({error})") from None
    except tarfile.TarError as error:
        raise UserError(f"{path}: broken tar file ({error})") from None
    except pa.ArrowException as error:
        raise UserError(f"{path}: broken Parquet file ({' '.join(str(error).split())})") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def digest_members(path: Path) -> str:
    """Of a tar's rows and the names of all members."""
    digest = hashlib.blake2b(digest_size=32)
    with explain_file_errors(path), tarfile.open(path) as archive:
        for member in archive:
            digest.update(f"{len(member.name)} {member.name} {member.size} {member.mtime}\n".encode(errors="replace"))
            if _split_name(member.name)[1] == "json":
                digest.update(_read_member(archive, member, path))
    return digest.hexdigest()


Place = Callable[[int], str]  # where a row of a batch stands in its file: "line 7"
Batch = tuple[dict[str, Any], Place]  # field → Arrow array or list


def iterate_batches(path: Path, kind: str, fields: Sequence[str], rows: int) -> Iterator[Batch]:
    """The fields of so many rows at a time."""
    return _iterate_parquet(path, fields, rows) if kind == "parquet" else _iterate_json(path, kind, fields, rows)


def _iterate_parquet(path: Path, fields: Sequence[str], rows: int) -> Iterator[Batch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = 0
    with pa.OSFile(os.fsencode(path)) as opened, pq.ParquetFile(opened) as file:
        names = [name for name in fields if name in file.schema_arrow.names]
        for needed in ("question_id", "question"):
            if needed not in names:
                raise UserError(f"{path}: there is no column {needed} in it")
        for batch in file.iter_batches(rows, columns=names):
            columns = {name: batch.column(batch.schema.get_field_index(name)) for name in names}
            yield columns, lambda row, first=first: f"row {first + row + 1}"  # type: ignore[misc]
            first += batch.num_rows


def _iterate_json(path: Path, kind: str, fields: Sequence[str], most: int) -> Iterator[Batch]:
    msgspec = _json.require_msgspec()
    decode = msgspec.json.Decoder(msgspec.defstruct("Row", [(name, Any, None) for name in fields], gc=False)).decode
    rows: list[Any] = []
    places: list[Any] = []

    def finish() -> Batch:
        columns = {name: [getattr(row, name) for row in rows] for name in fields}
        return columns, lambda row, places=tuple(places): str(places[row])

    for place, key, data in _iterate_members(path) if kind == "tar" else _iterate_lines(path):
        try:
            row = decode(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise UserError(f"{path}: {place} is not a row as JSON: {error}") from None
        if key is not None and row.question_id is None:
            row.question_id = key
        rows.append(row)
        places.append(place)
        if len(rows) == most:
            yield finish()
            rows.clear()
            places.clear()
    if rows:
        yield finish()


class _LinePlace(int):
    """A line's number, named only when somebody wants it."""

    def __str__(self) -> str:
        return f"line {int(self)}"

    __format__ = lambda self, _: str(self)  # noqa: E731


def _iterate_lines(path: Path) -> Iterator[tuple[Any, None, bytes]]:
    with path.open("rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        lines: Any = gzip.GzipFile(fileobj=file) if packed else file
        number = 0
        while line := lines.readline(MAX_ROW_BYTES):
            number += 1
            if len(line) == MAX_ROW_BYTES:
                raise UserError(f"{path}: line {number} is longer than {MAX_ROW_BYTES >> 20} MB")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.isspace():
                yield _LinePlace(number), None, line


def _iterate_members(path: Path) -> Iterator[tuple[Any, str, bytes]]:
    with tarfile.open(path) as archive:
        last, row = "", True
        for member in archive:
            if not member.isfile():
                continue
            key, kind = _split_name(member.name)
            if key != last:
                if not row:
                    raise UserError(f"{path}: sample {last} has no .json")
                last, row = key, False
            if kind == "json":
                row = True
                yield f"sample {key}", key, _read_member(archive, member, path)
        if not row:
            raise UserError(f"{path}: sample {last} has no .json")


def _split_name(name: str) -> tuple[str, str]:
    """A sample's key and what the member is, as WebDataset has it: both end at the first dot of the last part."""
    folder, _, base = name.rpartition("/")
    key, _, kind = base.partition(".")
    return (f"{folder}/{key}" if folder else key), kind


def _read_member(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> bytes:
    if member.size > MAX_ROW_BYTES:
        raise UserError(f"{path}: {member.name} is larger than {MAX_ROW_BYTES >> 20} MB")
    file = archive.extractfile(member)
    return file.read() if file else b""
