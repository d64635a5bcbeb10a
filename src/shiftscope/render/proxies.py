"""Proxies: each body as a few balls, upright cylinders or turned boxes, simple enough to intersect with rays.

For reflections and rough light, never for masks. What is not a plain solid is a few boxes, tight
where it is thin or winged.
"""

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from math import pi
from typing import NamedTuple

import numpy as np

from ..geometry.mesh import Body, Mesh, unit_circle
from ..kernels import Doubles, Floats, Ints, Longs, exact
from .surface import find_look_rows

MOST_BOXES = 5  # boxes
GAIN = 0.06  # of the volume of the box around it all: what cutting one box in two must save
THIN = 0.01  # least thickness of a box, in the mesh's units
POINTS = 3000  # that a mesh is sampled at, about
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of a box's side: where a cut is tried


class MeshBoxes(NamedTuple):
    """Boxes in the mesh's own frame, largest share of the surface first."""

    middles: Doubles  # [block, xyz]
    halves: Doubles  # [block, xyz], half the sides
    solid: Doubles  # [block], how much of what shines across its widest side is stopped, from 0 to 1
    areas: Doubles  # [block, surface], what each surface has in it
    sums: Doubles  # [block, 1], of the areas


@cache
def fit_boxes(mesh: Mesh) -> MeshBoxes:
    """Cut the box around the mesh, again and again, where that leaves the least air."""
    points, normals, areas, surface = _sample_surface(mesh)
    boxes, cuts = [np.arange(len(points))], [_find_best_cut(points)]
    low, high = _bound_points(points)
    whole = float(np.prod(np.maximum(high - low, THIN)))
    while len(boxes) < MOST_BOXES:
        (gain, axis, at), k = max((cut, k) for k, cut in enumerate(cuts))
        if gain < GAIN * whole:
            break
        below = points[boxes[k], axis] < at
        boxes[k : k + 1] = [boxes[k][below], boxes[k][~below]]
        cuts[k : k + 1] = [_find_best_cut(points.take(box, 0)) for box in boxes[k : k + 2]]
    boxes.sort(key=lambda box: -float(areas[box].sum()))
    low, high = map(np.array, zip(*(_bound_points(points.take(box, 0)) for box in boxes), strict=True))
    halves = np.maximum(high - low, THIN) / 2
    solid, shares = [], []
    for box, half in zip(boxes, halves, strict=True):
        axis = int(np.argmin(half))
        face = 4 * np.prod(half) / half[axis]
        solid.append(min(1.0, float(np.sum(areas[box] * np.abs(normals[box, axis])) / 2 / face)))
        shares.append(np.bincount(surface[box], areas[box], len(mesh.parts)))
    areas = np.array(shares)
    return MeshBoxes((low + high) / 2, halves, np.array(solid), areas, areas.sum(1, keepdims=True))


def _bound_points(points: Doubles) -> tuple[Doubles, Doubles]:
    """The lowest and highest corner; NumPy goes through three long rows ten times faster than through many short."""
    rows = np.ascontiguousarray(points.T)
    return rows.min(1), rows.max(1)


def _sample_surface(mesh: Mesh) -> tuple[Doubles, Doubles, Doubles, Ints]:
    """Points spread evenly over the surface, with the normal, the area and the surface each stands for."""
    a, b, c = (mesh.vertices.take(mesh.triangles[:, k], 0) for k in range(3))
    across = np.cross(b - a, c - a)
    size = np.maximum(np.linalg.norm(across, axis=1), 1e-12)
    counts = np.maximum(np.ceil(POINTS * size / size.sum()), 1).astype(np.int64)
    t = np.repeat(np.arange(len(counts)), counts)
    k = np.arange(len(t)) - np.repeat(np.cumsum(counts) - counts, counts)
    # a plane's best-known even sequence, folded into the triangle
    u, v = (k * 0.7548776662466927 + 0.5) % 1.0, (k * 0.5698402909980532 + 0.5) % 1.0
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    u, v = np.where(counts[t] == 1, 1 / 3, u)[:, None], np.where(counts[t] == 1, 1 / 3, v)[:, None]
    points = a.take(t, 0) + u * (b - a).take(t, 0) + v * (c - a).take(t, 0)
    return points, (across / size[:, None]).take(t, 0), (size / 2 / counts)[t], mesh.part_of[t]


@exact
def _find_best_cut(points: Doubles) -> tuple[float, int, float]:
    """The volume saved, the axis and the place of the best of some cuts."""
    cuts = len(SHARES)
    bands = np.empty((cuts + 1, 2, 3))  # between two cuts; its lowest and highest
    best, best_axis, best_at = 0.0, 0, 0.0
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(len(points)):
        for k in range(3):
            low[k], high[k] = min(low[k], points[i, k]), max(high[k], points[i, k])
    whole = 1.0
    for k in range(3):
        whole *= max(high[k] - low[k], THIN)
    for axis in range(3):
        ats = [low[axis] + share * (high[axis] - low[axis]) for share in SHARES]
        bands[:, 0], bands[:, 1] = np.inf, -np.inf
        for i in range(len(points)):
            above = 0  # cuts that the point lies above
            while above < cuts and points[i, axis] >= ats[above]:
                above += 1
            for k in range(3):
                bands[above, 0, k] = min(bands[above, 0, k], points[i, k])
                bands[above, 1, k] = max(bands[above, 1, k], points[i, k])
        for cut, at in enumerate(ats):
            saved = whole
            for first, last in ((0, cut + 1), (cut + 1, cuts + 1)):
                part, some = 1.0, False
                for k in range(3):
                    least, most = np.inf, -np.inf
                    for band in range(first, last):
                        least, most = min(least, bands[band, 0, k]), max(most, bands[band, 1, k])
                    part *= max(most - least, THIN)
                    some = least < np.inf
                saved -= part if some else 0.0
            if saved > best or (saved == best and (axis, at) > (best_axis, best_at)):
                best, best_axis, best_at = saved, axis, at
    return best, best_axis, best_at


KINDS = {"sphere": 0.0, "cylinder": 1.0, "cube": 2.0}  # solids that stand in for themselves
BOX, MANY = 2.0, 3.0  # one box, and a body made of several blocks
SHOWN = 0.25  # what is less solid than this, metal does not mirror
REACH = 3.5  # radii of a ball: how far it darkens the ground so that one could see it
LONG = 1.6  # a box this many times longer than wide darkens the ground as several


class ProxyShapes(NamedTuple):
    """As kernels take them; colours are linear."""

    bodies: Floats  # [body, kind centre(3) half-sides(3) cosine sine color(3) ball]; `ball`: the squared
    # radius of the ball around it; the third half-side is also that of a ball that hides as much sky
    blocks: Floats  # [block, the same 13 numbers, how solid it is], body after body: what metal mirrors
    first: Longs  # [body + 1], where the blocks of a body begin
    lumps: Floats  # [lump, centre(3) squared-radius color(3) reach], body after body: what darkens the ground
    lump_counts: Longs  # [body], how many lumps it is


def build_proxies(bodies: Sequence[Body]) -> ProxyShapes:
    """Solids stand in for themselves, all else for itself by its blocks."""
    made = [
        (_solid_proxies if solid else _box_proxies)(list(some))
        for solid, some in groupby(bodies, lambda body: body.mesh.name in KINDS)
    ]
    rows, blocks, lumps = (
        np.concatenate([np.empty((0, width), np.float32), *(one[k] for one in made)])
        for k, width in enumerate((13, 14, 8))
    )
    counts, heaps = (np.concatenate([np.empty(0, np.int64), *(one[k] for one in made)]) for k in (3, 4))
    return ProxyShapes(rows, blocks, np.cumsum(np.append(0, counts)), lumps, heaps)


# Rows of bodies, of their blocks, of lumps; and how many blocks and lumps each body is.
BodyProxies = tuple[Floats, Floats, Floats, Longs, Longs]


def _solid_proxies(bodies: Sequence[Body]) -> BodyProxies:
    poses = pack_poses(bodies)
    whole = _bound_bodies(bodies, poses)
    kinds = np.array([KINDS[body.mesh.name] for body in bodies])
    middles, halves = whole[:, 0], whole[:, 1]
    ball = np.where(kinds == KINDS["sphere"], halves[:, 2] * halves[:, 2], (halves * halves).sum(1))
    centres, colors = _to_world(poses, middles), find_look_rows(bodies)[:, :3]
    rows = np.column_stack([kinds, centres, halves, poses[:, 4:], colors, ball]).astype(np.float32)
    square = rows[:, 6] * rows[:, 6]
    lumps = np.column_stack([centres, square, colors, REACH * halves.max(1)]).astype(np.float32)
    ones = np.ones(len(rows), np.int64)
    return rows, np.column_stack([rows, ones]).astype(np.float32), lumps, ones, ones


def _box_proxies(bodies: Sequence[Body]) -> BodyProxies:
    fitted = [fit_boxes(body.mesh) for body in bodies]
    counts = np.array([len(boxes.solid) for boxes in fitted])
    whose = np.repeat(np.arange(len(bodies)), counts)
    poses = pack_poses(bodies)
    middles, halves = (
        np.concatenate([getattr(boxes, name) for boxes in fitted]) * poses[whose, 3:4] for name in ("middles", "halves")
    )
    solid = np.concatenate([boxes.solid for boxes in fitted])
    colors = np.split(np.ascontiguousarray(find_look_rows(bodies)[:, :3]), np.cumsum([len(b.looks) for b in bodies]))
    paint = np.concatenate([boxes.areas @ own / boxes.sums for boxes, own in zip(fitted, colors, strict=False)])
    hx, hy, hz = halves.T
    # what metal mirrors
    shown = solid >= SHOWN
    ball = hx * hx + hy * hy + hz * hz
    turns = poses[whose, 4:]
    blocks = np.column_stack(
        [np.full(len(solid), BOX), _to_world(poses[whose], middles), halves, turns, paint, ball, solid]
    )[shown]
    # what darkens the ground
    many = np.maximum(1, np.rint(np.maximum(hx, hy) / np.minimum(hx, hy) / LONG)).astype(np.int64)
    square = solid * 4 * hx * hy / many / pi
    of = np.repeat(np.arange(len(many)), many)
    k = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
    shift = (2 * k + 1) / many[of] - 1
    heaps = middles[of]
    heaps[:, 0] += shift * hx[of] * (hx > hy)[of]
    heaps[:, 1] += shift * hy[of] * (hx <= hy)[of]
    lumps = np.column_stack([_to_world(poses[whose[of]], heaps), square[of], paint[of], REACH * np.sqrt(square[of])])
    # each as a whole
    sky = np.bincount(whose, solid * (hx * hy + hy * hz + hz * hx) * 2 / pi)
    whole = _bound_bodies(bodies, poses)
    (wx, wy, wz), first = whole[:, 1].T, np.cumsum(counts) - counts
    rows = np.column_stack(
        [
            *(np.full(len(bodies), MANY), _to_world(poses, whole[:, 0]), wx, wy, np.sqrt(sky), poses[:, 4:]),
            *(paint[first], wx * wx + wy * wy + wz * wz),
        ]
    )
    in_blocks, in_lumps = (np.bincount(kept, minlength=len(bodies)) for kept in (whose[shown], whose[of]))
    return rows.astype(np.float32), blocks.astype(np.float32), lumps.astype(np.float32), in_blocks, in_lumps


def pack_poses(bodies: Sequence[Body]) -> Doubles:
    """[body, position(3) scale cosine sine]."""
    poses = [(*b.position, b.scale, *unit_circle(b.rotation)) for b in bodies]
    return np.array(poses, np.float64).reshape(-1, 6)


def _to_world(poses: Doubles, points: Doubles) -> Doubles:
    """Points of meshes, already scaled, in the world; a pose for each."""
    x, y, z = points.T
    cosine, sine = poses[:, 4], poses[:, 5]
    return np.column_stack([poses[:, 0] + x * cosine - y * sine, poses[:, 1] + x * sine + y * cosine, poses[:, 2] + z])


def _bound_bodies(bodies: Sequence[Body], poses: Doubles) -> Doubles:
    """[body, middle half, xyz] of the box around each mesh, scaled."""
    return np.array([_bounding_box(body.mesh) for body in bodies]) * poses[:, 3, None, None]


@cache
def _bounding_box(mesh: Mesh) -> tuple[Doubles, Doubles]:
    """The middle and half the sides of the box around a mesh."""
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    return (high + low) / 2, (high - low) / 2
