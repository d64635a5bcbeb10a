"""Shadows: the visibility pass once more, seen from a lamp and laid on the ground.

Every triangle is thrown from the lamp onto the ground plane and drawn where the camera would see it there. A
cell then holds what first stops the light on its way to that point of the ground, and no other map is needed:
the ground reads its own cell, and an object's point asks for the cell that its ray from the lamp ends in.
Maps have half the image's resolution: shadows are soft.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import exact, fast
from ..geometry.stage import Stage
from ..geometry.visibility import CENTRE, GUARD, NEAR, NEARNESS, SNAP, Buffer, draw

SIGMAS = np.array([0.7, 1.6, 3.2, 6.5], np.float32)  # how far each level of blur spreads, in cells
LEVELS = len(SIGMAS) + 1  # the first is not blurred
Floats = npt.NDArray[np.float32]


def margin_of(size: tuple[int, int]) -> int:
    """How many cells a map reaches beyond the image, for light that passes over its rim."""
    return size[0] // 10


def cast(
    stage: Stage, lamp: npt.NDArray[np.float32], camera: npt.NDArray[np.float64], margin: int, out: Buffer
) -> None:
    """Draw the shadow map of a lamp into `out`, which reaches `margin` cells beyond the camera's image."""
    out.fill(0)
    x, y, nearness = np.empty((3, len(stage.vertices)), np.int64)
    _throw(stage.vertices, lamp, camera, margin, x, y, nearness)
    draw(x, y, nearness, stage.triangles, CENTRE, out)


@exact
def _throw(
    vertices: npt.NDArray[np.float64],
    lamp: npt.NDArray[np.float32],
    camera: npt.NDArray[np.float64],
    margin: int,
    x: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    nearness: npt.NDArray[np.int64],
) -> None:
    """Vertices onto the ground and into the image; nearness grows toward the lamp along each ray."""
    lx, ly, lz = np.float64(lamp[0]), np.float64(lamp[1]), np.float64(lamp[2])
    for i in range(len(vertices)):
        nearness[i] = 0
        left = 1.0 - vertices[i, 2] / lz  # of the lamp's height, at the vertex
        if left < 0.05:
            continue
        dx = lx + (vertices[i, 0] - lx) / left - camera[0]
        dy = ly + (vertices[i, 1] - ly) / left - camera[1]
        dz = -camera[2]
        depth = -(dx * camera[9] + dy * camera[10] + dz * camera[11])
        if depth * left < NEAR:
            continue
        scale = camera[12] / depth
        px = camera[13] + margin + scale * (dx * camera[3] + dy * camera[4] + dz * camera[5])
        py = camera[14] + margin - scale * (dx * camera[6] + dy * camera[7] + dz * camera[8])
        if abs(px) * SNAP < GUARD and abs(py) * SNAP < GUARD:
            x[i] = np.int64(np.floor(px * SNAP + 0.5))
            y[i] = np.int64(np.floor(py * SNAP + 0.5))
            nearness[i] = np.int64(NEARNESS * NEAR / (depth * left))


def soften(
    shadow: Buffer, half: float, focal: float, depth: Floats, margin: int, work: Floats, out: Floats
) -> None:
    """The share of a lamp each ground cell sees, the softer the higher its blocker stands above it.

    `depth` is that of the ground at half the image's resolution, `focal` in its pixels; `work` is
    [2·LEVELS + 1, height, width] and begins with the covered share, level by level.
    """
    _read(shadow, half, focal, depth, margin, work[0], work[LEVELS])
    spare = work[2 * LEVELS]
    for first in (0, LEVELS):
        for level in range(1, LEVELS if first == 0 else LEVELS - 1):
            step = 1 << (level - 1)
            _spread(work[first + level - 1], step, max(step // 2, 1), spare, work[first + level])
    _choose(work, SIGMAS, out)


@fast
def _read(
    shadow: Buffer, half: float, focal: float, depth: Floats, margin: int, covered: Floats, reach: Floats
) -> None:
    """Which cells are hidden from the lamp, and there the penumbra's standard deviation in cells."""
    unit = np.float32(1.0 / NEARNESS)
    width = np.float32(2.0 * half * focal * 0.29)  # a box of width w has standard deviation 0.29 w
    zero, one = np.float32(0.0), np.float32(1.0)
    for y in range(depth.shape[0]):
        cells = shadow[y + margin, margin:]
        for x in range(depth.shape[1]):
            near = np.float32(cells[x] >> 32)
            blocked = max(
                near * unit * depth[y, x] - one, zero
            )  # blocker's height over what is left to the lamp
            covered[y, x] = one if near > zero else zero
            reach[y, x] = blocked * width / depth[y, x]


@fast
def _spread(source: Floats, across: int, down: int, spare: Floats, out: Floats) -> None:
    """Blur by (1, 2, 1) with the given spacing, along rows and then along columns; the rim goes on outside.

    A row may be shorter than the spacing.
    """
    height, width = source.shape
    quarter, half = np.float32(0.25), np.float32(0.5)
    for y in range(height):
        row, blurred = source[y], spare[y]
        for x in range(min(across, width)):
            z = width - 1 - x
            blurred[x] = half * row[x] + quarter * (row[0] + row[min(x + across, width - 1)])
            blurred[z] = half * row[z] + quarter * (row[max(z - across, 0)] + row[width - 1])
        if width <= 2 * across:
            continue
        # shifted views let the compiler see that no index is negative
        left, middle, right = row[: width - 2 * across], row[across : width - across], row[2 * across :]
        inner = blurred[across : width - across]
        for x in range(len(inner)):
            inner[x] = half * middle[x] + quarter * (left[x] + right[x])
    for y in range(height):
        above, here, below = spare[max(y - down, 0)], spare[y], spare[min(y + down, height - 1)]
        blurred = out[y]
        for x in range(width):
            blurred[x] = half * here[x] + quarter * (above[x] + below[x])


@fast
def _choose(work: Floats, sigmas: Floats, out: Floats) -> None:
    """Blend the levels whose blur fits the penumbra."""
    levels = len(work) // 2
    tiny, one, zero = np.float32(1e-4), np.float32(1.0), np.float32(0.0)
    width = out.shape[1]
    wanted = np.empty(width, np.float32)
    for y in range(out.shape[0]):
        for x in range(width):
            wanted[x] = work[2 * levels - 2, y, x] / (work[levels - 2, y, x] + tiny)
            out[y, x] = work[1, y, x]
        for k in range(1, levels - 1):
            low, scale = sigmas[k - 1], one / (sigmas[k] - sigmas[k - 1])
            for x in range(width):
                part = min(max((wanted[x] - low) * scale, zero), one)
                out[y, x] += part * (work[k + 1, y, x] - out[y, x])
        for x in range(width):
            out[y, x] = one - out[y, x]
