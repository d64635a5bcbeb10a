"""The console: tables, progress bars, pictures and program trees for a person, JSON lines for programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ..errors import warn

if TYPE_CHECKING:
    from ..lang.exec.exact import TraceLine

T = TypeVar("T")
NARROWEST = 20  # characters of a terminal that is written for
UNBOUNDED = 500  # characters of a line that nothing bounds
GAP = 3  # characters between columns
PICTURE_WIDTH = 96  # characters, at most
READABLE = 24  # minimum characters of a wrapped column
LINE_SECONDS = 30.0  # between progress lines in a log


def print_json(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, allow_nan=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """A plain table that fits the terminal; columns of numbers stand right.

    Where it would not fit without breaking words, each row is printed by itself, one line per column. Output to
    a file or a pipe has no width, unless COLUMNS gives one.
    """
    listed = [list(row) for row in rows]
    width = _find_width()
    if title:
        print(title if width is None else fill(title, width))
    plain = None if sys.stdout.isatty() else _lay_out_plainly(columns, listed, width or UNBOUNDED)
    if plain is not None:
        print(plain)
        return
    if width is not None and not _fits(columns, listed, width):
        print(_stack_rows(columns, listed, width))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD if any(columns) else None, show_header=any(columns), pad_edge=False)
    for name, numeric in zip(columns, _find_numeric(columns, listed), strict=True):
        made.add_column(name, justify="right" if numeric else "left")
    for row in listed:
        made.add_row(*(Text(str(cell)) for cell in row))
    if sys.stdout.isatty():
        Console(width=width).print(made)
        return
    console = Console(width=width or UNBOUNDED, file=StringIO())
    console.print(made)
    print("\n".join(line.rstrip() for line in console.file.getvalue().splitlines()))  # type: ignore[attr-defined]


def _find_numeric(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[bool]:
    """Which columns are of numbers."""
    return [bool(rows) and all(isinstance(row[at], int | float) for row in rows) for at in range(len(columns))]


def _lay_out_plainly(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> str | None:
    """The table as rich lays it out, which takes longer to import than many a command; None for what only it can."""
    cells = [[str(cell) for cell in row] for row in rows]
    texts = [*columns, *(cell for row in cells for cell in row)]
    wide = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    plain = all(text.isascii() and text.isprintable() for text in texts) and not any(
        set(n) & set("[:\\") for n in columns
    )
    if not plain or not rows or not any(columns) or sum(wide) + GAP * (len(wide) - 1) + 2 > width:
        return None
    numeric = _find_numeric(columns, rows)
    lines = [
        " "
        + (" " * GAP).join(c.rstrip().rjust(w) if n else c.ljust(w) for c, w, n in zip(row, wide, numeric, strict=True))
        for row in (columns, *cells)
    ]
    lines.insert(1, f" {'─' * (sum(wide) + GAP * (len(wide) - 1))}")
    return "\n".join(["", *(line.rstrip() for line in lines), ""])


def _find_width() -> int | None:
    """How many characters a line may have; None for any number."""
    if sys.stdout.isatty():
        return max(NARROWEST, get_terminal_size().columns)
    given = os.environ.get("COLUMNS", "")
    return max(NARROWEST, int(given)) if given.isascii() and given.isdecimal() and len(given) < 6 else None


def _fits(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> bool:
    """Whether the table fits with at most one wrapped column, without broken words."""
    from rich.cells import cell_len

    cells = [[name, *(str(row[at]) for row in rows)] for at, name in enumerate(columns)]
    wide = [max(map(cell_len, column)) for column in cells]
    gaps = GAP * (len(wide) - 1) + 2
    narrow = [max(cell_len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    wrapped = max(range(len(wide)), key=lambda at: wide[at] - narrow[at], default=0)
    rest = sum(wide) - wide[wrapped] if wide else 0
    return sum(wide) + gaps <= width or rest + max(narrow[wrapped], READABLE) + gaps <= width


def _stack_rows(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> str:
    """Each row by itself: its first cell, and under it one line per column; empty cells are left out."""
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


def track_progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a bar on the error stream when a person is watching."""
    with counting_bar(what, total) as update:
        for done, item in enumerate(items, 1):
            yield item
            update(done)


@contextmanager
def counting_bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar with rate and time left; lines in a log."""
    with shard_bar(what) as update:
        yield lambda done: update(done, total or 0, "")


def _print_progress_lines(what: str) -> Callable[[int, int, str], None]:
    """For a log: a line now and then."""
    last = time.monotonic()

    def update(done: int, total: int, words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            of = f" of {total:,}" if total else ""
            warn(f"{what}: {done:,}{of}{f', {words}' if words else ''}")

    return update


@contextmanager
def shard_bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar, updated with (done, of how many, what was counted); lines in a log."""
    if not sys.stderr.isatty():
        yield _print_progress_lines(what)
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[words]}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, words="", rate="")

        def update(done: int, total: int, words: str) -> None:
            speed = bar.tasks[task].speed
            rate = f"{speed:,.1f}/s" if speed else ""
            bar.update(task, completed=done, total=total or None, words=words, rate=rate)

        yield update


def print_picture(png: bytes) -> None:
    """Print the picture if the output is a terminal: two pixels per character, in true colour."""
    if not sys.stdout.isatty():
        return
    from PIL import Image
    from rich.color import Color
    from rich.console import Console
    from rich.segment import Segment, Segments
    from rich.style import Style

    console = Console()
    picture = Image.open(BytesIO(png)).convert("RGB")
    width = min(PICTURE_WIDTH, console.width)
    height = max(1, picture.height * width // picture.width // 2)
    pixels = picture.resize((width, 2 * height), Image.Resampling.LANCZOS).load()
    assert pixels is not None
    for y in range(height):
        row = []
        for x in range(width):
            upper, lower = (Color.from_rgb(*pixels[x, 2 * y + k]) for k in (0, 1))  # type: ignore[misc]
            row.append(Segment("▀", Style(color=upper, bgcolor=lower)))
        console.print(Segments([*row, Segment.line()]), end="")


def print_tree(tree: Sequence[TraceLine], margin: int = 0) -> None:
    """A program with its trace: ops indented by depth, their values in a column beside."""
    width = max((2 * line.depth + len(line.text) for line in tree), default=0)
    for line in tree:
        left = f"{'  ' * line.depth}{line.text}"
        print(f"{' ' * margin}{left:<{width}}  {line.value}".rstrip())


def tree_to_json(tree: Sequence[TraceLine]) -> list[dict[str, Any]]:
    return [{"node": t.node, "depth": t.depth, "op": t.text, "value": t.value} for t in tree]


# Options that several verbs share.

Cluster = Annotated[str, typer.Option(help="Work on a Ray cluster: ray (joined or started), or ray:ADDRESS.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ModelName = Annotated[
    str, typer.Option(help="A name, nsvqa:FOLDER, openai:MODEL@URL, hf:ORG/MODEL, predictions:FILE, or module:Class.")
]
LearnFrom = Annotated[Path | None, typer.Option(help="Dataset whose train split a built-in model learns from.")]
ImageFolder = Annotated[Path | None, typer.Option(help="Folder of pictures, where the data are an audit's VQA files.")]
Mode = Annotated[str, typer.Option(help="short: a one-word answer; free: reasoning first.")]
InFlight = Annotated[int, typer.Option(min=1, help="Concurrent calls to an endpoint.")]
Parameters = Annotated[str, typer.Option(help="More JSON to send to an endpoint; null drops a parameter.")]
KeyEnv = Annotated[str, typer.Option(help="The environment variable that holds the endpoint's key.")]
CacheFolder = Annotated[Path | None, typer.Option(help="Folder of responses already paid for; shared by all runs.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Pay for every response: neither read nor write the cache.")]
Batch = Annotated[int, typer.Option(min=1, help="Prompts per batch, for hf models.")]
Device = Annotated[str, typer.Option(help="For local models: cpu, cuda, cuda:1, mps; hf models also: all.")]
Replicas = Annotated[
    int, typer.Option(min=1, help="For hf models: run so many, each on a GPU of its own; on --device all, on several.")
]
Price = Annotated[str, typer.Option(help="Price of a million tokens read and written, as in 0.15,0.60.")]
Temperature = Annotated[float, typer.Option(min=0, help="0 for the likeliest response.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for a call.")]
Retries = Annotated[int, typer.Option(min=0, help="Further attempts at a call that failed.")]
Dtype = Annotated[str, typer.Option(help="For hf models: float32, bfloat16, float16.")]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="For hf models: run their own code, and load pickled weights.")
]
Seed = Annotated[int, typer.Option(help="For models that use chance.")]
