"""Folder: files read and written whole, listed, and held by one process at a time; on the local disk or in a store.

Verbs that write datasets, runs, audits and trainings go through `open_folder`; what lies at a URL is a
`RemoteFolder`. A reader sees the old file or the new, and a killed process leaves nothing locked for good.
"""

import os
import shutil
import socket
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from . import files
from .errors import UserError
from .files import PARTIAL, explain_write_errors
from .url_path import UrlPath

LOCK_FILE = ".lock"
LOCK_TRIES = 20  # at a lock that appears or vanishes between two steps
LOCK_WAIT_SECONDS = 0.01  # between them


class Folder:
    """Files by name, `images/train/00000.parquet`, in a folder of the local disk, which need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError where there is none."""
        return files.read_whole(self.path / name)

    def write_whole(self, name: str, data: Any, *, durable: bool = True) -> None:
        """Write a file, or leave it as it was."""
        files.write_whole(self.path / name, data, durable=durable)

    def append_line(self, name: str, line: bytes) -> None:
        """Add a line to a file; once this returns, a kill does not lose it."""
        with explain_write_errors(self.path / name), (self.path / name).open("ab") as file:
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def truncate(self, name: str, size: int) -> None:
        with explain_write_errors(self.path / name):
            os.truncate(self.path / name, size)

    def adopt(self, source: Path, name: str) -> None:
        """Take over a file from elsewhere: under another name where the disk allows it, else as a copy.

        A file with several names is made read-only: a change in place would damage several datasets.
        """
        target = self.path / name
        if isinstance(source, UrlPath):
            files.write_whole(target, source.read_bytes())
            return
        partial = target.with_name(f".{target.name}.{os.getpid()}{PARTIAL}")
        with explain_write_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
            try:
                try:
                    os.link(source, partial)
                    with suppress(PermissionError):  # the file of another user
                        partial.chmod(0o444)
                except OSError:  # another disk, or one without links
                    shutil.copyfile(source, partial)
                partial.replace(target)
            finally:  # renaming a file to itself leaves both names
                partial.unlink(missing_ok=True)

    def move(self, name: str, to: str) -> None:
        with explain_write_errors(self.path / name):
            (self.path / to).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).replace(self.path / to)

    def list(self, under: str = "") -> list[str]:
        """The names directly inside, sorted, without locks and partial files."""
        return list_contents(self.path / under) if (self.path / under).is_dir() else []

    def locate(self, name: str) -> Path:
        """Where a file is, for readers that need random access, such as Parquet's; nothing is copied."""
        return self.path / name

    def remove(self, name: str) -> None:
        """Remove a file, if it is there, or an empty folder."""
        path = self.path / name
        with explain_write_errors(path):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with all that is in it, if it is there."""
        with explain_write_errors(self.path / name), suppress(FileNotFoundError):
            shutil.rmtree(self.path / name)

    def lock(self) -> AbstractContextManager[None]:
        """Hold the folder; a second holder is refused."""
        return lock_folder(self.path)


def open_folder(path: Path) -> Folder:
    """The folder at a path. Nothing is made or read yet."""
    if isinstance(path, UrlPath):
        from .remote_folder import RemoteFolder

        return RemoteFolder(path)
    return Folder(path)


def refuse_foreign_files(
    folder: Path, kind: str, marks: Collection[str], *, ignore: Collection[str] = (), remedy: str = ""
) -> None:
    """Refuse a file, and a folder that is neither empty nor has one of the names that mark a `kind`."""
    remedy = remedy or "choose another folder"
    if not folder.is_dir():
        if folder.exists():
            raise UserError(f"{folder} is a file, not a folder; {remedy}")
        return
    found = [name for name in list_contents(folder) if name not in ignore]
    if found and not {*marks}.intersection(found):
        raise UserError(f"{folder} is not empty and holds no {kind} ({found[0]} is in it); {remedy}")


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, made if it is not there; a second holder is refused with the first one's process id.

    What a killed holder left half written goes. A folder that was made for this and stays empty is removed.
    """
    if isinstance(folder, UrlPath):
        from .lease import hold_lease

        with hold_lease(folder, folder / LOCK_FILE):
            yield
        return
    with _hold_lock(folder / LOCK_FILE, folder):
        files.remove_partial_files(folder)
        yield


@contextmanager
def lock_path(path: Path) -> Iterator[None]:
    """Hold a file, or a folder that is put in place whole, by a lock beside it; a device is not held."""
    if isinstance(path, UrlPath):
        from .lease import hold_lease

        with hold_lease(path, path.with_name(f".{path.name}{LOCK_FILE}")):
            yield
        return
    with explain_write_errors(path):
        target = files.resolve_links(path)
        if not target.name:
            raise UserError(f"{path} is the root of the file system; choose another name")
        is_device = path.exists() and not (path.is_file() or path.is_dir())
    if is_device:
        yield
    else:
        with _hold_lock(target.with_name(f".{target.name}{LOCK_FILE}"), path):
            files.remove_partial_siblings(target)
            yield


def list_contents(folder: Path) -> list[str]:
    """The names in a folder, sorted, besides what those who write it leave there: locks and partial files."""
    with explain_write_errors(folder):
        names = sorted(p.name for p in folder.iterdir())
    return [n for n in names if not (n.startswith(".") and n.endswith((LOCK_FILE, PARTIAL)))]


@contextmanager
def _hold_lock(lock: Path, what: Path) -> Iterator[None]:
    made: list[Path] = []
    try:
        handle = _acquire_lock(lock, what, made)
        try:
            yield
        finally:
            with suppress(OSError):
                if os.path.samestat(os.fstat(handle), lock.lstat()):
                    lock.unlink()  # while still held, so that nobody loses a lock just taken
            os.close(handle)
    finally:
        with suppress(OSError):  # innermost first; one that something is in stays, and so do those it is in
            for folder in made:
                folder.rmdir()


def _acquire_lock(lock: Path, what: Path, made: list[Path]) -> int:
    """An open lock file that is ours; `made` collects the folders made on the way, innermost first."""
    for _ in range(LOCK_TRIES):
        handle = _open_lock(lock, what, made)
        if handle is not None:
            try:
                if _try_lock(handle, lock, what):
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)
        time.sleep(LOCK_WAIT_SECONDS)
    raise UserError(f"{what}: other processes are working on it; wait for them to end")


def _open_lock(lock: Path, what: Path, made: list[Path]) -> int | None:
    """The lock file; None where another process just removed the empty folder that it had made."""
    with explain_write_errors(what):
        missing = [f for f in (lock.parent, *lock.parent.parents) if not f.exists()]
        made[:] = [*missing, *(f for f in made if f not in missing)]
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:  # a link is not followed: the file that it leads to would be written over
            return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except FileNotFoundError:
            if lock.parent.is_dir():  # as in /proc
                raise
            return None


def _try_lock(handle: int, lock: Path, what: Path) -> bool:
    """Take the lock; False where its holder ended, and removed the file, since it was opened."""
    import fcntl

    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise UserError(f"{lock} is no file; remove it")
    with explain_write_errors(what):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            another = "another folder" if lock.name == LOCK_FILE else "another name"
            raise UserError(
                f"{what}: {_read_holder(handle)} is already working on it; wait for it to end, or choose {another}"
            ) from None
        try:
            if not os.path.samestat(os.fstat(handle), lock.lstat()):
                return False
        except FileNotFoundError:
            return False
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {socket.gethostname()}".encode())
    return True


def _read_holder(handle: int) -> str:
    """Who holds a lock: a holder writes its process id at once after taking it."""
    for _ in range(LOCK_TRIES):
        words = os.pread(handle, 300, 0).decode(errors="replace").split()
        if words and words[0].isdecimal():
            elsewhere = words[1:] not in ([], [socket.gethostname()])
            return f"process {words[0]}{f' on {words[1]}' if elsewhere else ''}"
        time.sleep(LOCK_WAIT_SECONDS)
    return "another process"
