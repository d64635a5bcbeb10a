"""Super-CLEVR: sheets of all 21 vehicles, of their parts, and of sampled scenes.

Each vehicle is shown in each colour at each size, one of them rubber and the other metal; in each material at
each size, from two sides; and in each texture on each material at each size. Not shown are all products of
these: no texture is seen in every colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...geometry.shapes.clevr import COLORS, MATERIALS
from ...geometry.shapes.superclevr import TEXTURES
from ...render.raster import render
from ...schemas.superclevr import SHAPE
from ...world import superclevr as world
from .parts import parts
from .portrait import BACK, CATEGORY, FRONT, as_in_images, portrait, standing
from .sheet import Picture, grid

CELLS = {"large": (160, 122), "small": (104, 122)}
SCENES = 6


def sheets(seed: int) -> dict[str, Any]:
    """The sheets by their file names."""
    return {
        "superclevr_colors.png": colors(SHAPE.values),
        "superclevr_materials.png": materials(SHAPE.values),
        "superclevr_textures.png": textures(SHAPE.values),
        "superclevr_parts.png": parts(SHAPE.values),
        "superclevr_scenes.png": scenes(seed),
    }


def colors(shapes: Sequence[str]) -> Any:
    """Rows: models; columns: colours, large and small, the one in rubber and the other in metal by turns."""
    cells = [
        _cell(shape, size, color, MATERIALS[(r + c + k) % 2])
        for r, shape in enumerate(shapes)
        for k, size in enumerate(("large", "small"))
        for c, color in enumerate(COLORS)
    ]
    heads = [f"{color}\n{size}" for size in ("large", "small") for color in COLORS]
    return grid(cells, len(heads), _names(shapes), heads)


def materials(shapes: Sequence[str]) -> Any:
    """Rows: models, each of another colour; columns: material and size, from the front and from behind."""
    columns = [
        (size, material, turn)
        for size in ("large", "small")
        for material in MATERIALS
        for turn in (FRONT, BACK)
    ]
    cells = [
        _cell(shape, size, _color(r), material, turn=turn)
        for r, shape in enumerate(shapes)
        for size, material, turn in columns
    ]
    heads = [f"{size} {material}\n{'front' if turn == FRONT else 'back'}" for size, material, turn in columns]
    return grid(cells, len(columns), _names(shapes), heads)


def textures(shapes: Sequence[str]) -> Any:
    """Rows: models, each of two other colours; columns: textures on both materials at both sizes."""
    columns = [(z, m, t) for z in ("large", "small") for m in MATERIALS for t in TEXTURES]
    cells = [
        _cell(shape, size, _color(r + 3 * (material == "metal")), material, texture)
        for r, shape in enumerate(shapes)
        for size, material, texture in columns
    ]
    heads = [f"{'plain' if t == 'none' else t}\n{z} {m}" for z, m, t in columns]
    return grid(cells, len(columns), _names(shapes), heads)


def scenes(seed: int) -> Any:
    """Sampled scenes, each as easy, mid and hard."""
    drawn = [
        world.scene(seed, "gallery", i, world.Rules(visual=v)) for i in range(SCENES) for v in world.VISUAL
    ]
    images = render(drawn, layers=("rgb",))
    assert images.rgb is not None
    heads = ("easy\nwhole vehicles", "mid\nparts of their own", "hard\ntextures too")
    return grid(list(images.rgb), len(world.VISUAL), [], heads)


def _cell(
    shape: str, size: str, color: str, material: str, texture: str = "", turn: float = FRONT
) -> Picture:
    shown = standing(shape, size, color, material, texture, turn)
    return portrait(shown, as_in_images(shown, CELLS[size]), CELLS[size])


def _color(row: int) -> str:
    return tuple(COLORS)[row % len(COLORS)]


def _names(shapes: Sequence[str]) -> list[str]:
    return [f"{shape}\n{CATEGORY[shape]}" for shape in shapes]
