"""Forms that vehicles are put together from: boxes, prisms, lofts, turned profiles, bent tubes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, pi, sin

import numpy as np

from .piece import Piece, Point, Points, joined

Outline = Sequence[tuple[float, float]]


def box(low: Point, high: Point, bevel: float = 0.0) -> Piece:
    """A box between two corners; `bevel` cuts its twelve edges off."""
    lo, hi = np.asarray(low, float), np.asarray(high, float)
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    b = min(bevel, *(0.49 * 2 * half)) if bevel else 0.0
    if b == 0.0:
        square = [(-half[0], -half[1]), (half[0], -half[1]), (half[0], half[1]), (-half[0], half[1])]
        return prism(square, "z", -half[2], half[2]).moved(*middle)
    rings = []
    for z, inset in ((-half[2], b), (-half[2] + b, 0.0), (half[2] - b, 0.0), (half[2], b)):
        x, y = half[0] - inset, half[1] - inset
        c = b if inset == 0.0 else 0.0
        ring = [(-x + c, -y), (x - c, -y), (x, -y + c), (x, y - c), (x - c, y), (-x + c, y), (-x, y - c)]
        rings.append([(u, v, z) for u, v in [*ring, (-x, -y + c)]])
    return skin(rings, ends=True).moved(*middle)


def prism(outline: Outline, axis: str, start: float, end: float) -> Piece:
    """An outline pushed along an axis. Its two coordinates are the next two axes in the order x, y, z, x, y
    (for "x": y and z; for "y": z and x; for "z": x and y); it may be hollowed in, and turn either way.
    """
    ring = np.asarray(outline, float)
    if _area(ring) < 0:
        ring = ring[::-1]
    k = "xyz".index(axis)
    rings = []
    for at in (start, end):
        points = np.zeros((len(ring), 3))
        points[:, k], points[:, (k + 1) % 3], points[:, (k + 2) % 3] = at, ring[:, 0], ring[:, 1]
        rings.append(points)
    sides = skin(rings)
    cap = _ears(ring)
    lids = (Piece(rings[0], cap[:, ::-1]), Piece(rings[1], cap))
    whole = joined((sides, *lids))
    return whole if end > start else Piece(whole.vertices, np.ascontiguousarray(whole.triangles[:, ::-1]))


def slab(outline: Outline, left: float, right: float, bevel: float) -> Piece:
    """An outline in y and z as thick as from x = `left` to `right`, the edges of both flanks cut off."""
    ring = np.asarray(outline, float)
    if _area(ring) < 0:
        ring = ring[::-1]
    before, after = ring - np.roll(ring, 1, 0), np.roll(ring, -1, 0) - ring
    out = [np.stack([e[:, 1], -e[:, 0]], 1) / np.linalg.norm(e, axis=1)[:, None] for e in (before, after)]
    lean = (out[0] + out[1]) / np.maximum(1.0 + np.sum(out[0] * out[1], axis=1), 0.5)[:, None]
    small = ring - bevel * lean
    rings = [
        np.column_stack([np.full(len(ring), x), flat])
        for x, flat in ((left, small), (left + bevel, ring), (right - bevel, ring), (right, small))
    ]
    cap = _ears(small)
    lids = (Piece(rings[0], np.ascontiguousarray(cap[:, ::-1])), Piece(rings[-1], cap))
    return joined((skin(rings), *lids))


def skin(rings: Sequence[Sequence[Point] | Points], ends: bool = False, closed: bool = True) -> Piece:
    """The surface through rings of equally many points, each ring counter-clockwise seen from the last
    ring's side. `ends` closes it with a fan at either end (rings should then be convex);
    `closed` joins each ring's last point to its first.
    """
    grid = np.array([np.asarray(r, float) for r in rings])
    rows, columns = grid.shape[:2]
    cells = [(i, j) for i in range(rows - 1) for j in range(columns if closed else columns - 1)]
    pieces = [_cells(grid, cells)]
    if ends:
        for ring, flip in ((grid[0], True), (grid[-1], False)):
            fan = [(0, j, j + 1) for j in range(1, columns - 1)]
            triangles = np.array(fan, np.int32)
            pieces.append(Piece(ring, np.ascontiguousarray(triangles[:, ::-1]) if flip else triangles))
    return joined(pieces)


def skin_by(
    rings: Sequence[Sequence[Point] | Points], name: Callable[[int, int], str], closed: bool = True
) -> dict[str, Piece]:
    """A skin cut into named pieces: `name(i, j)` says whose is the cell between rings i and i + 1,
    points j and j + 1. For doors and windows that lie flush in a body.
    """
    grid = np.array([np.asarray(r, float) for r in rings])
    rows, columns = grid.shape[:2]
    cells: dict[str, list[tuple[int, int]]] = {}
    for i in range(rows - 1):
        for j in range(columns if closed else columns - 1):
            cells.setdefault(name(i, j), []).append((i, j))
    return {whose: _cells(grid, listed) for whose, listed in cells.items() if whose}


def turned_profile(profile: Outline, axis: str, segments: int = 24, end: float = 360.0) -> Piece:
    """A profile of (radius, height along the axis), swept around the axis; counter-clockwise in the plane
    of radius and height, that is upwards on its outer side.
    """
    k = "xyz".index(axis)
    whole = end == 360.0
    rings = []
    for i in range(segments + 1):
        angle = 2 * pi * (i % segments if whole else i) / segments * end / 360.0
        points = np.zeros((len(profile), 3))
        radii, heights = np.array([r for r, _ in profile]), np.array([h for _, h in profile])
        points[:, k] = heights
        points[:, (k + 1) % 3], points[:, (k + 2) % 3] = radii * cos(angle), radii * sin(angle)
        rings.append(points)
    piece = skin(rings, closed=False)
    return Piece(piece.vertices, np.ascontiguousarray(piece.triangles[:, ::-1]))


def tube(
    path: Sequence[Point], radius: float | Sequence[float], sides: int = 8, closed: bool = False, flat: float = 1.0
) -> Piece:
    """A round bar along a path, with ends; `closed` makes it a loop, `flat` squeezes it upright."""
    points = np.asarray(path, float)
    radii = np.broadcast_to(np.asarray(radius, float), len(points))
    count = len(points)
    before = np.roll(points, 1, 0) if closed else np.vstack([points[:1], points[:-1]])
    after = np.roll(points, -1, 0) if closed else np.vstack([points[1:], points[-1:]])
    along = after - before
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = _across(along[0])
    rings = []
    for i in range(count):
        side = side - along[i] * (side @ along[i])  # carried along without twisting
        side /= np.linalg.norm(side)
        up = np.cross(along[i], side)
        angles = 2 * np.pi * np.arange(sides) / sides
        offset = np.outer(np.cos(angles), side) + flat * np.outer(np.sin(angles), up)
        rings.append(points[i] + radii[i] * offset)
    return skin([*rings, rings[0]]) if closed else skin(rings, ends=True)


def ring_of(
    radius: float, thickness: float, axis: str = "x", segments: int = 24, sides: int = 8, wide: float = 1.0
) -> Piece:
    """A torus around an axis, such as a tyre; `wide` stretches it along the axis."""
    angles = [2 * pi * k / sides for k in range(sides)]
    profile = [(radius + thickness * cos(a), wide * thickness * sin(a)) for a in [*angles, angles[0]]]
    return turned_profile(profile, axis, segments)


def disc(radius: float, width: float, axis: str = "x", segments: int = 24, dish: float = 0.0) -> Piece:
    """A coin around an axis, centred; `dish` lets its middle stand out (or in) by as much."""
    h = width / 2
    return turned_profile([(0.0, -h - dish), (radius, -h), (radius, h), (0.0, h + dish)], axis, segments)


def ellipsoid(radii: Point, segments: int = 20, rings: int = 10) -> Piece:
    """A ball stretched along the axes, centred."""
    angles = [pi * (k / rings - 0.5) for k in range(rings + 1)]
    profile = [(max(cos(a), 0.0), sin(a)) for a in angles]
    return turned_profile(profile, "z", segments).scaled(*radii)


def _cells(grid: Points, cells: Sequence[tuple[int, int]]) -> Piece:
    columns = grid.shape[1]
    at = np.array(cells).reshape(-1, 2)
    i, j, k = at[:, 0], at[:, 1], (at[:, 1] + 1) % columns
    a, b, c, d = i * columns + j, i * columns + k, (i + 1) * columns + k, (i + 1) * columns + j
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    used, renamed = np.unique(triangles, return_inverse=True)
    return Piece(grid.reshape(-1, 3)[used], renamed.reshape(-1, 3).astype(np.int32))


def _across(direction: Points) -> Points:
    """Some direction at right angles, as level as can be."""
    other = np.array([0.0, 0.0, 1.0]) if abs(direction[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    across = np.cross(other, direction)
    return np.asarray(across / np.linalg.norm(across))


def _area(ring: Points) -> float:
    x, y = ring[:, 0], ring[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)


def _ears(ring: Points) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """Triangles that fill a simple, counter-clockwise outline."""
    left = list(range(len(ring)))
    triangles: list[tuple[int, int, int]] = []

    def cross(a: int, b: int, c: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = ring[a], ring[b], ring[c]
        return float((bx - ax) * (cy - ay) - (cx - ax) * (by - ay))

    while len(left) > 3:
        for n in range(len(left)):
            a, b, c = left[n - 1], left[n], left[(n + 1) % len(left)]
            if cross(a, b, c) <= 1e-12:
                continue
            if any(
                cross(a, b, p) >= 0 and cross(b, c, p) >= 0 and cross(c, a, p) >= 0 for p in left if p not in (a, b, c)
            ):
                continue
            triangles.append((a, b, c))
            left.pop(n)
            break
        else:
            break  # what is left has no area
    if len(left) == 3:
        triangles.append((left[0], left[1], left[2]))
    return np.array(triangles, np.int32).reshape(-1, 3)
