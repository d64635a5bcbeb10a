"""What an image shows of each object: its mask, its box, its visible pixels. Decides what is kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import exact
from ..errors import UserError
from .camera import Camera
from .stage import Stage
from .visibility import CENTRE, Buffer, draw, nearest_surface, snap

MOST = 254  # objects in an image


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One image's worth, counted at pixel centres; boxes of hidden objects are all zero."""

    mask: npt.NDArray[np.uint8]  # [height, width], object index + 1, 0 for the ground
    boxes: npt.NDArray[np.int32]  # [object, left top width height]
    visible: npt.NDArray[np.int32]  # [object], pixels


def see(stage: Stage, camera: Camera, size: tuple[int, int]) -> Seen:
    """Masks, boxes and visible pixels, the same on every machine."""
    if len(stage.bodies) > MOST:
        raise UserError(
            f"{len(stage.bodies)} objects do not fit a mask of bytes; an image holds at most {MOST}"
        )
    buffer = buffer_of(stage, camera, size, CENTRE)
    mask = np.empty((size[1], size[0]), np.uint8)
    nearest_surface(buffer, stage.surface_of, stage.body_of, mask)
    boxes = np.zeros((len(stage.bodies), 4), np.int32)
    visible = np.zeros(len(stage.bodies), np.int32)
    _measure(mask, boxes, visible)
    return Seen(mask, boxes, visible)


def buffer_of(
    stage: Stage,
    camera: Camera,
    size: tuple[int, int],
    samples: npt.NDArray[np.int64],
    out: Buffer | None = None,
) -> Buffer:
    """The visibility buffer of an image; `out` is cleared and reused."""
    shape = (size[1] * len(samples), size[0])
    buffer = np.zeros(shape, np.int64) if out is None else out
    if out is not None:
        out.fill(0)
    x, y, nearness = np.empty((3, len(stage.vertices)), np.int64)
    snap(stage.vertices, camera.packed(size), x, y, nearness)
    draw(x, y, nearness, stage.triangles, samples, buffer)
    return buffer


@exact
def _measure(
    mask: npt.NDArray[np.uint8], boxes: npt.NDArray[np.int32], visible: npt.NDArray[np.int32]
) -> None:
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            if mask[y, x] == 0:
                continue
            i = mask[y, x] - 1
            if visible[i] == 0:
                boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3] = x, y, x, y
            boxes[i, 0] = min(boxes[i, 0], x)
            boxes[i, 2] = max(boxes[i, 2], x)
            boxes[i, 3] = y
            visible[i] += 1
    for i in range(len(visible)):
        if visible[i] > 0:
            boxes[i, 2] += 1 - boxes[i, 0]
            boxes[i, 3] += 1 - boxes[i, 1]
