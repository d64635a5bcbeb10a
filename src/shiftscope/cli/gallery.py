"""Make contact sheets of what the worlds can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import json_line


def command(
    out: Annotated[Path, typer.Option(help="Folder for the sheets.")],
    seed: Annotated[int, typer.Option(help="Of the sampled scenes.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make contact sheets: every solid in every colour, material and size, and sampled scenes."""
    from ..run.gallery import gallery

    sheets = gallery(out, seed)
    if as_json:
        json_line({"sheets": [str(s) for s in sheets]})
    else:
        for sheet in sheets:
            print(sheet)
