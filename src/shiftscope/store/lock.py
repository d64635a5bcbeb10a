"""Lock: one process at a time writes a folder or a file; a killed one leaves nothing locked behind.

A verb that writes several files into a folder holds it with `locked`; what is put in place whole, such as a
page, is held by its name with `locked_name`.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import UserError
from ..whole import PARTIAL, real, sweep, sweep_beside, writing

NAME = ".lock"
TRIES = 20  # at a lock that appears or vanishes between two steps
SECONDS = 0.01  # between them


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder, made if it is not there; a second holder is refused with the first one's process id.

    What a killed holder left half written goes. A folder that was made for this and stays empty is removed.
    """
    with _hold(folder / NAME, folder):
        sweep(folder)
        yield


@contextmanager
def locked_name(path: Path) -> Iterator[None]:
    """Hold a file, or a folder that is put in place whole, by a lock beside it; a device is not held."""
    with writing(path):
        target = real(path)
        if not target.name:
            raise UserError(f"{path} is the root of the file system; choose another name")
        is_device = path.exists() and not (path.is_file() or path.is_dir())
    if is_device:
        yield
    else:
        with _hold(target.with_name(f".{target.name}{NAME}"), path):
            sweep_beside(target)
            yield


def contents(folder: Path) -> list[str]:
    """The names in a folder, sorted, besides what those who write it leave there: locks and partial files."""
    with writing(folder):
        names = sorted(p.name for p in folder.iterdir())
    return [n for n in names if not (n.startswith(".") and n.endswith((NAME, PARTIAL)))]


@contextmanager
def _hold(lock: Path, what: Path) -> Iterator[None]:
    made: list[Path] = []
    try:
        handle = _acquire(lock, what, made)
        try:
            yield
        finally:
            with suppress(OSError):
                if os.path.samestat(os.fstat(handle), lock.lstat()):
                    lock.unlink()  # while still held, so that nobody loses a lock just taken
            os.close(handle)
    finally:
        _remove_empty(made)


def _acquire(lock: Path, what: Path, made: list[Path]) -> int:
    """An open lock file that is ours; `made` is told the folders made on the way, innermost first."""
    for _ in range(TRIES):
        handle = _opened(lock, what, made)
        if handle is not None:
            try:
                if _is_taken(handle, lock, what):
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
        time.sleep(SECONDS)
    raise UserError(f"{what}: other processes are working on it; wait for them to end")


def _opened(lock: Path, what: Path, made: list[Path]) -> int | None:
    """The lock file; None where another process just removed the empty folder that it had made."""
    with writing(what):
        missing = [f for f in (lock.parent, *lock.parent.parents) if not f.exists()]
        made[:] = [*missing, *(f for f in made if f not in missing)]
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:  # a link is not followed: the file that it leads to would be written over
            return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except FileNotFoundError:
            if lock.parent.is_dir():  # as in /proc
                raise
            return None


def _is_taken(handle: int, lock: Path, what: Path) -> bool:
    """Take the lock; False where its holder ended, and removed the file, since it was opened."""
    import fcntl

    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise UserError(f"{lock} is no file; remove it")
    with writing(what):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            another = "another folder" if lock.name == NAME else "another name"
            raise UserError(
                f"{what}: {_holder(handle)} is already working on it; wait for it to end, or choose {another}"
            ) from None
        try:
            if not os.path.samestat(os.fstat(handle), lock.lstat()):
                return False
        except FileNotFoundError:
            return False
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {socket.gethostname()}".encode())
    return True


def _holder(handle: int) -> str:
    """Who holds a lock: it says so at once after taking it."""
    for _ in range(TRIES):
        words = os.pread(handle, 300, 0).decode(errors="replace").split()
        if words and words[0].isdecimal():
            elsewhere = words[1:] not in ([], [socket.gethostname()])
            return f"process {words[0]}{f' on {words[1]}' if elsewhere else ''}"
        time.sleep(SECONDS)
    return "another process"


def _remove_empty(folders: list[Path]) -> None:
    """Innermost first; one that something is in stays, and so do those it is in."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()
