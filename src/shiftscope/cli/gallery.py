"""Make contact sheets of what the worlds can show."""

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
        Path | None, typer.Option(help="A dataset of the suite, some of whose questions are shown.")
    ] = None,
    source: Annotated[str, typer.Option(help="With --data: what its graphs are, in words.")] = "",
    seed: Annotated[int, typer.Option(help="Of the sampled scenes.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make contact sheets: shapes by colour, material, size and texture, their parts, sampled scenes.

    Suites over images that are not rendered have a page instead: questions drawn at random from a dataset.
    """
    from ..run.gallery import make_gallery

    worlds = [world.strip() for world in of.split(",") if world.strip()]
    if not worlds:
        raise UserError("--of names no world; omit it for all of them")
    sheets = make_gallery(out, seed, () if worlds == ["all"] else worlds, data, source)
    if as_json:
        print_json({"sheets": [str(s) for s in sheets]})
    else:
        print(*sheets, sep="\n")
