"""What bicycles are put together from beside their wheels: bars, saddles, cranks and chains."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, radians, sin

from .assembly import Assembly
from .forms import box, disc, tube
from .piece import Piece, Point
from .shells import hull

CHAIN_SIDE = 0.06  # x of the chain


def bar(path: Sequence[Point], radius: float) -> Piece:
    """A round bar through points."""
    return tube(path, radius, 6)


def pair(path: Sequence[Point], radius: float) -> tuple[Piece, Piece]:
    """A bar and its mirror image: stays, fork legs."""
    one = bar(path, radius)
    return one.mirrored(), one


def saddle(y: float, z: float, length: float = 0.27, half: float = 0.075) -> Piece:
    """Wide behind, narrow in front; `z` is its top."""
    back, low = y - 0.5 * length, z - 0.06
    return hull(
        [
            (back, low + 0.02, z - 0.005, 0.8 * half),
            (back + 0.15 * length, low, z, half),
            (back + 0.4 * length, low, z - 0.008, 0.85 * half),
            (back + 0.65 * length, low + 0.01, z - 0.01, 0.4 * half),
            (back + length, low + 0.02, z - 0.015, 0.28 * half),
        ],
        sides=8,
    )


def loop(near: Point, near_radius: float, far: Point, far_radius: float, x: float, thick: float) -> Piece:
    """A chain around two wheels; the points are (y, z), the first one behind the second."""
    path = []
    for (y, z), radius, start in ((near, near_radius, 90), (far, far_radius, 270)):
        for k in range(6):
            a = radians(start + 36 * k)
            path.append((x, y + radius * cos(a), z + radius * sin(a)))
    return tube(path, thick, 4, closed=True)


def drive(
    assembly: Assembly,
    bottom: Point,
    hub: Point,
    ring: float = 0.095,
    cog: float = 0.05,
    crank: float = 0.17,
    angle: float = -25.0,
    into: str = "",
) -> None:
    """Chain, cranks and pedals. `bottom` and `hub` are (y, z); `angle` is that of the right crank, in degrees
    from straight ahead; `into` puts everything into one part.
    """
    chain = into or "drive_chain"
    assembly.add(chain, disc(ring, 0.014, segments=14).moved(CHAIN_SIDE, *bottom), tone=0.8)
    assembly.add(chain, disc(cog, 0.02, segments=10).moved(CHAIN_SIDE, *hub), tone=0.8)
    assembly.add(chain, loop(hub, cog, bottom, ring, CHAIN_SIDE, 0.013))
    for side, turn in (("left", 180.0), ("right", 0.0)):
        sign = 1.0 if side == "right" else -1.0
        a = radians(angle + turn)
        y, z = bottom[0] + crank * cos(a), bottom[1] + crank * sin(a)
        out = sign * (CHAIN_SIDE + 0.03)
        path = [(sign * 0.02, *bottom), (out, *bottom), (out + sign * 0.01, y, z)]
        assembly.add(into or f"crank_arm_{side}", tube(path, 0.017, 5))
        block = box((-0.05, -0.05, -0.016), (0.05, 0.05, 0.016), 0.01)
        assembly.add(into or f"pedal_{side}", block.moved(out + sign * 0.06, y, z), tone=0.8)


def rotor(radius: float, x: float, y: float, z: float) -> tuple[Piece, Piece]:
    """A brake disc and the caliper that grips it from behind."""
    plate = disc(radius, 0.012, segments=12).moved(x, y, z)
    caliper = box((-0.02, -0.03, -0.045), (0.02, 0.03, 0.045), 0.01)
    angle = 0.75 * pi
    return plate, caliper.moved(x, y + radius * cos(angle), z + radius * sin(angle))
