"""Mesh: triangles with smooth normals, each belonging to a named part; and exact sine and cosine to turn it.

Libraries of mathematics differ in the last place of a sine; a scene is accepted by counting pixels, so ours
uses nothing but additions and multiplications.
"""

from dataclasses import dataclass, field
from math import fmod

import numpy as np
import numpy.typing as npt

from ..errors import UserError


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A closed surface. Triangles are counter-clockwise seen from outside; compared by identity.

    `parts` names one *surface* each: a part drawn in several tones is named once a tone. The first is the
    main body; a name that begins with an underscore (`_glass`) is no part of its own.
    """

    name: str
    vertices: npt.NDArray[np.float64]  # [vertex, xyz]
    normals: npt.NDArray[np.float64]  # [vertex, xyz], unit, outward
    triangles: npt.NDArray[np.int32]  # [triangle, corner]
    parts: tuple[str, ...] = ("body",)
    part_of: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    # [triangle], index into parts; empty: all in the first
    tones: tuple[float, ...] = ()  # [surface], what its colour is multiplied by; empty: all 1

    def __post_init__(self) -> None:
        if self.vertices.shape != self.normals.shape or self.vertices.shape[1:] != (3,):
            raise UserError(f"mesh {self.name!r}: vertices and normals must both be [n, 3]")
        if self.triangles.size and not 0 <= self.triangles.min() <= self.triangles.max() < len(self.vertices):
            raise UserError(f"mesh {self.name!r}: a triangle names a vertex that is not there")
        if not self.tones:
            object.__setattr__(self, "tones", (1.0,) * len(self.parts))
        if not len(self.part_of):
            object.__setattr__(self, "part_of", np.zeros(len(self.triangles), np.int32))
        for array in (self.vertices, self.normals, self.triangles, self.part_of):
            array.setflags(write=False)


def volume(mesh: Mesh) -> float:
    """The enclosed volume; positive when the triangles face outward."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)


# Sine and cosine that are the same bits on every machine (libraries differ in the last place, and pixel counts decide
# which scenes are accepted): additions and multiplications only.

_RADIANS = 0.017453292519943295
# Taylor coefficients; on ±45° the first term left out is below 1e-17
_SIN = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
_COS = (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200)
_REST = tuple(zip(_SIN[-2::-1], _COS[-2::-1], strict=True))


def unit_circle(degrees: float) -> tuple[float, float]:
    """(cosine, sine) of an angle in degrees; exact at the multiples of 90."""
    turned = fmod(degrees, 360.0)
    quarter = int(turned / 90.0 + (0.5 if turned >= 0 else -0.5))
    x = (turned - 90.0 * quarter) * _RADIANS
    square = x * x
    sine, cosine = _SIN[-1], _COS[-1]
    for s, c in _REST:
        sine = sine * square + s
        cosine = cosine * square + c
    sine *= x
    return ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[quarter % 4]
