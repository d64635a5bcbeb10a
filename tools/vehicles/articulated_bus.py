"""The articulated bus: two halves that bend about a joint, with bellows between them."""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np

from .assembly import BODY, Assembly
from .bus_body import (
    BACK_WHEELS,
    FRONT_WHEELS,
    WAIST,
    Shell,
    add_axle,
    add_door,
    add_face,
    add_lamps,
    add_mirrors,
    add_plate,
    add_tail,
    add_windows,
    bays,
    roof_or_body,
)
from .forms import box, skin
from .hull import LEFT, RIGHT, SILL, Arch, Hull
from .piece import Piece
from .trim import wrapped

BEND = 12.5  # degrees between the two halves of the articulated bus
JOINT = 0.62  # half the length of its bellows


def articulated(assembly: Assembly) -> None:
    """Long, in two halves that bend about a joint in the middle, bellows between them."""
    shell = Shell(width=1.02, sill=0.28, waist=1.02, edge=2.38, top=2.64)
    nose, tail, radius = 8.35, -8.35, 0.44
    halves = Assembly(), Assembly()
    _add_front_half(halves[0], shell, nose, radius)
    _add_back_half(halves[1], shell, tail, radius)
    for half, turn in zip(halves, (-BEND / 2, BEND / 2), strict=True):
        for part, tone, piece in half.pieces:
            assembly.add(part, piece.turned("z", turn), tone=tone)
    assembly.add(BODY, _bellows(shell), tone=0.32)


def _add_front_half(half: Assembly, shell: Shell, nose: float, radius: float) -> None:
    front, middle = 5.75, 1.95
    hull = Hull(
        (
            shell.section(JOINT),
            shell.section(nose - 0.45, bow=0.12),
            shell.section(nose - 0.14, inset=0.03, drop=0.03, bow=0.12),
            shell.section(nose, inset=0.13, drop=0.12, bow=0.12),
        ),
        (Arch(middle, radius, radius + 0.06), Arch(front, radius, radius + 0.06)),
        (),
        raised=WAIST,
    )
    hull.add_to(half, roof_or_body, roof_or_body, roof_or_body)
    low, high = 1.10, 2.10
    add_windows(half, shell, LEFT, bays(JOINT + 0.2, nose - 0.65, 5), low, high)
    add_windows(half, shell, RIGHT, bays(JOINT + 0.2, 2.95, 2), low, high)
    add_windows(half, shell, RIGHT, bays(4.65, 6.35, 1), low, high)
    add_door(half, shell, "door_front_right", (6.55, 7.85), 0.40, 2.14)
    add_door(half, shell, "door_mid_right", (3.12, 4.48), 0.40, 2.14)
    add_axle(half, FRONT_WHEELS, front, 1.01, radius)
    add_axle(half, BACK_WHEELS, middle, 1.01, radius)
    add_face(half, hull.plan((nose, nose - 0.14, nose - 0.40), WAIST), (1.00, 2.08), (2.12, 2.38))
    add_lamps(half, "head", hull.plan((nose, nose - 0.1), WAIST, 0.58), 0.56, 0.80)
    add_plate(half, "license_plate_front", nose + 0.16, 0.46)
    add_mirrors(half, shell, nose, 2.18, 1.23)
    half.add("roof", box((-0.6, 4.4, 2.45), (0.6, 6.6, 2.78), 0.08))


def _add_back_half(half: Assembly, shell: Shell, tail: float, radius: float) -> None:
    back = -4.85
    hull = Hull(
        (
            shell.section(tail, inset=0.05, drop=0.08, bow=-0.04),
            shell.section(tail + 0.12, bow=-0.04),
            shell.section(-JOINT),
        ),
        (Arch(back, radius, radius + 0.06),),
        (),
        raised=WAIST,
    )
    hull.add_to(half, roof_or_body, roof_or_body, roof_or_body)
    low, high = 1.10, 2.10
    add_windows(half, shell, LEFT, bays(tail + 0.25, -JOINT - 0.2, 5), low, high)
    add_windows(half, shell, RIGHT, bays(tail + 0.25, -3.15, 3), low, high)
    add_windows(half, shell, RIGHT, bays(-1.50, -JOINT - 0.2, 1), low, high)
    add_door(half, shell, "door_back_right", (-2.98, -1.68), 0.40, 2.14)
    add_axle(half, BACK_WHEELS, back, 1.01, radius)
    half.add("bumper_back", wrapped(hull.plan((tail, tail + 0.12, tail + 0.5), WAIST), 0.26, 0.56, 0.05, 0.04))
    add_lamps(half, "tail", hull.plan((tail, tail + 0.04), WAIST, 0.82), 0.70, 1.24)
    add_plate(half, "license_plate_back", tail - 0.12, 0.41)
    add_tail(half, tail - 0.05, 0.74, (0.66, 1.24), (1.40, 2.10))
    half.add("roof", box((-0.6, -6.2, 2.45), (0.6, -4.0, 2.78), 0.08))


def _bellows(shell: Shell, folds: int = 5) -> Piece:
    """A concertina from one half of the bus to the other, around the bend."""
    rings = []
    for k in range(2 * folds + 1):
        at = k / folds - 1  # -1 at the back half, 1 at the front one
        half = shell.section(at * (JOINT + 0.02), inset=0.10 * (k % 2) + 0.01, drop=0.08 * (k % 2) + 0.01)
        left = [(-x, half.y, z) for x, z in half.half[SILL:]]
        ring = np.array(left + [(-x, y, z) for x, y, z in left[-2::-1]])
        turn = radians(-at * BEND / 2)
        x, y = ring[:, 0].copy(), ring[:, 1].copy()
        ring[:, 0], ring[:, 1] = x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn)
        rings.append(ring)
    return skin(rings)
