"""Response cache: what endpoints answered, kept on disk by content, so that nothing is paid for twice.

One SQLite file. Several runs may use it at once, and a kill loses nothing that was stored: only a
response that arrives at the very moment of the kill may be paid for twice.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UserError
from ..model import CachedResponse

NAME = "replies.sqlite"


class DiskResponseCache:
    """Responses by key, each with the time when it was stored."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        with self._guard_errors():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT, stored REAL)")
            if "stored" not in self._list_columns():
                try:
                    self._file.execute("ALTER TABLE replies ADD COLUMN stored REAL")
                except sqlite3.OperationalError:
                    if "stored" not in self._list_columns():  # else another process was faster
                        raise

    def _list_columns(self) -> list[str]:
        return [row[1] for row in self._file.execute("PRAGMA table_info(replies)")]

    @contextmanager
    def _guard_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"{self._path}: cannot be used ({error}); choose another folder with --cache, or --no-cache"
            ) from None

    def get(self, key: str) -> CachedResponse | None:
        with self._guard_errors():
            row = self._file.execute("SELECT value, stored FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else CachedResponse(str(row[0]), row[1])

    def put(self, key: str, value: str) -> None:
        """Once this returns, a kill of the process does not lose it."""
        with self._guard_errors():
            self._file.execute(
                "INSERT OR REPLACE INTO replies (key, value, stored) VALUES (?, ?, ?)", (key, value, time.time())
            )

    def __len__(self) -> int:
        return int(self._file.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        self._file.close()
