"""Stand-ins: for each body a few balls, upright cans or turned boxes, simple enough to meet rays with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import pi, sqrt

import numpy as np
import numpy.typing as npt

from ..geometry.angle import unit_circle
from ..geometry.blocks import Blocks, blocks_of
from ..geometry.body import Body
from ..geometry.mesh import Mesh
from ..scene import Vector
from .color import linear

KINDS = {"sphere": 0.0, "cylinder": 1.0, "cube": 2.0}  # solids that stand in for themselves
BOX, MANY = 2.0, 3.0  # one box, and a body told by several blocks
SHOWN = 0.25  # what is less solid than this, metal does not mirror
LONG = 1.6  # a box this many times longer than wide darkens the ground as several

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class StandIns:
    """As kernels take them; colours are linear."""

    bodies: Floats  # [body, kind centre(3) half-sides(3) cosine sine color(3) ball]; `ball`: the squared
    # radius of the ball around it; the third half-side is also that of a ball that hides as much sky
    blocks: Floats  # [block, the same 13 numbers, how solid it is], body after body: what metal mirrors
    first: npt.NDArray[np.int64]  # [body + 1], where the blocks of a body begin
    lumps: Floats  # [lump, centre(3) squared-radius color(3) reach]: what darkens the ground


def stand_ins(bodies: tuple[Body, ...]) -> StandIns:
    """Solids stand in for themselves, all else for itself by its blocks."""
    rows: list[tuple[float, ...]] = []
    blocks: list[tuple[float, ...]] = []
    lumps: list[tuple[float, ...]] = []
    first = [0]
    for body in bodies:
        if body.mesh.name in KINDS:
            row = _solid(body)
            own = [(*row, 1.0)]
            square = float(np.float32(row[6])) ** 2
            lumps.append((*row[1:4], square, *row[9:12], 5.0 * max(row[4:7])))
        else:
            row, own, heaps = _by_blocks(body, blocks_of(body.mesh))
            lumps += heaps
        rows.append(row)
        blocks += own
        first.append(len(blocks))
    return StandIns(
        np.array(rows, np.float32).reshape(-1, 13),
        np.array(blocks, np.float32).reshape(-1, 14),
        np.array(first, np.int64),
        np.array(lumps, np.float32).reshape(-1, 8),
    )


def _solid(body: Body) -> tuple[float, ...]:
    middle, half = (v * body.scale for v in _box(body.mesh))
    kind = KINDS[body.mesh.name]
    ball = half[2] * half[2] if kind == KINDS["sphere"] else float(np.sum(half * half))
    turn = unit_circle(body.rotation)
    return (kind, *_placed(body, turn, middle.tolist()), *half, *turn, *linear(body.looks[0].color), ball)


def _by_blocks(
    body: Body, blocks: Blocks
) -> tuple[tuple[float, ...], list[tuple[float, ...]], list[tuple[float, ...]]]:
    """The row of the body, those of its blocks, and its lumps."""
    colors = np.array([linear(look.color) for look in body.looks])
    paint = (blocks.areas @ colors / blocks.areas.sum(1, keepdims=True)).tolist()
    turn = unit_circle(body.rotation)
    own, lumps = [], []
    sky = 0.0
    for middle, (hx, hy, hz), solid, color in zip(
        (blocks.middles * body.scale).tolist(),
        (blocks.halves * body.scale).tolist(),
        blocks.solid.tolist(),
        paint,
        strict=True,
    ):
        sky += solid * (hx * hy + hy * hz + hz * hx) * 2 / pi
        if solid >= SHOWN:
            ball = hx * hx + hy * hy + hz * hz
            own.append((BOX, *_placed(body, turn, middle), hx, hy, hz, *turn, *color, ball, solid))
        many = max(1, round(max(hx, hy) / min(hx, hy) / LONG))
        square = solid * 4 * hx * hy / many / pi
        for k in range(many):
            shift = (2 * k + 1) / many - 1
            heap = (middle[0] + shift * hx * (hx > hy), middle[1] + shift * hy * (hx <= hy), middle[2])
            lumps.append((*_placed(body, turn, heap), square, *color, 5.0 * sqrt(square)))
    middle, (hx, hy, hz) = ((v * body.scale).tolist() for v in _box(body.mesh))
    ball = hx * hx + hy * hy + hz * hz
    row = (MANY, *_placed(body, turn, middle), hx, hy, sqrt(sky), *turn, *paint[0], ball)
    return row, own, lumps


def _placed(body: Body, turn: tuple[float, float], middle: Sequence[float]) -> Vector:
    """A point of the mesh, already scaled, in the world."""
    cosine, sine = turn
    return (
        body.position[0] + middle[0] * cosine - middle[1] * sine,
        body.position[1] + middle[0] * sine + middle[1] * cosine,
        body.position[2] + middle[2],
    )


@cache
def _box(mesh: Mesh) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The middle and half the sides of the box around a mesh."""
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    return (high + low) / 2, (high - low) / 2
