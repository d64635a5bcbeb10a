"""Piece: a bit of surface while a vehicle is being built. Metres; x to the right, y forward, z up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
import numpy.typing as npt

Point = Sequence[float]
Points = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Triangles, counter-clockwise seen from outside. Corners may be doubled; they are welded later."""

    vertices: Points  # [vertex, xyz]
    triangles: npt.NDArray[np.int32]  # [triangle, corner]

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Piece:
        return Piece(self.vertices + np.array([x, y, z]), self.triangles)

    def scaled(self, x: float, y: float | None = None, z: float | None = None) -> Piece:
        """By one factor, or one each; a negative factor mirrors, and the triangles stay outward."""
        factors = np.array([x, x if y is None else y, x if z is None else z])
        turned = self.triangles[:, ::-1] if np.prod(factors) < 0 else self.triangles
        return Piece(self.vertices * factors, np.ascontiguousarray(turned))

    def turned(self, axis: str, degrees: float, about: Point = (0.0, 0.0, 0.0)) -> Piece:
        """About an axis ("x", "y", "z") through a point, by the right-hand rule."""
        c, s = cos(radians(degrees)), sin(radians(degrees))
        k = "xyz".index(axis)
        matrix = np.eye(3)
        i, j = (k + 1) % 3, (k + 2) % 3
        matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
        return Piece((self.vertices - about) @ matrix.T + about, self.triangles)

    def mirrored(self) -> Piece:
        """The same on the other side: left for right."""
        return self.scaled(-1.0, 1.0, 1.0)


def joined(pieces: Iterable[Piece]) -> Piece:
    """Several as one."""
    listed = list(pieces)
    starts = np.cumsum([0, *(len(p.vertices) for p in listed[:-1])])
    return Piece(
        np.concatenate([p.vertices for p in listed]),
        np.concatenate([p.triangles + s for p, s in zip(listed, starts, strict=True)]).astype(np.int32),
    )


def both_sides(piece: Piece) -> Piece:
    """A piece and its mirror image."""
    return joined((piece, piece.mirrored()))
