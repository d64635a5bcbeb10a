"""Make contact sheets of what the worlds can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from ._console import print_json


def command(
    out: Annotated[Path, typer.Option(help="Folder for the sheets.")],
    of: Annotated[
        str, typer.Option(help="Suites, separated by commas.", show_default="all whose world can be shown")
    ] = "all",
    data: Annotated[
        Path | None, typer.Option(help="With --of covr: a COVR dataset, 50 of whose questions are shown.")
    ] = None,
    source: Annotated[str, typer.Option(help="With --of covr: what its graphs are, in words.")] = "",
    seed: Annotated[int, typer.Option(help="Of the sampled scenes.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make contact sheets: shapes by colour, material, size and texture, parts of vehicles, sampled scenes.

    CLEVR's solids are shown in all combinations. All 21 vehicles are shown in each colour at each size, in
    each material at each size, and in each texture on each material at each size. Of a COVR dataset, 50
    questions drawn at random are written down.
    """
    from ..run.gallery import make_gallery

    worlds = [world.strip() for world in of.split(",") if world.strip()]
    if not worlds:
        raise UserError("--of names no world; omit it for all of them")
    sheets = make_gallery(out, seed, () if worlds == ["all"] else worlds, data, source)
    if as_json:
        print_json({"sheets": [str(s) for s in sheets]})
    else:
        for sheet in sheets:
            print(sheet)
