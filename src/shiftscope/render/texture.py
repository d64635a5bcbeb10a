"""Textures: dots, squares and stripes painted in the body's own frame, so that they turn and move with it.

A pattern is a lattice in space. Its step grows with the body, but less than the body does: at 480×320, in the
middle of the ground, patterns repeat after 5 pixels or more on small bodies too. Dots and squares lie in the
plane that a surface faces most, stripes run slanted through all three, so that each shows on every side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import fast
from ..geometry.angle import unit_circle
from ..geometry.blocks import girth
from ..geometry.body import Body
from ..geometry.stage import Stage
from ..scene import Vector
from .color import linear

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

PATTERNS = {"none": 0.0, "dotted": 1.0, "checkered": 2.0, "striped": 3.0}
BRIGHT = 0.3  # luminance from which on the ink is darker than the colour, not lighter
LIGHT = 0.7  # the strongest channel of a lighter ink, or, for a very dark colour,
MOST = 7.0  # at most this many times the colour's own
WHITE = 0.35  # how far the other channels are drawn toward the strongest
DARKER = 0.2  # what a bright colour is multiplied by
DOT = 0.3  # a dot's radius, in steps
SQUARE = 0.6  # a square's side
STRIPE = 0.45  # a stripe's width
MEANS = np.array([0.0, 0.28, 0.5, STRIPE], np.float32)  # how much of a surface each pattern inks
STEP = (0.15, 0.035)  # the lattice's step in world units: the first, and this much per unit of body scale
SLENDER = (0.5, 25.0)  # what is made of tubes and sheets has a finer one: a share, and this much per girth


def packed_looks(stage: Stage) -> Floats:
    """[surface, rgb metal pattern ink(3)]; colours are linear."""
    rows = {}
    for look in set(stage.looks):
        color = linear(look.color)
        rows[look] = (*color, float(look.material == "metal"), PATTERNS[look.texture], *ink(color))
    return np.array([rows[look] for look in stage.looks], np.float32).reshape(-1, 8)


def ink(color: Vector) -> Vector:
    """What a pattern is painted with: the same hue made lighter and paler, or darker where it is bright."""
    r, g, b = color
    if 0.2126 * r + 0.7152 * g + 0.0722 * b >= BRIGHT:
        return (DARKER * r, DARKER * g, DARKER * b)
    most = max(color)
    light = min(LIGHT, MOST * most)
    r, g, b = (light * (WHITE + (1.0 - WHITE) * c / most) if most else 0.0 for c in color)
    return (r, g, b)


def frames(bodies: tuple[Body, ...]) -> Floats:
    """[body, position(3) cosine sine, steps in a world unit]: from the world to the body's lattice."""
    rows = []
    for body in bodies:
        finer = min(SLENDER[0] + SLENDER[1] * girth(body.mesh), 1.0)
        step = (STEP[0] + STEP[1] * body.scale) * finer
        rows.append((*body.position, *unit_circle(body.rotation), 1.0 / step))
    return np.array(rows, np.float32).reshape(-1, 6)


@fast
def tint(
    count: int,
    points: Floats,  # [position normal, point]
    depth: Floats,  # [point]
    surface: Ints,
    body: Ints,
    looks: Floats,
    frames: Floats,
    means: Floats,
    camera: npt.NDArray[np.float64],
    out: Floats,  # [rgb, point]
) -> None:
    """The colour of each point, its surface's pattern smoothed over a pixel's width."""
    zero, half, one, two = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
    ex, ey, ez = np.float32(camera[0]), np.float32(camera[1]), np.float32(camera[2])
    pixel = np.float32(1.0 / camera[12])
    for i in range(count):
        s = surface[i]
        out[0, i], out[1, i], out[2, i] = looks[s, 0], looks[s, 1], looks[s, 2]
        pattern = looks[s, 4]
        if pattern == zero:
            continue
        f = frames[body[i]]
        cosine, sine, steps = f[3], f[4], f[5]
        dx, dy, dz = points[0, i] - f[0], points[1, i] - f[1], points[2, i] - f[2]
        x, y, z = (dx * cosine + dy * sine) * steps, (dy * cosine - dx * sine) * steps, dz * steps
        vx, vy, vz = ex - points[0, i], ey - points[1, i], ez - points[2, i]
        nx, ny, nz = points[3, i], points[4, i], points[5, i]
        facing = abs(vx * nx + vy * ny + vz * nz) / np.sqrt(vx * vx + vy * vy + vz * vz)
        width = depth[i] * pixel * steps / np.sqrt(max(facing, np.float32(0.1)))
        if pattern == np.float32(3.0):
            t = (x + y + z) * np.float32(0.5773502691896258)
            edge = np.float32(STRIPE / 2) - abs(t - np.floor(t) - half)
            share = min(max(half + edge / width, zero), one)
        else:
            mx, my, mz = abs(nx * cosine + ny * sine), abs(ny * cosine - nx * sine), abs(nz)
            if mx >= my and mx >= mz:
                u, v = y, z
            elif my >= mz:
                u, v = x, z
            else:
                u, v = x, y
            if pattern == one:
                u, v = u - np.floor(u) - half, v - np.floor(v) - half
                share = min(max(half + (np.float32(DOT) - np.sqrt(u * u + v * v)) / width, zero), one)
            else:
                scale = np.float32(1 / (2 * SQUARE))
                u, v = u * scale, v * scale
                rise = np.float32(4 * SQUARE) / width
                u = min(max(rise * (np.float32(0.25) - abs(u - np.floor(u) - half)), -one), one)
                v = min(max(rise * (np.float32(0.25) - abs(v - np.floor(v) - half)), -one), one)
                share = half + half * u * v
        fade = min(max(two * width - one, zero), one)
        share += fade * (means[np.int32(pattern)] - share)
        for k in range(3):
            out[k, i] += share * (looks[s, 5 + k] - out[k, i])
