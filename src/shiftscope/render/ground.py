"""The ground: an endless grey plane, lit by the lamps, darkened by shadows and by what stands on it.

All of it is shaded, also where objects hide it, because metal reflects it from there. Light on a plane
changes slowly, so all this happens at half the image's resolution.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import fast

Floats = npt.NDArray[np.float32]


@fast
def lay(camera: npt.NDArray[np.float64], x: Floats, y: Floats, depth: Floats) -> None:
    """Where each pixel's ray meets the ground, [height, width] each; the camera must look down."""
    height, width = depth.shape
    focal = np.float32(camera[12])
    r0, r1 = np.float32(camera[3]), np.float32(camera[4])
    for row in range(height):
        v = np.float32(camera[14] - row - 0.5) / focal
        dx = np.float32(camera[6]) * v - np.float32(camera[9])
        dy = np.float32(camera[7]) * v - np.float32(camera[10])
        dz = np.float32(camera[8]) * v - np.float32(camera[11])  # the right vector is level
        far = np.float32(camera[2]) / max(-dz, np.float32(1e-3))
        for column in range(width):
            u = np.float32(column + 0.5 - camera[13]) / focal
            x[row, column] = np.float32(camera[0]) + far * (dx + r0 * u)
            y[row, column] = np.float32(camera[1]) + far * (dy + r1 * u)
            depth[row, column] = far


@fast
def ambient(sky: Floats, light: Floats) -> None:
    """Begin with the even light from above: light is [rgb, height, width]."""
    for k in range(3):
        light[k] = sky[k]


@fast
def darken(
    x: Floats,
    y: Floats,
    lump: Floats,  # see stand_in.py
    window: npt.NDArray[np.int64],
    light: Floats,
) -> None:
    """Take the light from above that a ball hides; a part returns in the ball's colour."""
    one = np.float32(1.0)
    cx, cy, cz = lump[0], lump[1], lump[2]
    strength = lump[3] * cz
    hidden = np.empty(x.shape[1], np.float32)
    for row in range(window[1], window[3]):
        for column in range(window[0], window[2]):
            dx, dy = x[row, column] - cx, y[row, column] - cy
            square = dx * dx + dy * dy + cz * cz
            hidden[column] = min(strength / (square * np.sqrt(square)), one)
        for k in range(3):
            loss = one - np.float32(0.45) * lump[4 + k]
            for column in range(window[0], window[2]):
                light[k, row, column] *= one - hidden[column] * loss


@fast
def shine(x: Floats, y: Floats, lamp: Floats, open_: Floats, light: Floats) -> None:
    """Add a lamp's light where it is not hidden."""
    lx, ly, lz = lamp[0], lamp[1], lamp[2]
    ax, ay, az = lamp[7], lamp[8], lamp[9]
    height, width = x.shape
    fall = np.empty(width, np.float32)
    for row in range(height):
        for column in range(width):
            dx, dy = lx - x[row, column], ly - y[row, column]
            square = dx * dx + dy * dy + lz * lz
            facing = max(dx * ax + dy * ay + lz * az, np.float32(0.0))
            fall[column] = lz * facing / (square * square) * open_[row, column]
        for k in range(3):
            power = lamp[3 + k]
            for column in range(width):
                light[k, row, column] += power * fall[column]


@fast
def enlarge(coarse: Floats, factor: float, first: int, out: Floats) -> None:
    """Fill the rows from `first` on: [rgb, ⌈height/2⌉, ⌈width/2⌉] at twice the resolution, times a factor."""
    height, width = out.shape[1], out.shape[2]
    rows, columns = coarse.shape[1], coarse.shape[2]
    near, far = np.float32(0.75 * factor), np.float32(0.25 * factor)
    line = np.empty(columns + 2, np.float32)
    for k in range(3):
        for y in range(height):
            own = (first + y) >> 1
            other = min(max(own + (1 if (first + y) & 1 else -1), 0), rows - 1)
            for x in range(columns):
                line[x + 1] = near * coarse[k, own, x] + far * coarse[k, other, x]
            line[0], line[columns + 1] = line[1], line[columns]
            for x in range(width // 2):
                out[k, y, 2 * x] = np.float32(0.75) * line[x + 1] + np.float32(0.25) * line[x]
                out[k, y, 2 * x + 1] = np.float32(0.75) * line[x + 1] + np.float32(0.25) * line[x + 2]
            if width & 1:
                out[k, y, width - 1] = line[columns]
