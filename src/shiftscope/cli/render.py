"""Render any CLEVR scene file, official ones included, or the scenes of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import warn
from ._console import counting_bar, print_json

if TYPE_CHECKING:
    from ..run.render import RenderReport


def command(
    scenes: Annotated[Path, typer.Option(help="A scene file, a folder of them, or a dataset's folder.")],
    out: Annotated[Path, typer.Option(help="Folder for the images: ID.png, ID_mask.png, ID_depth.npy.")],
    split: Annotated[
        list[str] | None, typer.Option(help="Of a dataset, only the scenes of this split; may be repeated.")
    ] = None,
    size: Annotated[
        str, typer.Option(help="Width and height in pixels.", show_default="as the scenes' own images, else 480x320")
    ] = "",
    layers: Annotated[
        str, typer.Option(help="Any of rgb, mask, parts, listed, depth and normal, separated by commas.")
    ] = "rgb",
    device: Annotated[str, typer.Option(help="cpu, or cuda to render batches on a GPU.")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Render scenes to images; a mask holds each pixel's object number plus one, and 0 for the ground.

    The camera is the one that a scene notes, else it is fitted to its pixel_coords: of the usual image sizes
    (480x320, 320x240, 640x480, 224x224), --size and any other, the one that they fit is taken and named.

    The layer of parts numbers all the parts of the object there, from 1; ID_parts.json names them, with boxes and
    visible pixels. The layer of listed parts numbers those that the scene file lists, over the whole scene.
    """
    from ..geometry.camera import read_size
    from ..run.render import render_files
    from ..run.scene_source import read_given_scenes

    found = read_given_scenes(scenes, split or ())
    wanted = [layer.strip() for layer in layers.split(",") if layer.strip()]
    with counting_bar("rendering", len(found)) as progress:
        made = render_files(found, out, read_size(size) if size else None, wanted, progress, device)
    if made.loose:
        off = f"up to {made.pixels_off:.1f} pixels"
        warn(f"pixel_coords fit no camera well: the pictures of {made.loose:,} scenes differ from them by {off}")
    if as_json:
        print_json({"folder": str(out), "scenes": len(found), "layers": wanted} | made.to_json())
        return
    width, height = made.size
    print(f"rendered {made.rendered:,} of {len(found):,} scenes to {out}, {width}×{height}")
    for line in describe_cameras(made):
        print(line)


def describe_cameras(made: RenderReport) -> Iterator[str]:
    for size, count in made.count_sizes().items():
        yield f"camera fitted to pixel_coords of {size} images (scenes: {count:,})"
    if made.default:
        yield f"CLEVR's own camera, for want of pixel_coords (scenes: {made.default:,})"
