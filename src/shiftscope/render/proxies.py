"""Proxies: each body as a few balls, upright cylinders or turned boxes, simple enough to intersect with rays.

For reflections and rough light, never for masks. What is not a plain solid is a few boxes, tight
where it is thin or winged.
"""

from collections.abc import Sequence
from functools import cache
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from ..geometry.mesh import Body, Mesh, number_looks, unit_circle, volume
from ..kernels import Doubles, Floats, Ints, Longs, exact
from ..scene import Vector
from .image import srgb_to_linear

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


@cache
def fit_boxes(mesh: Mesh) -> MeshBoxes:
    """Cut the box around the mesh, again and again, where that leaves the least air."""
    points, normals, areas, surface = _sample_surface(mesh)
    boxes, cuts = [np.arange(len(points))], [_find_best_cut(points)]
    whole = float(np.prod(np.maximum(points.max(0) - points.min(0), THIN)))
    while len(boxes) < MOST_BOXES:
        (gain, axis, at), k = max((cut, k) for k, cut in enumerate(cuts))
        if gain < GAIN * whole:
            break
        low = points[boxes[k], axis] < at
        boxes[k : k + 1] = [boxes[k][low], boxes[k][~low]]
        cuts[k : k + 1] = [_find_best_cut(points[box]) for box in boxes[k : k + 2]]
    boxes.sort(key=lambda box: -float(areas[box].sum()))
    low, high = (np.array([side(points[box], axis=0) for box in boxes]) for side in (np.min, np.max))
    halves = np.maximum(high - low, THIN) / 2
    solid, shares = [], []
    for box, half in zip(boxes, halves, strict=True):
        axis = int(np.argmin(half))
        face = 4 * np.prod(half) / half[axis]
        solid.append(min(1.0, float(np.sum(areas[box] * np.abs(normals[box, axis])) / 2 / face)))
        shares.append(np.bincount(surface[box], areas[box], len(mesh.parts)))
    return MeshBoxes((low + high) / 2, halves, np.array(solid), np.array(shares))


@cache
def mean_thickness(mesh: Mesh) -> float:
    """Volume over surface, in the mesh's units: small for what is made of tubes and sheets."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return float(abs(volume(mesh)) / (np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2))


def _sample_surface(mesh: Mesh) -> tuple[Doubles, Doubles, Doubles, Ints]:
    """Points spread evenly over the surface, with the normal, the area and the surface each stands for."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    size = np.maximum(np.linalg.norm(across, axis=1), 1e-12)
    counts = np.maximum(np.ceil(POINTS * size / size.sum()), 1).astype(np.int64)
    t = np.repeat(np.arange(len(counts)), counts)
    k = np.arange(len(t)) - np.repeat(np.cumsum(counts) - counts, counts)
    # a plane's best-known even sequence, folded into the triangle
    u, v = (k * 0.7548776662466927 + 0.5) % 1.0, (k * 0.5698402909980532 + 0.5) % 1.0
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    u, v = np.where(counts[t] == 1, 1 / 3, u)[:, None], np.where(counts[t] == 1, 1 / 3, v)[:, None]
    points = a[t] + u * (b - a)[t] + v * (c - a)[t]
    return points, (across / size[:, None])[t], (size / 2 / counts)[t], mesh.part_of[t]


@exact
def _find_best_cut(points: Doubles) -> tuple[float, int, float]:
    """The volume saved, the axis and the place of the best of some cuts."""
    sides = np.empty((2, 2, 3))  # of a cut; its lowest and highest
    best, best_axis, best_at = 0.0, 0, 0.0
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(len(points)):
        for k in range(3):
            low[k], high[k] = min(low[k], points[i, k]), max(high[k], points[i, k])
    whole = 1.0
    for k in range(3):
        whole *= max(high[k] - low[k], THIN)
    for axis in range(3):
        for share in SHARES:
            at = low[axis] + share * (high[axis] - low[axis])
            sides[:, 0], sides[:, 1] = np.inf, -np.inf
            for i in range(len(points)):
                side = sides[1 if points[i, axis] >= at else 0]
                for k in range(3):
                    side[0, k], side[1, k] = min(side[0, k], points[i, k]), max(side[1, k], points[i, k])
            saved = whole
            for s in range(2):
                part = 1.0
                for k in range(3):
                    part *= max(sides[s, 1, k] - sides[s, 0, k], THIN)
                saved -= part if sides[s, 0, 0] < np.inf else 0.0
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
    lumps: Floats  # [lump, centre(3) squared-radius color(3) reach]: what darkens the ground


Row = tuple[float, ...]
BodyProxies = tuple[Row, list[Row], list[Row]]  # the row of a body, those of its blocks, and its lumps


def build_proxies(bodies: tuple[Body, ...]) -> ProxyShapes:
    """Solids stand in for themselves, all else for itself by its blocks."""
    rows: list[Row] = []
    blocks: list[Row] = []
    lumps: list[Row] = []
    first = [0]
    for body in bodies:
        row, own, heaps = _solid_proxy(body) if body.mesh.name in KINDS else _box_proxies(body, fit_boxes(body.mesh))
        rows.append(row)
        blocks += own
        lumps += heaps
        first.append(len(blocks))
    return ProxyShapes(
        np.array(rows, np.float32).reshape(-1, 13),
        np.array(blocks, np.float32).reshape(-1, 14),
        np.array(first, np.int64),
        np.array(lumps, np.float32).reshape(-1, 8),
    )


def _solid_proxy(body: Body) -> BodyProxies:
    middle, half = (v * body.scale for v in _bounding_box(body.mesh))
    kind = KINDS[body.mesh.name]
    ball = half[2] * half[2] if kind == KINDS["sphere"] else float(np.sum(half * half))
    turn = unit_circle(body.rotation)
    row = (kind, *_to_world(body, turn, middle.tolist()), *half, *turn, *srgb_to_linear(body.looks[0].color), ball)
    square = float(np.float32(row[6])) ** 2
    return row, [(*row, 1.0)], [(*row[1:4], square, *row[9:12], REACH * max(row[4:7]))]


def _box_proxies(body: Body, blocks: MeshBoxes) -> BodyProxies:
    looks, which = number_looks(body)
    colors = np.array([srgb_to_linear(look.color) for look in looks])[which]
    paint = (blocks.areas @ colors / blocks.areas.sum(1, keepdims=True)).tolist()
    turn = unit_circle(body.rotation)
    own, lumps = [], []
    sky = 0.0
    middles, halves = ((v * body.scale).tolist() for v in (blocks.middles, blocks.halves))
    for middle, (hx, hy, hz), solid, color in zip(middles, halves, blocks.solid.tolist(), paint, strict=True):
        sky += solid * (hx * hy + hy * hz + hz * hx) * 2 / pi
        if solid >= SHOWN:
            ball = hx * hx + hy * hy + hz * hz
            own.append((BOX, *_to_world(body, turn, middle), hx, hy, hz, *turn, *color, ball, solid))
        many = max(1, round(max(hx, hy) / min(hx, hy) / LONG))
        square = solid * 4 * hx * hy / many / pi
        for k in range(many):
            shift = (2 * k + 1) / many - 1
            heap = (middle[0] + shift * hx * (hx > hy), middle[1] + shift * hy * (hx <= hy), middle[2])
            lumps.append((*_to_world(body, turn, heap), square, *color, REACH * sqrt(square)))
    middle, (hx, hy, hz) = ((v * body.scale).tolist() for v in _bounding_box(body.mesh))
    ball = hx * hx + hy * hy + hz * hz
    row = (MANY, *_to_world(body, turn, middle), hx, hy, sqrt(sky), *turn, *paint[0], ball)
    return row, own, lumps


def _to_world(body: Body, turn: tuple[float, float], middle: Sequence[float]) -> Vector:
    """A point of the mesh, already scaled, in the world."""
    cosine, sine = turn
    return (
        body.position[0] + middle[0] * cosine - middle[1] * sine,
        body.position[1] + middle[0] * sine + middle[1] * cosine,
        body.position[2] + middle[2],
    )


@cache
def _bounding_box(mesh: Mesh) -> tuple[Doubles, Doubles]:
    """The middle and half the sides of the box around a mesh."""
    low, high = mesh.vertices.min(0), mesh.vertices.max(0)
    return (high + low) / 2, (high - low) / 2
