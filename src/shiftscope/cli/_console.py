"""Printing: tables and bars on a terminal, JSON lines for programs, complaints on the error stream."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from shutil import get_terminal_size
from textwrap import fill, wrap
from typing import Any, TypeVar

T = TypeVar("T")
NARROWEST = 20  # characters of a terminal that is written for
UNBOUNDED = 500  # characters of a line that nothing bounds
GAP = 3  # characters between columns
READABLE = 24  # characters that a column told in several lines takes at least
LINE_SECONDS = 30.0  # between lines that tell how far a work is, where nobody watches a bar


def json_line(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, allow_nan=False))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """A plain table that fits the terminal; columns of numbers stand right.

    Where it would not fit without breaking words, each row is told by itself, a line a column. What goes to
    a file or a pipe has no edge, unless COLUMNS says so.
    """
    listed = [list(row) for row in rows]
    width = _width()
    if title:
        print(title if width is None else fill(title, width))
    if width is not None and not _fits(columns, listed, width):
        print(_stacked(columns, listed, width))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(
        box=box.SIMPLE_HEAD if any(columns) else None,
        show_header=any(columns),
        pad_edge=False,
    )
    for at, name in enumerate(columns):
        numeric = bool(listed) and all(isinstance(row[at], int | float) for row in listed)
        made.add_column(name, justify="right" if numeric else "left")
    for row in listed:
        made.add_row(*(Text(str(cell)) for cell in row))
    if sys.stdout.isatty():
        Console(width=width).print(made)
        return
    plain = Console(width=width or UNBOUNDED, file=StringIO())
    plain.print(made)
    print("\n".join(line.rstrip() for line in plain.file.getvalue().splitlines()))  # type: ignore[attr-defined]


def _width() -> int | None:
    """How many characters a line may have; None where there is no edge."""
    if sys.stdout.isatty():
        return max(NARROWEST, get_terminal_size().columns)
    given = os.environ.get("COLUMNS", "")
    return max(NARROWEST, int(given)) if given.isascii() and given.isdecimal() and len(given) < 6 else None


def _fits(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> bool:
    """Whether the table fits with at most one column told in several lines, and that without broken words."""
    from rich.cells import cell_len

    cells = [[name, *(str(row[at]) for row in rows)] for at, name in enumerate(columns)]
    wide = [max(map(cell_len, column)) for column in cells]
    gaps = GAP * (len(wide) - 1) + 2
    narrow = [max(cell_len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    told = max(range(len(wide)), key=lambda at: wide[at] - narrow[at], default=0)
    rest = sum(wide) - wide[told] if wide else 0
    return sum(wide) + gaps <= width or rest + max(narrow[told], READABLE) + gaps <= width


def _stacked(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> str:
    """Each row by itself: what it is about, and under it a line a column; what is empty is left out."""
    margin = min(max((len(name) for name in columns[1:]), default=0), width // 2) + 4
    lines = []
    for row in rows:
        first = f"{columns[0]} {row[0]}".strip()
        lines += ["", *(wrap(first, width) or [""])]
        for name, cell in zip(columns[1:], map(str, row[1:]), strict=True):
            if cell:
                start = f"  {name}"
                head = start.ljust(margin) if len(start) < margin else f"{start} "
                lines += wrap(cell, width, initial_indent=head, subsequent_indent=" " * margin)
    return "\n".join([*lines, ""])


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a bar on the error stream when a person is watching."""
    with counting_bar(what, total) as tell:
        for done, item in enumerate(items, 1):
            yield item
            tell(done)


@contextmanager
def counting_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar to tell how many are done; shows rate and time left. Lines where nobody watches."""
    with shard_bar(what) as tell:
        yield lambda done: tell(done, total or 0, "")


def _told_in_lines(what: str) -> Callable[[int, int, str], None]:
    """For a log: a line now and then."""
    last = time.monotonic()

    def tell(done: int, total: int, words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            of = f" of {total:,}" if total else ""
            told = f"shiftscope: {what}: {done:,}{of}{f', {words}' if words else ''}"
            print(told, file=sys.stderr, flush=True)

    return tell


@contextmanager
def shard_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar to tell (done, of how many, in words what was counted); lines where nobody watches."""
    if not sys.stderr.isatty():
        yield _told_in_lines(what)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, words="", rate="")

        def tell(done: int, total: int, words: str) -> None:
            speed = bar.tasks[task].speed
            rate = f"{speed:,.1f}/s" if speed else ""
            bar.update(task, completed=done, total=total or None, words=words, rate=rate)

        yield tell
