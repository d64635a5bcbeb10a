"""CLEVR's three solids, and which of them an object's words stand for, in what size and colour.

Each fits the box from −1 to 1 and stands on z = −1. Vertices decide what is visible, so they are computed
with operations that give the same bits on every machine (`mesh.unit_circle`).
"""

from collections.abc import Callable, Collection
from functools import cache, partial
from math import sqrt

import numpy as np

from ...errors import UserError, unknown
from ...scene import Object, Pairs
from ..mesh import Body, Mesh, SurfaceLook, unit_circle

BEVEL = 0.11  # radius of the rounded edges, in half sides
Profile = list[tuple[float, float, float, float]]  # radius, height, and the normal's radial and z part


@cache
def cube(bevel: float = BEVEL, steps: int = 3) -> Mesh:
    """A cube with rounded edges: each face a grid whose lines crowd at the rim."""
    rim = [unit_circle(45.0 * k / steps) for k in range(steps + 1)]  # even angles over the rounded edge
    half = [1.0 - bevel + bevel * (sine / cosine) for cosine, sine in rim]
    lines = [-x for x in reversed(half)] + half
    vertices: list[tuple[float, float, float]] = []
    normals: list[tuple[float, float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        for side in (1.0, -1.0):
            first = len(vertices)
            for v in lines:
                for u in lines:
                    point = [0.0, 0.0, 0.0]
                    point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = side, u * side, v
                    a, b, c = (min(max(x, bevel - 1.0), 1.0 - bevel) for x in point)  # moved onto the rounded cube
                    dx, dy, dz = point[0] - a, point[1] - b, point[2] - c
                    length = sqrt(dx * dx + dy * dy + dz * dz)
                    nx, ny, nz = dx / length, dy / length, dz / length
                    vertices.append((a + bevel * nx, b + bevel * ny, c + bevel * nz))
                    normals.append((nx, ny, nz))
            triangles += _build_grid(first, len(lines), len(lines))
    return Mesh("cube", np.array(vertices), np.array(normals), np.array(triangles, np.int32))


@cache
def sphere(rings: int = 20, segments: int = 40) -> Mesh:
    """A ball, from pole to pole."""
    angles = [180.0 * k / rings - 90.0 for k in range(rings + 1)]
    circle = [unit_circle(a) for a in angles]
    return _revolve("sphere", [(c, s, c, s) for c, s in circle], segments)


@cache
def cylinder(bevel: float = BEVEL, steps: int = 3, segments: int = 48) -> Mesh:
    """An upright can with rounded rims."""
    inner = 1.0 - bevel
    rim = [unit_circle(90.0 * k / steps) for k in range(steps + 1)]  # from the side to the top
    top: Profile = [(inner + bevel * c, inner + bevel * s, c, s) for c, s in rim] + [(0.0, 1.0, 0.0, 1.0)]
    bottom: Profile = [(r, -z, nr, -nz) for r, z, nr, nz in reversed(top)]
    return _revolve("cylinder", bottom + top, segments)


def _revolve(name: str, profile: Profile, segments: int) -> Mesh:
    """The surface a profile sweeps around the z axis; it is given from bottom to top."""
    circle = [unit_circle(360.0 * k / segments) for k in range(segments)]
    circle.append(circle[0])
    vertices = [(r * c, r * s, z) for r, z, _, _ in profile for c, s in circle]
    normals = [(nr * c, nr * s, nz) for _, _, nr, nz in profile for c, s in circle]
    corners = np.array(_build_grid(0, len(profile), segments + 1), np.int32)
    points = np.array(vertices)
    a, b, c = (points[corners[:, k]] for k in range(3))
    flat = (a == b).all(1) | (b == c).all(1) | (c == a).all(1)  # at the poles one corner is doubled
    return Mesh(name, points, np.array(normals), corners[~flat])


def _build_grid(first: int, rows: int, columns: int) -> list[tuple[int, int, int]]:
    """Two triangles for each cell of a grid of vertices, counter-clockwise when u × v points outward."""
    cells = []
    for row in range(rows - 1):
        for column in range(columns - 1):
            a = first + row * columns + column
            b, c, d = a + 1, a + columns + 1, a + columns
            cells += [(a, b, c), (a, c, d)]
    return cells


SOLIDS: dict[str, Callable[[], Mesh]] = {"cube": cube, "sphere": sphere, "cylinder": cylinder}
SIZES = {"large": 0.7, "small": 0.35}  # half the height, in world units
COLORS = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
MATERIALS = ("rubber", "metal")


def body(thing: Object) -> Body:
    """The solid an object's attributes describe; without a rotation it stands unturned."""
    if thing.position is None:
        raise UserError("an object without a position cannot be drawn")
    word = partial(require_word, thing.attributes, "the CLEVR shapes")
    shape, size = word("shape", SOLIDS), word("size", SIZES)
    look = SurfaceLook(COLORS[word("color", COLORS)], word("material", MATERIALS))
    return Body(SOLIDS[shape](), thing.position, SIZES[size], thing.rotation or 0.0, (look,))


def require_word(pairs: Pairs, where: str, attribute: str, known: Collection[str]) -> str:
    """The one value of an attribute, which must be a known one."""
    values = [v for a, v in pairs if a == attribute]
    if len(values) != 1 or values[0] not in known:
        raise unknown(attribute, " ".join(values), known, where)
    return values[0]
