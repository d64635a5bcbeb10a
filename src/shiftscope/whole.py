"""Files written whole or not at all, and the hashes that tell whether they still are what was written."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import UserError

PARTIAL = ".partial"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(path: Path, data: Any, *, durable: bool = True) -> None:
    """Write bytes to a temporary name beside the file, then rename: a reader sees the old file or the new.

    A link is followed, and a device (`/dev/null`) is written to, not replaced. Durable waits for the disk.
    """
    path = path.resolve()
    partial = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    with writing(path):
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what a failed write means for the user."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            text = (
                "the disk is full; what was finished before is good: free some space and run the same command"
            )
            raise UserError(f"{path}: {text} again") from None
        raise UserError(f"{path}: can not be written ({error.strerror or error})") from None


def sweep(folder: Path) -> None:
    """Remove what killed writers left half done."""
    for partial in folder.rglob(f".*{PARTIAL}"):
        if partial.is_file():
            partial.unlink(missing_ok=True)


def digest_of(data: Any) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's content, read piece by piece."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
