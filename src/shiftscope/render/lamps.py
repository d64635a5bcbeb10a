"""CLEVR's light: a warm key, a bluish fill, a white back lamp, a far sun, and a dim even sky.

The lamps stand where CLEVR's do; their strengths were fitted to the ground of official images and then
raised by eye for clearer shadows. A power is the light that a white surface at distance 1 sends back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..geometry.camera import check_place, unit
from ..scene import Scene, Vector


@dataclass(frozen=True, slots=True)
class Lamp:
    """A square lamp that faces the origin."""

    name: str
    position: Vector
    power: Vector  # red, green, blue
    half: float  # half its side, in world units; softens its shadow


GROUND = 0.36  # how much of the light the ground sends back
BOUNCE: Vector = (0.22, 0.215, 0.21)  # what comes off the ground, on a white surface that faces down
SKY: Vector = (0.105, 0.107, 0.112)  # light from all of the sky on a white level surface

LAMPS = (
    Lamp("key", (6.44671, -2.90517, 4.2584), (28.0, 25.6, 21.6), 0.4),
    Lamp("fill", (-4.67112, -4.0136, 3.01122), (4.4, 4.7, 5.8), 0.5),
    Lamp("back", (-1.1685, 2.64602, 5.81574), (6.5, 6.7, 6.7), 0.4),
)
SUN = Lamp("sun", (116.6, -66.3, 258.2), (20000.0, 20000.0, 19800.0), 12.0)


def lamps_of(scene: Scene) -> tuple[Lamp, ...]:
    """The lamps of a scene: moved by the jitter its maker noted, else CLEVR's own."""
    jitter = scene.note("lamps")
    if jitter is None:
        return (*LAMPS, SUN)
    check_place((value for by in jitter for value in by), "a lamp", scene)
    moved = tuple(
        Lamp(lamp.name, _moved(lamp.position, by), lamp.power, lamp.half)
        for lamp, by in zip(LAMPS, jitter, strict=True)
    )
    return (*moved, SUN)


def packed_lamps(lamps: tuple[Lamp, ...]) -> npt.NDArray[np.float32]:
    """[lamp, position power half axis side side]: the 16 numbers kernels take; the axis leaves the origin."""
    rows = []
    for lamp in lamps:
        ax, ay, az = unit(lamp.position)
        ux, uy, _ = unit((-ay, ax, 0.0))
        frame = (ax, ay, az, ux, uy, 0.0, -uy * az, ux * az, uy * ax - ux * ay)
        rows.append((*lamp.position, *lamp.power, lamp.half, *frame))
    return np.array(rows, np.float32)


def _moved(position: Vector, by: Vector) -> Vector:
    x, y, z = (float(p) + float(d) for p, d in zip(position, by, strict=True))
    return (x, y, z)
