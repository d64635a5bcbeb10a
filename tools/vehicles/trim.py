"""Trim: bars, bands and lamps that follow the ends of a hull round its corners."""

from __future__ import annotations

from collections.abc import Sequence

from .assembly import BODY, Assembly
from .forms import prism, skin
from .piece import Piece

XY = tuple[float, float]
FRAME = 0.035  # width of the dark frame round a lamp


def wrapped(plan: Sequence[XY], low: float, high: float, out: float, bevel: float = 0.03) -> Piece:
    """A bar round an end of the hull, such as a bumper: `plan` is the right half of the hull from above,
    beginning in the middle; the bar stands `out` from it, its long edges cut off by `bevel`.
    """
    nose = 1.0 if plan[0][1] > 0 else -1.0
    rings = []
    levels = ((low, bevel), (low + bevel, 0.0), (high - bevel, 0.0), (high, bevel))
    for z, inset in levels if bevel else ((low, 0.0), (high, 0.0)):
        right = _offset(plan, out - inset, nose)
        left = [(-x, y) for x, y in right[:0:-1]]
        outline = [*left, *right]
        rings.append([(x, y, z) for x, y in (outline[::-1] if nose > 0 else outline)])
    return skin(rings, ends=True)


def lamps_into(assembly: Assembly, parts: tuple[str, str], plan: Sequence[XY], heights: XY, bright: bool) -> None:
    """Lamps round the left and the right corner of an end, each in a dark frame.

    `plan` is the stretch of the hull that the right one's frame covers.
    """
    low, high = heights
    frame = lamp(plan, low - FRAME, high + FRAME, 0.014)
    glass = lamp(_shorter(plan, FRAME), low, high, 0.03)
    for part, mirror in zip(parts, (True, False), strict=True):
        assembly.add(BODY, frame.mirrored() if mirror else frame, tone=0.25)
        assembly.add(part, glass.mirrored() if mirror else glass, tone=1.0 if bright else 0.62)


def lamp(plan: Sequence[XY], low: float, high: float, out: float, deep: float = 0.08) -> Piece:
    """A lamp round a corner of the hull: `plan` is the stretch of the hull it covers, on the right."""
    nose = 1.0 if plan[0][1] > 0 else -1.0
    outer, inner = _offset(plan, out, nose), _offset(plan, -deep, nose)
    return prism([*outer, *inner[::-1]], "z", low, high)


def _offset(plan: Sequence[XY], out: float, nose: float) -> list[XY]:
    """A line moved sideways, away from the hull."""
    moved = []
    for k, (x, y) in enumerate(plan):
        (ax, ay), (bx, by) = plan[max(k - 1, 0)], plan[min(k + 1, len(plan) - 1)]
        if k == 0 and x == 0:
            ax, ay = -bx, by
        length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
        nx, ny = -nose * (by - ay) / length, nose * (bx - ax) / length
        moved.append((x + out * nx, y + out * ny))
    return moved


def _shorter(plan: Sequence[XY], cut: float) -> list[XY]:
    """A line with a bit cut off at its start."""
    (ax, ay), (bx, by) = plan[:2]
    share = cut / ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
    return [(ax + share * (bx - ax), ay + share * (by - ay)), *plan[1:]]
