"""Lock: one process at a time works on a folder; a killed one leaves no lock behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError

NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder; a second holder is refused with the first one's process id."""
    path = folder / NAME
    handle = _acquire(path, folder)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        path.unlink(missing_ok=True)  # while still held, so that nobody loses a lock just taken
        os.close(handle)


def _acquire(path: Path, folder: Path) -> int:
    import fcntl

    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UserError(f"{folder}: can not be written ({error.strerror})") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_ino == path.stat().st_ino:
                return handle
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode() or "another"
            os.close(handle)
            raise UserError(
                f"{folder}: process {holder} is already working on it; wait for it to end, "
                "or choose another folder"
            ) from None
        except FileNotFoundError:
            pass  # its holder ended between our two steps
        os.close(handle)
