"""Stand-ins: for each body a ball, an upright can or a turned box, simple enough to meet rays with."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ..geometry.angle import unit_circle
from ..geometry.body import Body
from ..geometry.mesh import Mesh
from .color import linear

KINDS = {"sphere": 0.0, "cylinder": 1.0}  # anything else is a box


def stand_ins(bodies: tuple[Body, ...]) -> npt.NDArray[np.float32]:
    """[body, kind center(3) half-sides(3) cosine sine color(3) ball]; colours are linear.

    `ball` is the squared radius of the ball around it.
    """
    rows = []
    for body in bodies:
        middle, half = (v * body.scale for v in _box(body.mesh))
        cosine, sine = unit_circle(body.rotation)
        center = (
            body.position[0] + middle[0] * cosine - middle[1] * sine,
            body.position[1] + middle[0] * sine + middle[1] * cosine,
            body.position[2] + middle[2],
        )
        kind = KINDS.get(body.mesh.name, 2.0)
        ball = half[2] * half[2] if kind == KINDS["sphere"] else float(np.sum(half * half))
        rows.append((kind, *center, *half, cosine, sine, *linear(body.looks[0].color), ball))
    return np.array(rows, np.float32).reshape(-1, 13)


@cache
def _box(mesh: Mesh) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The middle and half the sides of the box around a mesh."""
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    return (high + low) / 2, (high - low) / 2
