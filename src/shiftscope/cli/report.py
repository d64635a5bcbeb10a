"""Report: one page that shows where models break, how surely, and on what."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import unknown
from . import _console as shared
from ._console import print_json


def command(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, made by shiftscope run.")],
    out: Annotated[Path | None, typer.Option(help="The page to write; by default report.FORMAT.")] = None,
    form: Annotated[
        str, typer.Option("--format", help="html, md, json or csv; by default what --out ends with, else html.")
    ] = "",
    figures: Annotated[Path | None, typer.Option(help="Write every chart to this folder, as SVG and as PDF.")] = None,
    data: Annotated[Path | None, typer.Option(help="The dataset, if it has moved since the runs.")] = None,
    as_json: shared.AsJson = False,
) -> None:
    """Make one self-contained page of runs: it opens offline, prints, and needs no other file."""
    from ..report.export import FORMATS
    from ..report.run_page import report

    suffix = out.suffix.removeprefix(".").lower() if out else ""
    name = form or (suffix if suffix in FORMATS else "html")
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    made = report(runs, out or Path(f"report.{name}"), data, FORMATS[name], figures)
    if as_json:
        sections = [name for name, _ in made.sections]
        print_json({"page": str(made.path), "bytes": made.bytes, "runs": len(runs), "sections": sections})
    else:
        titles = ", ".join(title for _, title in made.sections)
        print(f"wrote {made.path} ({made.bytes / 1e6:.1f} MB): {titles}")
        if figures is not None:
            print(f"wrote the charts to {figures}, as SVG and as PDF")
