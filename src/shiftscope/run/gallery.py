"""Contact sheets: every solid in every colour, material and size, and a page of sampled scenes."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.camera import BASE_POSITION, Camera
from ..geometry.shapes.clevr import SIZES
from ..render.raster import render
from ..scene import Object, Scene
from ..schemas.clevr import SCHEMA
from ..whole import write_whole
from ..world import clevr as world

CELL = (130, 130)  # of the sheet of solids, cut from a rendering
SCENES = 12
Picture = NDArray[np.uint8]


def gallery(out: Path, seed: int = 0) -> list[Path]:
    """Write the sheets into `out`: clevr_solids.png and clevr_scenes.png."""
    sheets = {"clevr_solids.png": solids(), "clevr_scenes.png": scenes(seed)}
    for name, sheet in sheets.items():
        buffer = BytesIO()
        sheet.save(buffer, "PNG", optimize=True)
        write_whole(out / name, buffer.getvalue())
    return [out / name for name in sheets]


def solids() -> Any:
    """Rows: shape, material and size; columns: colour."""
    attributes = {a.name: a.values for a in SCHEMA.attributes}
    rows = [
        (s, m, z) for s in attributes["shape"] for m in attributes["material"] for z in attributes["size"]
    ]
    things = [_alone(z, c, m, s) for s, m, z in rows for c in attributes["color"]]
    images = render(things, layers=("rgb",))
    assert images.rgb is not None
    cells = [_cut(p, b[0].tolist()) for p, b in zip(images.rgb, images.boxes, strict=True)]
    names = [f"{z} {m} {s}" for s, m, z in rows]
    return _sheet(cells, len(attributes["color"]), names, attributes["color"])


def scenes(seed: int) -> Any:
    """Sampled scenes, three in a row."""
    images = render([world.scene(seed, "gallery", i) for i in range(SCENES)], layers=("rgb",))
    assert images.rgb is not None
    return _sheet(list(images.rgb), 3, [], ())


def _alone(size: str, color: str, material: str, shape: str) -> Scene:
    values = (size, color, material, shape)
    thing = Object(
        tuple((a.name, v) for a, v in zip(SCHEMA.attributes, values, strict=True)),
        position=(0.0, 0.0, SIZES[size]),
        rotation=20.0,
    )
    notes = (("camera", BASE_POSITION),)
    return Scene((thing,), directions=Camera(BASE_POSITION).directions(), schema=SCHEMA, notes=notes)


def _cut(picture: Picture, box: list[int]) -> Picture:
    """The part of the picture around a box."""
    left = box[0] + box[2] // 2 - CELL[0] // 2
    top = box[1] + box[3] // 2 - CELL[1] // 2
    return picture[top : top + CELL[1], left : left + CELL[0]]


def _sheet(cells: Sequence[Picture], columns: int, rows: Sequence[str], heads: Sequence[str]) -> Any:
    """Pictures in a grid, rows named at the left and columns at the top."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = cells[0].shape[:2]
    margin, top, gap = (180 if rows else 0), (26 if heads else 0), 4
    count = -(-len(cells) // columns)
    size = (margin + columns * (width + gap) - gap, top + count * (height + gap) - gap)
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(15)
    for k, head in enumerate(heads):
        draw.text((margin + k * (width + gap) + width / 2, top / 2), head, "black", font, anchor="mm")
    for r, name in enumerate(rows):
        draw.text((margin - 10, top + r * (height + gap) + height / 2), name, "black", font, anchor="rm")
    for i, cell in enumerate(cells):
        row, column = divmod(i, columns)
        sheet.paste(Image.fromarray(cell), (margin + column * (width + gap), top + row * (height + gap)))
    return sheet
