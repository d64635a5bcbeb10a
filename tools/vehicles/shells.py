"""Shells: the rounded bodies of two-wheelers, such as tanks, seats, cowls and mudguards."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, cos, pi, radians, sin

from .forms import prism, skin
from .piece import Piece, Point

Station = tuple[float, float, float, float]  # y, lowest z, highest z, half the width there


def hull(stations: Sequence[Station], sides: int = 10, square: float = 0.7) -> Piece:
    """A body through cross-sections that follow each other forward (y rising).

    `square` is the exponent of the outline: 1 is an ellipse, towards 0 it becomes a box.
    """
    rings = []
    for y, low, high, half in stations:
        ring = []
        for k in range(sides):
            a = 2 * pi * (k + 0.5) / sides
            x, z = (copysign(abs(v) ** square, v) for v in (sin(a), cos(a)))
            ring.append((half * x, y, (low + high) / 2 + (high - low) / 2 * z))
        rings.append(ring)
    return skin(rings, ends=True)


def upright(stations: Sequence[Station], sides: int = 10, square: float = 0.7) -> Piece:
    """A body through cross-sections that follow each other upward: (z, hindmost y, foremost y, half width).

    `square` as for a hull.
    """
    rings = []
    for z, back, front, half in stations:
        ring = []
        for k in range(sides):
            a = 2 * pi * (k + 0.5) / sides
            x, y = (copysign(abs(v) ** square, v) for v in (cos(a), sin(a)))
            ring.append((half * x, (back + front) / 2 + (front - back) / 2 * y, z))
        rings.append(ring)
    return skin(rings, ends=True)


def mudguard(
    axle: Point, radius: float, half: float, start: float, end: float, crown: float = 0.03, segments: int = 9
) -> Piece:
    """A band bent around an axle, `radius` its inner side, from one angle to another.

    Angles are in degrees from straight ahead, over the top (90) to the back (180). It is solid: a tyre
    that reaches into it is covered on both flanks.
    """
    section = [(-half, 0.0), (-half, 0.5 * crown), (-0.55 * half, crown)]
    section += [(-x, r) for x, r in reversed(section)]
    rings = []
    for k in range(segments, -1, -1):
        a = radians(start + (end - start) * k / segments)
        rings.append(
            [(axle[0] + x, axle[1] + (radius + r) * cos(a), axle[2] + (radius + r) * sin(a)) for x, r in section]
        )
    return skin(rings, ends=True)


def shield(outline: Sequence[tuple[float, float]], thick: float, lean: float, at: Point) -> Piece:
    """A plate across the way, such as a windscreen: the right half of its outline as (x, z), from the lowest
    to the highest point; it leans back by `lean` degrees and its foot's middle stands `at`.
    """
    whole = [*((z, x) for x, z in outline), *((z, -x) for x, z in reversed(outline))]
    return prism(whole, "y", -thick / 2, thick / 2).turned("x", lean).moved(*at)
