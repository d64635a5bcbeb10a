"""Render any CLEVR scene file, official ones included."""

from pathlib import Path
from typing import Annotated

import typer

from ._console import counting_bar, print_json


def command(
    scenes: Annotated[Path, typer.Option(help="A scene file, or a folder of them.")],
    out: Annotated[Path, typer.Option(help="Folder for the images: ID.png, ID_mask.png, ID_depth.npy.")],
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "480x320",
    layers: Annotated[
        str, typer.Option(help="Any of rgb, mask, parts, listed, depth and normal, separated by commas.")
    ] = "rgb",
    device: Annotated[str, typer.Option(help="cpu, or cuda to render batches on a GPU.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Render scenes to images; a mask holds each pixel's object number plus one, and 0 for the ground.

    The layer of parts numbers all the parts of the object there, from 1; ID_parts.json names them, with boxes and
    visible pixels. The layer of listed parts numbers those that the scene file lists, over the whole scene.
    """
    from ..formats import read_scenes
    from ..geometry.camera import read_size
    from ..run.render import render_files

    found = read_scenes(scenes)
    wanted = [layer.strip() for layer in layers.split(",") if layer.strip()]
    with counting_bar("rendering", len(found)) as progress:
        made = render_files(found, out, read_size(size), wanted, progress, device)
    if as_json:
        print_json({"folder": str(out), "scenes": len(found), "rendered": made, "layers": wanted})
    else:
        print(f"rendered {made:,} of {len(found):,} scenes to {out}")
