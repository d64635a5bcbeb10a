"""Hull: a vehicle's outer skin, lofted through cross-sections, with wheel arches cut out and cells named.

Half a cross-section runs from the middle of the floor out and up to the middle of the top; the other side is
its mirror image. Its first four points are always the same things (FLOOR ... SILL), the rest is the model's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi, sqrt

import numpy as np

from .assembly import BODY, Assembly
from .forms import skin, skin_by
from .piece import Piece, joined

FLOOR, INNER, WELL, SILL = range(4)  # of half a section: floor's middle, its rim, top of the well, outer edge
GAP, DARK, TRIM = "_gap", "_dark", "_trim"  # shades of the body that a cell can be named after
SHADES = {GAP: (BODY, 0.3), DARK: (BODY, 0.22), TRIM: (BODY, 0.5)}
STEP = 0.004  # metres between the two stations of a sudden change
LEFT, RIGHT = "left", "right"

Half = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Section:
    """Half a cross-section, points (x, z). Its sides are at y, its middle `bow` further (nose: > 0)."""

    y: float
    half: tuple[tuple[float, float], ...]
    bow: float = 0.0


@dataclass(frozen=True, slots=True)
class Arch:
    """A wheel arch: a half circle over the wheel's centre, and straight down from there."""

    y: float
    z: float
    radius: float

    def stations(self, steps: int = 6) -> list[float]:
        """Where a hull must be cut to show it round."""
        round_ = [self.y - (self.radius - 1e-6) * cos(pi * k / steps) for k in range(steps + 1)]
        return [round_[0] - STEP, *round_, round_[-1] + STEP]

    def top(self, y: float) -> float | None:
        """How high it is cut out at y; None where it is not."""
        inside = self.radius**2 - (y - self.y) ** 2
        return self.z + sqrt(inside) if inside > 0 else None


Name = Callable[[float, int, str], str]  # (y, point of the half section below the cell, side) -> whose it is


@dataclass(frozen=True, slots=True)
class Hull:
    """Sections from the tail to the nose, cut further at `cuts` and around `arches`.

    The points after SILL up to `raised` make way for an arch, `lip` metres above one another.
    """

    sections: tuple[Section, ...]
    arches: tuple[Arch, ...]
    cuts: tuple[float, ...]
    raised: int
    lip: float = 0.025

    def add_to(self, assembly: Assembly, name: Name, back: Name, front: Name) -> None:
        """Put the skin into an assembly; `back` and `front` name the strips of the flat ends."""
        for whose, piece in self.named(name, back, front).items():
            part, tone = SHADES.get(whose, (whose, 1.0))
            assembly.add(part, piece, tone=tone)

    def named(self, name: Name, back: Name, front: Name) -> dict[str, Piece]:
        """The skin, cut into what `name` (sides and top), `back` and `front` call its cells."""
        ys = self._stations()
        halves = [self._half(y) for y in ys]
        last = len(halves[0]) - 1
        rings = [self._ring(half, y) for half, y in zip(halves, ys, strict=True)]

        def whose(i: int, j: int) -> str:
            column, side = (j, LEFT) if j < last else (2 * last - 1 - j, RIGHT)
            if column < SILL:
                return DARK if column else ""
            return name((ys[i] + ys[i + 1]) / 2, column, side)

        found = {key: [piece] for key, piece in skin_by(rings, whose).items()}
        found[DARK].append(self._floor())
        for y, end, nose in ((ys[0], back, False), (ys[-1], front, True)):
            for column in range(last):
                strip = self._strip(halves[-1 if nose else 0], y, column)
                found.setdefault(end(y, column, ""), []).append(strip if nose else _inside_out(strip))
        return {key: joined(pieces) for key, pieces in found.items()}

    def plan(self, ys: Sequence[float], column: int, start: float = 0.0) -> list[tuple[float, float]]:
        """The right half of the hull seen from above, (x, y): across the end at ys[0], then along the others.

        `start` leaves out that share of the way across.
        """
        end, *sides = [(self._half(y), y) for y in ys]
        across = end[0][column][0] * np.linspace(start, 1.0, 2 if start else 4)
        along = [self._placed(half, y, [half[column]])[0] for half, y in sides]
        return [(x, y) for x, y, _ in (*self._placed(*end, [(x, 0.0) for x in across]), *along)]

    def _stations(self) -> list[float]:
        ends = self.sections[0].y, self.sections[-1].y
        wanted = {s.y for s in self.sections} | set(self.cuts) | {y for a in self.arches for y in a.stations()}
        return sorted(y for y in wanted if ends[0] <= y <= ends[1])

    def _half(self, y: float) -> list[tuple[float, float]]:
        ys = [s.y for s in self.sections]
        i = min(max(int(np.searchsorted(ys, y, side="right")) - 1, 0), len(ys) - 2)
        t = (y - ys[i]) / (ys[i + 1] - ys[i])
        a, b = np.array(self.sections[i].half), np.array(self.sections[i + 1].half)
        half = a * (1 - t) + b * t
        top = max((a.top(y) or 0.0 for a in self.arches), default=0.0)
        if top > half[WELL, 1]:
            side = half[SILL : self.raised + 1].copy()
            half[WELL, 1] = top
            for k in range(SILL, self.raised + 1):
                half[k, 1] = max(half[k, 1], top + self.lip * (k - SILL))
                half[k, 0] = max(half[k, 0], float(np.interp(half[k, 1], side[:, 1], side[:, 0])))
        return [(float(x), float(z)) for x, z in half]

    def _placed(self, half: Half, y: float, points: Half) -> list[tuple[float, float, float]]:
        """Points (x, z) of the section at y, of which `half` is the half, in space."""
        bow = float(np.interp(y, [s.y for s in self.sections], [s.bow for s in self.sections]))
        widest = half[self.raised][0]
        return [(float(x), y + bow * (1 - float(x / widest) ** 2), z) for x, z in points]

    def _ring(self, half: Half, y: float) -> list[tuple[float, float, float]]:
        """Counter-clockwise seen from the nose: up the left side, down the right one."""
        return self._placed(half, y, [(-x, z) for x, z in half] + list(half[-2:0:-1]))

    def _floor(self) -> Piece:
        """Flat between the sections, which the arches leave alone: it needs no more stations than those."""
        rings = [self._ring(self._half(s.y), s.y) for s in self.sections]
        return skin([[ring[-INNER], ring[FLOOR], ring[INNER]] for ring in rings], closed=False)

    def _strip(self, half: Half, y: float, column: int, steps: int = 4) -> Piece:
        """Strip of an end between two points on the left and the same two on the right; faces forward."""
        shares = np.linspace(1, -1, steps + 1)
        rows = [self._placed(half, y, [(x * k, z) for k in shares]) for x, z in half[column : column + 2]]
        return skin(rows, closed=False)


def _inside_out(piece: Piece) -> Piece:
    return Piece(piece.vertices, np.ascontiguousarray(piece.triangles[:, ::-1]))
