"""Memory: replies that were paid for, kept on disk by content, so that none is paid for twice.

One SQLite file. Several runs may use it at once, and a kill loses nothing that was put: what can be paid for
twice is only a reply that arrives in the very moment of the kill, before it is put.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError
from ..models._model import Kept

NAME = "replies.sqlite"
ENV = "SHIFTSCOPE_CACHE"


def default_folder() -> Path:
    """$SHIFTSCOPE_CACHE, else the user's folder for caches."""
    named = os.environ.get(ENV)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "shiftscope"


class DiskMemory:
    """Replies by key, each with the time when it was put."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        with self._using():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT, stored REAL)"
            )
            if "stored" not in self._columns():
                try:
                    self._file.execute("ALTER TABLE replies ADD COLUMN stored REAL")
                except sqlite3.OperationalError:
                    if "stored" not in self._columns():  # else another process was faster
                        raise

    def _columns(self) -> list[str]:
        return [row[1] for row in self._file.execute("PRAGMA table_info(replies)")]

    @contextmanager
    def _using(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"{self._path}: can not be used ({error}); choose another folder with --cache, or --no-cache"
            ) from None

    def get(self, key: str) -> Kept | None:
        with self._using():
            row = self._file.execute("SELECT value, stored FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else Kept(str(row[0]), row[1])

    def put(self, key: str, value: str) -> None:
        """Once this returns, a kill of the process does not lose it."""
        with self._using():
            self._file.execute(
                "INSERT OR REPLACE INTO replies (key, value, stored) VALUES (?, ?, ?)",
                (key, value, time.time()),
            )

    def __len__(self) -> int:
        return int(self._file.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        self._file.close()
