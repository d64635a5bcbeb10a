"""Portrait: one vehicle alone, in the middle of a small picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...geometry.body import Body
from ...geometry.camera import BASE_POSITION, FOCAL, SIZE, Camera
from ...geometry.shapes.superclevr import SIZES, body
from ...geometry.stage import stage_of
from ...geometry.vehicles.stored import vehicle
from ...render.lamps import LAMPS, SUN
from ...render.paint import Canvas, paint
from ...scene import Object
from ...schemas.superclevr import CATEGORIES
from .sheet import Picture

FRONT, BACK = 176.0, -4.0  # turns that show the front and the left side, the back and the right side
CATEGORY = {model: category for category, models in CATEGORIES for model in models}
FACING = {"bicycle": 90.0}  # unturned, bicycles face +x and all others +y


def standing(
    shape: str, size: str, color: str, material: str, texture: str = "", turn: float = FRONT
) -> Body:
    """A vehicle on the ground at the origin."""
    bottom = float(vehicle(shape).vertices[:, 2].min())
    attributes = (("size", size), ("color", color), ("material", material), ("shape", shape))
    thing = Object(
        attributes,
        position=(0.0, 0.0, -bottom * SIZES[size]),
        rotation=turn + FACING.get(CATEGORY[shape], 0.0),
        texture=texture,
    )
    return body(thing)


def as_in_images(shown: Body, size: tuple[int, int]) -> Camera:
    """The usual camera, turned to the body: a pixel shows as much of it as in an image of the usual size."""
    heights = shown.mesh.vertices[:, 2]
    middle = shown.position[2] + shown.scale * float(heights.min() + heights.max()) / 2
    return Camera(BASE_POSITION, (0.0, 0.0, middle), FOCAL * SIZE[0] / size[0])


def filling(shown: Body, size: tuple[int, int], share: float = 0.9) -> Camera:
    """The usual camera, turned and zoomed so that the body fills that share of the picture."""
    points = stage_of((shown,)).vertices
    camera = Camera(BASE_POSITION, (0.0, 0.0, float(points[:, 2].mean())))
    for _ in range(3):  # turning changes what is seen a little
        seen = camera.project(points, size)[:, :2]
        low, high = seen.min(0), seen.max(0)
        wide, tall = (high - low).tolist()
        focal = camera.focal * share * min(size[0] / wide, size[1] / tall)
        right, up, _ = camera.frame()
        x, y = ((low + high) / 2 - np.array(size) / 2).tolist()
        unit = float(np.linalg.norm(camera.position)) / (camera.focal * size[0])
        tx, ty, tz = (t + unit * (x * r - y * u) for t, r, u in zip(camera.target, right, up, strict=True))
        camera = replace(camera, target=(tx, ty, tz), focal=focal)
    return camera


def portrait(shown: Body, camera: Camera, size: tuple[int, int]) -> Picture:
    """The body as the camera sees it."""
    out = np.empty((size[1], size[0], 3), np.uint8)
    paint(stage_of((shown,)), camera, (*LAMPS, SUN), Canvas.of(size), out)
    return out
