"""Bytes of an input file, plain or gzipped, read into memory within bounds.

A file may have, unpacked, as many gigabytes as $SHIFTSCOPE_MAX_INPUT_GB says; else 8, half of the memory
there is, or a hundred times what it was packed to, whichever is least.
"""

from __future__ import annotations

import codecs
import gzip
import math
import os
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ..errors import UserError
from ..whole import read_whole

ENV = "SHIFTSCOPE_MAX_INPUT_GB"
GB = 10**9
LARGEST = 8 * GB  # bytes of a file, unpacked, where the user sets no limit
UNPACKED_TIMES = 100  # JSON and CSV pack to a tenth or a thirtieth
UNPACKED_FREELY = 64 << 20  # bytes, whatever they were packed to
PIECE = 1 << 20
CONTAINER = Path("/sys/fs/cgroup/memory.max")
GZIPPED = b"\x1f\x8b"


def read_bytes(path: Path) -> bytes:
    """The file's content, unzipped if it is gzipped, whatever its name; a UserError where it is too large."""
    try:
        with _open(path) as file:
            size, begins = file.seek(0, os.SEEK_END), file.seek(0)
            packed = file.read(len(GZIPPED)) == GZIPPED
            file.seek(begins)
            data = _unpack(file, size, path) if packed else _read(file, size, path)
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


def _open(path: Path) -> BinaryIO:
    """The file, or what came through a pipe, as far as it may count."""
    return path.open("rb") if path.is_file() else BytesIO(read_whole(path, largest_input() + 1))


def _read(file: BinaryIO, size: int, path: Path) -> bytes:
    most = largest_input()
    if size > most:
        raise _too_large(path, _size(size), most)
    return file.read()


def _unpack(file: BinaryIO, packed: int, path: Path) -> bytes:
    most = largest_input()
    refusal = _too_large(path, f"more than {_size(most)} unpacked", most)
    usual = max(UNPACKED_FREELY, UNPACKED_TIMES * packed)
    if packed and usual < most and ENV not in os.environ:
        most = usual
        refusal = UserError(
            f"{path}: its {_size(packed)} unpack to more than {UNPACKED_TIMES} times as much, as in a file "
            f"made to fill the memory; if it is meant so, unpack it first, or set {ENV}"
        )
    with gzip.GzipFile(fileobj=file) as stream:
        return _gather(stream.read, most, refusal)


def _gather(read: Callable[[int], bytes], most: int, refusal: UserError) -> bytes:
    """All that a stream gives, piece by piece, up to a limit."""
    held = BytesIO()
    while piece := read(PIECE):
        held.write(piece)
        if held.tell() > most:
            raise refusal
    return held.getvalue()


def largest_input() -> int:
    """How many bytes a file may have, unpacked."""
    wish = os.environ.get(ENV)
    if wish is None:
        return min(LARGEST, _memory() // 2)
    try:
        limit = float(wish)
        if not 0 < limit < math.inf:
            raise ValueError
    except ValueError:
        raise UserError(f"{ENV}={wish!r} is not a number of gigabytes, as 16 is") from None
    return int(limit * GB)


def _memory() -> int:
    """Bytes of memory of this machine, or of the container that it is."""
    found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(found, int(CONTAINER.read_text()))
    except (OSError, ValueError):
        return found


def _too_large(path: Path, size: str, most: int) -> UserError:
    return UserError(
        f"{path}: it has {size}, and at most {_size(most)} are read into memory; split the file, or set "
        f"{ENV} where there is memory for more"
    )


def _size(count: int) -> str:
    return f"{count / GB:,.1f} GB" if count >= GB else f"{count / 1e6:,.1f} MB"
