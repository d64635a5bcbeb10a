"""Wheels of cars and buses: a dark tyre, a rim, and spokes or holes in front of a darker dish."""

from __future__ import annotations

from math import cos, pi, sin

from .assembly import Assembly
from .forms import prism, turned_profile

TYRE, DISH = 0.36, 0.5  # tones
SEGMENTS = 16


def add_wheel(
    assembly: Assembly,
    part: str,
    at: tuple[float, float],
    radius: float,
    width: float,
    rim: float = 0.66,
    spokes: int = 5,
) -> None:
    """A wheel that stands on the ground; `at` is the middle of its outer face, (x, y).

    It faces away from x = 0. `rim` is the rim's share of the radius; 0 spokes make a bus's steel wheel.
    """
    x, y = at
    r = rim * radius
    shoulder = 0.1 * radius
    tyre = turned_profile(
        [(0.0, -width), (radius, -width), (radius, -shoulder), (radius - 0.7 * shoulder, 0.0), (r, -0.02 * radius)],
        "x",
        SEGMENTS,
    )
    ring = turned_profile([(r, -0.02 * radius), (0.84 * r, -0.05 * radius)], "x", SEGMENTS)
    deep = 0.16 * radius
    dish = turned_profile([(0.84 * r, -0.05 * radius), (0.0, -deep)], "x", SEGMENTS)
    if spokes:
        front = prism(_star(0.9 * r, spokes), "x", -deep, -0.045 * radius)
    else:
        front = turned_profile([(0.5 * r, -deep), (0.36 * r, 0.0), (0.0, 0.03 * radius)], "x", SEGMENTS)
    for tone, piece in ((TYRE, tyre), (1.0, ring), (DISH, dish), (1.0, front)):
        standing = piece.moved(abs(x), y, radius)
        assembly.add(part, standing if x > 0 else standing.mirrored(), tone=tone)


def _star(radius: float, spokes: int) -> list[tuple[float, float]]:
    """Spokes as one outline: wide at the hub, a little narrower at the rim."""
    hub, half_width = 0.34 * radius, 0.15 * radius
    outline = []
    for k in range(spokes):
        middle = 2 * pi * k / spokes + pi / 2
        for distance, across in ((radius, -half_width), (radius, half_width)):
            outline.append(
                (distance * cos(middle) - across * sin(middle), distance * sin(middle) + across * cos(middle))
            )
        between = middle + pi / spokes
        outline.append((hub * cos(between), hub * sin(between)))
    return outline
