"""The rows of a JSON list as pieces of its file: where each begins and ends, and no object for any of them.

An audit copies millions of rows into its sets. Kernels do that without the GIL, so that two threads gather rows at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from .kernels import Bytes, Longs, exact

SEPARATOR = b",\n"  # before each row that is written


@dataclass(frozen=True, slots=True, eq=False)
class RowTexts(Sequence[bytes]):
    """The texts of the rows, in the order of the file."""

    data: bytes  # the whole file
    starts: Longs  # [row]
    ends: Longs  # [row]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...
    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        return self.data[self.starts[at] : self.ends[at]]

    def join_rows(self, first: int, last: int) -> bytes:
        """These rows as a list, in the words of the file."""
        return b"[" + self.data[self.starts[first] : self.ends[last - 1]] + b"]"


def locate_rows(data: bytes, rows: Sequence[Any]) -> RowTexts | None:
    """Where rows that are views into a file lie in it; None where they are anything else, or not in one list."""
    whole = np.frombuffer(data, np.uint8)
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    if not len(sizes):
        return None
    first, last = (np.frombuffer(row, np.uint8).ctypes.data - whole.ctypes.data for row in (rows[0], rows[-1]))
    starts = np.empty(len(sizes), np.int64)
    if not 0 <= first <= last <= len(data) - sizes[-1] or not _find_starts(whole, first, sizes, starts):
        return None
    return RowTexts(data, starts, starts + sizes) if starts[-1] == last else None


@exact
def _find_starts(data: Bytes, first: int, sizes: Longs, starts: Longs) -> bool:
    """Where rows of these sizes begin, one after the other; False where more than a comma stands between two."""
    at = first
    for k in range(len(sizes)):
        while k and at < len(data) and (data[at] == 32 or data[at] == 44 or 9 <= data[at] <= 13):
            at += 1
        starts[k] = at
        at += sizes[k]
        if at > len(data):
            return False
    return True


def gather_rows(texts: Sequence[RowTexts], files: Longs, rows: Longs) -> Bytes:
    """The texts of these rows of these files, with a separator before each, in one array."""
    starts, sizes = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    chosen = [np.flatnonzero(files == k) for k in range(len(texts))]
    for text, inside in zip(texts, chosen, strict=True):
        starts[inside] = text.starts[rows[inside]]
        sizes[inside] = text.ends[rows[inside]] - starts[inside]
    ends = np.cumsum(sizes + len(SEPARATOR))
    made = np.empty(ends[-1] if len(ends) else 0, np.uint8)
    for text, inside in zip(texts, chosen, strict=True):
        if len(inside):
            _copy_rows(np.frombuffer(text.data, np.uint8), starts[inside], sizes[inside], ends[inside], made)
    return made


@exact
def _copy_rows(data: Bytes, starts: Longs, sizes: Longs, ends: Longs, out: Bytes) -> None:
    for k in range(len(starts)):
        size = sizes[k]
        at = ends[k] - size
        out[at - 2], out[at - 1] = 44, 10  # the separator
        out[at : at + size] = data[starts[k] : starts[k] + size]
