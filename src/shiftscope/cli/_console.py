"""Printing: tables and bars on a terminal, JSON lines for programs, complaints on the error stream."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any, TypeVar

T = TypeVar("T")
LINE_SECONDS = 30.0  # between lines that tell how far a work is, where nobody watches a bar


def json_line(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, allow_nan=False))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """A plain table that fits the terminal; columns of numbers stand right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = [list(row) for row in rows]
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
    if title:
        print(title)
    if sys.stdout.isatty():
        Console().print(made)
        return
    plain = Console(width=500, file=StringIO())  # a file or a pipe has no edge to wrap at
    plain.print(made)
    print("\n".join(line.rstrip() for line in plain.file.getvalue().splitlines()))  # type: ignore[attr-defined]


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
