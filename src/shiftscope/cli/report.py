"""Report: one page that shows where models break, how surely, and on what."""

from pathlib import Path
from typing import Annotated

import typer

from . import _console as shared
from ._console import print_json


def command(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, made by shiftscope run.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    data: Annotated[Path | None, typer.Option(help="The dataset, if it has moved since the runs.")] = None,
    as_json: shared.AsJson = False,
) -> None:
    """Make one self-contained page of runs: it opens offline, prints, and needs no other file."""
    from ..report.run_page import report

    made = report(runs, out, data)
    if as_json:
        sections = [name for name, _ in made.sections]
        print_json({"page": str(made.path), "bytes": made.bytes, "runs": len(runs), "sections": sections})
    else:
        titles = ", ".join(title for _, title in made.sections)
        print(f"wrote {made.path} ({made.bytes / 1e6:.1f} MB): {titles}")
