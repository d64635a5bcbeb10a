"""Files read whole, and written whole or not at all; and digests that tell whether they have changed."""

import codecs
import errno
import gzip
import hashlib
import math
import os
import re
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from .errors import UserError
from .url_path import UrlPath

PARTIAL = ".partial"
PIECE = 1 << 20  # bytes read at a time
GZIP_MAGIC = b"\x1f\x8b"
MAX_INPUT_ENV = "SHIFTSCOPE_MAX_INPUT_GB"
GB = 10**9
DEFAULT_MAX_INPUT = 8 * GB  # bytes of a file, unpacked, where the user sets no limit
MAX_GZIP_RATIO = 100  # JSON and CSV pack to a tenth or a thirtieth
UNCHECKED_GZIP_BYTES = 64 << 20  # bytes, whatever they were packed to
CGROUP_MEMORY_MAX = Path("/sys/fs/cgroup/memory.max")
_LEFT = re.compile(rf"\.(.+)\.\d+{re.escape(PARTIAL)}", re.DOTALL)  # with the process that wrote it
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_pipes: dict[str, bytes] = {}  # what came through each pipe, for it comes but once


def read_whole(path: Path, most: int = sys.maxsize) -> bytes:
    """A file's content; OSError as `Path.read_bytes` raises it.

    A pipe, as in `<(zcat FILE)`, is read once, up to that many bytes, and kept. One that nothing writes to
    and a device, which may never end, are refused.
    """
    if isinstance(path, UrlPath):
        return path.read_bytes()
    try:
        kind = path.stat().st_mode
    except ValueError:  # a NUL in its name
        raise UserError(f"{str(path)!r} is not the name of a file") from None
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
        return path.read_bytes()
    if not stat.S_ISFIFO(kind):
        raise UserError(f"{path} is a device, not a file")
    name = str(path.absolute())
    if name in _pipes:
        return _pipes[name]
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        # What writes to it must have begun, or nobody knows how long to wait.
        first = pipe.read(1)  # None: somebody writes to it, but has not yet
        if first == b"":
            raise UserError(f"{path} is a pipe that nothing writes to; name a file, or write <(COMMAND)")
        os.set_blocking(pipe.fileno(), True)
        held = BytesIO(first or b"")
        held.seek(0, os.SEEK_END)
        while held.tell() < most and (piece := pipe.read(min(PIECE, most - held.tell()))):
            held.write(piece)
    _pipes[name] = held.getvalue()
    return _pipes[name]


def read_bytes(path: Path, head: int = 0) -> bytes:
    """A user's file, or about its first `head` bytes, unzipped if it is gzipped, whatever its name.

    It may have, unpacked, as many gigabytes as $SHIFTSCOPE_MAX_INPUT_GB says; else 8, half of the memory there is,
    or a hundred times its packed size, whichever is least. A larger one is a UserError, as is one that cannot be read.
    """
    most = max_input_bytes()
    try:
        with path.open("rb") if path.is_file() else BytesIO(read_whole(path, most + 1)) as file:
            size, begin = file.seek(0, os.SEEK_END), file.seek(0)
            packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            file.seek(begin)
            if not packed and size > most:
                raise _build_size_error(path, _format_size(size), most)
            data = _read_gzipped(file, size, path, most, head) if packed else file.read(head or -1)
        return data.removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder, not a file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: broken gzip file ({error})") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except MemoryError:
        raise UserError(f"{path}: there is not enough memory to read it") from None


def _read_gzipped(file: BinaryIO, packed: int, path: Path, most: int, head: int) -> bytes:
    refusal = _build_size_error(path, f"more than {_format_size(most)} unpacked", most)
    usual = max(UNCHECKED_GZIP_BYTES, MAX_GZIP_RATIO * packed)
    if packed and usual < most and MAX_INPUT_ENV not in os.environ:
        most = usual
        refusal = UserError(
            f"{path}: its {_format_size(packed)} unpack to more than {MAX_GZIP_RATIO} times as much, as in a file "
            f"made to fill the memory; if it is meant so, unpack it first, or set {MAX_INPUT_ENV}"
        )
    held = BytesIO()
    with gzip.GzipFile(fileobj=file) as stream:
        while (not head or held.tell() < head) and (piece := stream.read(PIECE)):
            held.write(piece)
            if held.tell() > most:
                raise refusal
    return held.getvalue()


def max_input_bytes() -> int:
    """How many bytes a user's file may have, unpacked."""
    wish = os.environ.get(MAX_INPUT_ENV)
    if wish is None:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        with suppress(OSError, ValueError):  # no container, or one without a limit
            memory = min(memory, int(CGROUP_MEMORY_MAX.read_text()))
        return min(DEFAULT_MAX_INPUT, memory // 2)
    try:
        limit = float(wish)
        if not 0 < limit < math.inf:
            raise ValueError
    except ValueError:
        raise UserError(f"{MAX_INPUT_ENV}={wish!r} is not a number of gigabytes, as 16 is") from None
    return int(limit * GB)


def _build_size_error(path: Path, size: str, most: int) -> UserError:
    return UserError(
        f"{path}: it has {size}, and at most {_format_size(most)} are read into memory; split the file, or set "
        f"{MAX_INPUT_ENV} where there is memory for more"
    )


def _format_size(count: int) -> str:
    return f"{count / GB:,.1f} GB" if count >= GB else f"{count / 1e6:,.1f} MB"


def write_whole(path: Path, data: Any, *, durable: bool = True) -> None:
    """Write bytes, or an iterator of them, to a temporary name beside the file, then rename: a reader sees the old
    file or the new.

    A link is followed, and a device (`/dev/null`) is written to, not replaced. Durable waits for the disk.
    """
    if "\0" in str(path):
        raise UserError(f"{str(path)!r} is not the name of a file")
    if isinstance(path, UrlPath):
        from .remote_folder import RemoteFolder

        RemoteFolder(path.parent).write_whole(path.name, data, durable=durable)
        return
    with explain_write_errors(path):
        if path.exists() and not path.is_file():  # a pipe that nobody reads is refused, rather than waited for
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb") as device:
                os.set_blocking(device.fileno(), True)
                device.writelines(data if isinstance(data, Iterator) else (data,))
            return
        path = resolve_links(path)
        partial = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                file.writelines(data if isinstance(data, Iterator) else (data,))
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Say what a failed write means for the user."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            text = "the disk is full; what was finished before is good: free some space and run the same command"
            raise UserError(f"{path}: {text} again") from None
        raise UserError(f"{path}: cannot be written ({error.strerror or error})") from None


def remove_partial_files(folder: Path) -> None:
    """Remove what killed writers left half done in a folder; in a store, nothing half done is seen."""
    for partial in () if isinstance(folder, UrlPath) else folder.rglob(f".*{PARTIAL}"):
        if _LEFT.fullmatch(partial.name) and partial.is_file():
            partial.unlink(missing_ok=True)


def remove_partial_siblings(path: Path) -> None:
    """Remove what killed writers of one file, or of a folder that is put in place whole, left half done."""
    for partial in path.parent.glob(f".*{PARTIAL}"):
        left = _LEFT.fullmatch(partial.name)
        if left and left[1] == path.name:
            if partial.is_dir() and not partial.is_symlink():
                shutil.rmtree(partial)
            else:
                partial.unlink(missing_ok=True)


def resolve_links(path: Path) -> Path:
    """The path without links, as `Path.resolve` has it, which fails where links lead in a circle."""
    return path if isinstance(path, UrlPath) else Path(os.path.realpath(path))


def encode_utf8(text: str) -> bytes:
    r"""The text as UTF-8; a byte of a file's name that is none stands as `\udcff`, which JSON reads back."""
    return text.encode(errors="backslashreplace")


def digest_of(data: Any) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; of an object in a store, the one put with them, so that they need not be read."""
    if isinstance(path, UrlPath) and (known := path.read_head().digest):
        return known
    if not path.is_file():
        return digest_of(read_whole(path))
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


_DIGESTS: dict[tuple[int, ...], str] = {}


def remember_file_digest(path: Path) -> str:
    """`file_digest`, which this process remembers for as long as the file is not touched."""
    if isinstance(path, UrlPath):
        return file_digest(path)
    at = path.stat()
    state = (at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns)
    if state not in _DIGESTS:
        _DIGESTS[state] = file_digest(path)
    return _DIGESTS[state]


def open_arrow_file(path: Path) -> Any:
    """An open file for pyarrow's readers, which fetch of an object in a store what they need, and nothing else."""
    import pyarrow as pa

    # A local file by the bytes of its name, which may be no UTF-8.
    return pa.PythonFile(path.open_ranges(), "r") if isinstance(path, UrlPath) else pa.OSFile(os.fsencode(path))


def find_cache_folder() -> Path:
    """$SHIFTSCOPE_CACHE, else the user's folder for caches."""
    if named := os.environ.get("SHIFTSCOPE_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "shiftscope"
