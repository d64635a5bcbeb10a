"""Memory: replies that were paid for, kept on disk by content, so that none is paid for twice.

One SQLite file. Several runs may use it at once, and a kill loses nothing that was put: what can be paid for
twice is only a reply that arrives in the very moment of the kill, before it is put.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from ..errors import UserError

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
    """Replies by key."""

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"{path}: can not be used ({error}); choose another folder with --cache"
            ) from None

    def get(self, key: str) -> str | None:
        row = self._file.execute("SELECT value FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, value: str) -> None:
        """Once this returns, a kill of the process does not lose it."""
        self._file.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, value))

    def __len__(self) -> int:
        return int(self._file.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        self._file.close()
