"""The articulated bus: two halves with bellows between them, in one line as the official model stands."""

from __future__ import annotations

from .assembly import BODY, Assembly
from .bus_body import (
    BACK_WHEELS,
    EDGE,
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
from .forms import box, skin_by
from .hull import LEFT, RIGHT, SILL, Arch, Hull
from .piece import Piece
from .trim import wrapped

JOINT = 0.88  # half the length of its bellows
RIBS, RIB = 5, 0.035  # folds of the bellows, and how deep they are


def articulated(assembly: Assembly) -> None:
    """Long, wide and low, in two halves, ribbed between them."""
    shell = Shell(width=1.25, sill=0.26, waist=1.00, edge=2.44, top=2.64)
    nose, tail, radius = 8.35, -8.35, 0.44
    _add_front_half(assembly, shell, nose, radius)
    _add_back_half(assembly, shell, tail, radius)
    _add_bellows(assembly, shell)


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
    add_axle(half, FRONT_WHEELS, front, 1.24, radius)
    add_axle(half, BACK_WHEELS, middle, 1.24, radius)
    add_face(half, hull.plan((nose, nose - 0.14, nose - 0.40), WAIST), (1.00, 2.08), (2.12, 2.38))
    add_lamps(half, "head", hull.plan((nose, nose - 0.1), WAIST, 0.58), 0.56, 0.80)
    add_plate(half, "license_plate_front", nose + 0.16, 0.46)
    add_mirrors(half, shell, nose, 2.18, 1.47)
    half.add("roof", box((-0.75, 4.6, 2.45), (0.75, 6.4, 2.74), 0.06), _hatch(2.6), _hatch(7.2))


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
    add_axle(half, BACK_WHEELS, back, 1.24, radius)
    half.add("bumper_back", wrapped(hull.plan((tail, tail + 0.12, tail + 0.5), WAIST), 0.26, 0.56, 0.05, 0.04))
    add_lamps(half, "tail", hull.plan((tail, tail + 0.04), WAIST, 0.82), 0.70, 1.24)
    add_plate(half, "license_plate_back", tail - 0.12, 0.41)
    add_tail(half, tail - 0.05, 0.90, (0.66, 1.24), (1.40, 2.10))
    half.add("roof", box((-0.75, -5.2, 2.45), (0.75, -3.2, 2.74), 0.06), _hatch(-7.0))


def _hatch(y: float) -> Piece:
    """A flat lid in the roof."""
    return box((-0.42, y - 0.4, 2.5), (0.42, y + 0.4, 2.675), 0.02)


def _add_bellows(assembly: Assembly, shell: Shell) -> None:
    """A concertina from one half of the bus to the other, of the body's colour and, above, the roof's."""
    rings = []
    for k in range(2 * RIBS + 1):
        at = k / RIBS - 1  # -1 at the back half, 1 at the front one
        half = shell.section(at * (JOINT + 0.02), inset=RIB * (k % 2) + 0.01, drop=RIB * (k % 2) + 0.01)
        left = [(-x, half.y, z) for x, z in half.half[SILL:]]
        rings.append(left + [(-x, y, z) for x, y, z in left[-2::-1]])
    last = len(rings[0]) - 1
    above = EDGE - SILL  # the first point of the roof, from either side
    named = skin_by(rings, lambda _, j: "roof" if above <= j < last - above else BODY)
    for part, piece in named.items():
        assembly.add(part, piece, tone=0.8)
