"""CLEVR: each shape in each colour, material and size, all of them; and a page of sampled scenes."""

from typing import Any

from ...geometry.camera import BASE_POSITION, Camera
from ...geometry.shapes.clevr import SIZES
from ...render.contact_sheet import Picture, draw_grid
from ...render.raster import render
from ...scene import Object, Scene
from ...schemas.clevr import SCHEMA
from ...world import clevr as world

CELL = (130, 130)  # of the sheet of solids, cut from a rendering
SCENES = 12


def build_sheets(seed: int) -> dict[str, Any]:
    """The sheets by their file names."""
    return {"clevr_solids.png": draw_solids(), "clevr_scenes.png": draw_scenes(seed)}


def draw_solids() -> Any:
    """Rows: shape, material and size; columns: colour."""
    attributes = {a.name: a.values for a in SCHEMA.attributes}
    rows = [(s, m, z) for s in attributes["shape"] for m in attributes["material"] for z in attributes["size"]]
    things = [_place_alone(z, c, m, s) for s, m, z in rows for c in attributes["color"]]
    images = render(things, layers=("rgb",))
    assert images.rgb is not None
    cells: list[Picture] = []
    for picture, ((left, top, width, height),) in zip(images.rgb, images.boxes, strict=True):
        left, top = left + width // 2 - CELL[0] // 2, top + height // 2 - CELL[1] // 2
        cells.append(picture[top : top + CELL[1], left : left + CELL[0]])
    names = [f"{z} {m} {s}" for s, m, z in rows]
    return draw_grid(cells, len(attributes["color"]), names, attributes["color"])


def draw_scenes(seed: int) -> Any:
    """Sampled scenes, three in a row."""
    images = render([world.sample_scene(seed, "gallery", i) for i in range(SCENES)], layers=("rgb",))
    assert images.rgb is not None
    return draw_grid(list(images.rgb), 3, [], ())


def _place_alone(size: str, color: str, material: str, shape: str) -> Scene:
    names = (a.name for a in SCHEMA.attributes)
    attributes = tuple(zip(names, (size, color, material, shape), strict=True))
    thing = Object(attributes, position=(0.0, 0.0, SIZES[size]), rotation=20.0)
    notes = (("camera", BASE_POSITION),)
    return Scene((thing,), directions=Camera(BASE_POSITION).directions(), schema=SCHEMA, notes=notes)
