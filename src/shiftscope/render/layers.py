"""Depth and normals read off a visibility buffer with one sample a pixel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import exact
from ..geometry.visibility import NEARNESS, Buffer


@exact
def depths(buffer: Buffer, camera: npt.NDArray[np.float64], out: npt.NDArray[np.float32]) -> None:
    """Depth along the view axis; where no object is, that of the ground, and infinity above the horizon."""
    for y in range(out.shape[0]):
        fall = camera[11] - camera[8] * (camera[14] - y - 0.5) / camera[12]
        ground = camera[2] / fall if fall > 0 else np.inf
        for x in range(out.shape[1]):
            near = buffer[y, x] >> 32
            out[y, x] = NEARNESS / near if near > 0 else ground


@exact
def ground_normals(out: npt.NDArray[np.float32]) -> None:
    """Straight up everywhere."""
    out[:] = 0
    out[:, :, 2] = 1


@exact
def put_normals(
    count: int,
    pixel: npt.NDArray[np.int32],
    points: npt.NDArray[np.float32],  # [position normal, point]
    out: npt.NDArray[np.float32],  # [pixel, 3]
) -> None:
    """The normals of the points, each at its pixel."""
    for i in range(count):
        for k in range(3):
            out[pixel[i], k] = points[3 + k, i]
