"""Blocks: a mesh told by a few boxes, tight where it is thin or winged. For rough light, never for masks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from .mesh import Mesh

MOST = 5  # boxes
GAIN = 0.06  # of the volume of the box around it all: what cutting one box in two must save
THIN = 0.01  # least thickness of a box, in the mesh's units
POINTS = 3000  # that a mesh is sampled at, about
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of a box's side: where a cut is tried

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Boxes in the mesh's own frame, largest share of the surface first."""

    middles: Floats  # [block, xyz]
    halves: Floats  # [block, xyz], half the sides
    solid: Floats  # [block], how much of what shines across its widest side is stopped, from 0 to 1
    areas: Floats  # [block, surface], what each surface has in it


@cache
def blocks_of(mesh: Mesh) -> Blocks:
    """Cut the box around the mesh, again and again, where that leaves the least air."""
    points, normals, areas, surface = _sampled(mesh)
    boxes = [np.arange(len(points))]
    whole = _volume(points)
    while len(boxes) < MOST:
        cuts = [(*_best_cut(points[box]), k) for k, box in enumerate(boxes)]
        gain, axis, at, k = max(cuts)
        if gain < GAIN * whole:
            break
        low = points[boxes[k], axis] < at
        boxes[k : k + 1] = [boxes[k][low], boxes[k][~low]]
    boxes.sort(key=lambda box: -float(areas[box].sum()))
    low, high = (np.array([side(points[box], axis=0) for box in boxes]) for side in (np.min, np.max))
    halves = np.maximum(high - low, THIN) / 2
    solid, shares = [], []
    for box, half in zip(boxes, halves, strict=True):
        axis = int(np.argmin(half))
        face = 4 * np.prod(half) / half[axis]
        solid.append(min(1.0, float(np.sum(areas[box] * np.abs(normals[box, axis])) / 2 / face)))
        shares.append(np.bincount(surface[box], areas[box], len(mesh.parts)))
    return Blocks((low + high) / 2, halves, np.array(solid), np.array(shares))


@cache
def girth(mesh: Mesh) -> float:
    """Volume over surface, in the mesh's units: small for what is made of tubes and sheets."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    return float(np.abs(np.sum(a * np.cross(b, c)) / 6) / area)


def _sampled(mesh: Mesh) -> tuple[Floats, Floats, Floats, npt.NDArray[np.int32]]:
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
    return points, (across / size[:, None])[t], (size / 2 / counts)[t], mesh.part_rows[t]


def _volume(points: Floats) -> float:
    return _box_volume(points.min(0), points.max(0))


def _box_volume(low: Floats, high: Floats) -> float:
    return float(np.prod(np.maximum(high - low, THIN)))


def _best_cut(points: Floats) -> tuple[float, int, float]:
    """The volume saved, the axis and the place of the best of some cuts."""
    low, high = points.min(0), points.max(0)
    whole, best = _volume(points), (0.0, 0, 0.0)
    for axis in range(3):
        row = points[np.argsort(points[:, axis])]
        places = [float(low[axis] + share * (high[axis] - low[axis])) for share in SHARES]
        below = np.searchsorted(row[:, axis], places).tolist()  # how many lie there
        left = np.minimum.accumulate(row), np.maximum.accumulate(row)  # around the first 1, 2, … points
        right = np.minimum.accumulate(row[::-1])[::-1], np.maximum.accumulate(row[::-1])[::-1]
        for at, n in zip(places, below, strict=True):
            first = _box_volume(left[0][n - 1], left[1][n - 1]) if n else 0.0
            rest = _box_volume(right[0][n], right[1][n]) if n < len(row) else 0.0
            best = max(best, (whole - first - rest, axis, at))
    return best
