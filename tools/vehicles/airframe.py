"""What aeroplanes are made of: fuselages, wings, fins, engines, wheels on legs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import cos, pi, sin, sqrt

import numpy as np

from .forms import disc, ring_of, skin, skin_by, tube, turned_profile
from .piece import Piece, Point, joined

Station = tuple[float, float, float, float]  # y, half width, half height, height of the middle

# An aerofoil of chord 1 and thickness 1: (along, from the leading edge at 0.5; up), counter-clockwise.
AEROFOIL = (
    (0.5, 0.0),
    (0.44, 0.26),
    (0.26, 0.5),
    (0.0, 0.5),
    (-0.28, 0.28),
    (-0.5, 0.0),
    (-0.28, -0.2),
    (0.0, -0.36),
    (0.26, -0.38),
    (0.44, -0.22),
)


def fuselage_rings(stations: Sequence[Station], sides: int) -> list[list[Point]]:
    """A ring at each station, from tail to nose; point 0 is at the top, a quarter round is the right side."""
    turns = [2 * pi * k / sides for k in range(sides)]
    return [[(w * sin(t), y, middle + h * cos(t)) for t in turns] for y, w, h, middle in stations]


def fuselage(stations: Sequence[Station], sides: int = 20) -> Piece:
    """A closed hull through the stations."""
    return skin(fuselage_rings(stations, sides), ends=True)


def glazed_fuselage(
    stations: Sequence[Station], sides: int, name: Callable[[int, int], str]
) -> tuple[dict[str, Piece], Piece]:
    """A hull whose cells are named, such as the panes of a cockpit, and the two lids that close it."""
    rings = fuselage_rings(stations, sides)
    hull = skin_by(rings, name)
    lids = joined((_lid(rings[0], tail=True), _lid(rings[-1], tail=False)))
    return hull, lids


def wing(root: Point, tip: Point, chords: tuple[float, float], thickness: float = 0.11, bend: float = 0.0) -> Piece:
    """A right wing between the middles of its root and tip chords; `bend` lifts the tip further, in a curve.

    Thickness is a share of the chord.
    """
    rings = []
    for share in (0.0, 0.35, 0.7, 0.94, 1.0):
        x, y, z = (a + share * (b - a) for a, b in zip(root, tip, strict=True))
        chord = chords[0] + share * (chords[1] - chords[0])
        if share == 1.0:
            chord *= 0.82  # a rounded tip
        rings.append([(x, y + chord * u, z + bend * share * share + chord * thickness * v) for u, v in AEROFOIL])
    return skin(rings, ends=True)


def fin(foot: Point, top: Point, chords: tuple[float, float], thickness: float = 0.1) -> Piece:
    """An upright (or slanting) fin between the middles of its foot and top chords."""
    rings = []
    for share in (0.0, 0.5, 0.95, 1.0):
        x, y, z = (a + share * (b - a) for a, b in zip(foot, top, strict=True))
        chord = chords[0] + share * (chords[1] - chords[0])
        if share == 1.0:
            chord *= 0.85
        rings.append([(x - chord * thickness * v, y + chord * u, z) for u, v in AEROFOIL])
    return skin(rings, ends=True)


def nacelle(middle: Point, radius: float, length: float) -> Piece:
    """A jet engine's shell: a lip in front, open like a cup, narrower behind."""
    x, y, z = middle
    front, back = length / 2, -length / 2
    profile = [
        (0.0, back * 1.15),
        (radius * 0.42, back * 1.1),
        (radius * 0.62, back),
        (radius * 0.95, back * 0.3),
        (radius, front * 0.5),
        (radius * 0.95, front * 0.96),
        (radius * 0.85, front),
        (radius * 0.74, front * 0.94),
        (radius * 0.72, front * 0.55),
        (0.0, front * 0.5),
    ]
    return turned_profile(profile, "y", 16).moved(x, y, z)


def fan(middle: Point, radius: float) -> Piece:
    """What turns inside a nacelle: a disc with a pointed hub, facing forward."""
    profile = [(0.0, -0.04 * radius), (radius, 0.0), (radius, 0.05 * radius), (0.25 * radius, 0.12 * radius)]
    return turned_profile([*profile, (0.0, 0.55 * radius)], "y", 16).moved(*middle)


def propeller(middle: Point, length: float, blades: int, width: float) -> Piece:
    """Blades with a pointed hub, turning about y."""
    hub = turned_profile([(0.0, -width), (width, -width), (width, 0.3 * width), (0.0, 2.2 * width)], "y", 12)
    blade = wing((0.0, 0.0, 0.0), (length, 0.0, 0.0), (width * 1.5, width * 1.3), 0.22).turned("x", 65.0)
    turns = [blade.turned("y", 28.0 + 360.0 * k / blades) for k in range(blades)]
    return joined((hub, *turns)).moved(*middle)


def wheel(middle: Point, radius: float, width: float, segments: int = 12) -> tuple[Piece, Piece]:
    """A tyre and the disc within it, turning about x."""
    tyre = ring_of(radius * 0.72, radius * 0.28, "x", segments, 5, wide=width / (0.56 * radius))
    return tyre.moved(*middle), disc(radius * 0.6, width * 0.8, "x", 12, dish=0.08 * width).moved(*middle)


def leg(top: Point, foot: Point, radius: float) -> Piece:
    """A strut."""
    return tube([top, foot], radius, 6)


def panes(
    stations: Sequence[Station],
    at: Sequence[float],
    height: float,
    size: tuple[float, float],
    proud: float,
    round_: bool = False,
) -> Piece:
    """Small windows on both flanks of a hull, at these y: `size` is along y and around the hull."""
    corners = _PANE if round_ else ((1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0))
    pieces = []
    for y in at:
        width, tall, middle = _hull_at(stations, y)
        angle = (height - middle) / tall  # cosine of the turn from the top
        out = sqrt(max(0.0, 1.0 - angle * angle))
        long, high = size[0] / 2, size[1] / 2
        x = width * out
        pane = skin(
            [
                [(x * 0.8, y + u * long, height + v * high) for u, v in corners],
                [(x + proud, y + u * long, height + v * high) for u, v in corners],
            ],
            ends=True,
        )
        pieces += [pane, pane.mirrored()]
    return joined(pieces)


_PANE = ((1.0, -0.6), (1.0, 0.6), (0.6, 1.0), (-0.6, 1.0), (-1.0, 0.6), (-1.0, -0.6), (-0.6, -1.0), (0.6, -1.0))


def _hull_at(stations: Sequence[Station], y: float) -> tuple[float, float, float]:
    """Half width, half height and middle of the hull at a place along it."""
    for (y0, *before), (y1, *after) in pairwise(stations):
        if y0 <= y <= y1:
            share = (y - y0) / (y1 - y0)
            width, tall, middle = (a + share * (b - a) for a, b in zip(before, after, strict=True))
            return width, tall, middle
    raise ValueError(f"the hull does not reach y = {y}")


def _lid(ring: Sequence[Point], tail: bool) -> Piece:
    """A fan over a ring, facing backward or forward."""
    fan_ = [(0, j, j + 1) if not tail else (0, j + 1, j) for j in range(1, len(ring) - 1)]
    return Piece(np.asarray(ring, float), np.array(fan_, np.int32))
