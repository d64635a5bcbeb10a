"""What is to be shaded: one point for a pixel that sees one smooth surface, up to four at edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import fast
from ..geometry.body import Look
from ..geometry.stage import Stage
from ..geometry.visibility import NEARNESS, Buffer

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


FACET = 7  # numbers that gathering knows of a triangle
EDGE = 0.98  # two facets whose normals have a smaller cosine make an edge, where they are metal
SOFT_EDGE = 0.9  # the same for what is dull
BEND = 0.99  # a metal triangle whose mean normal is shorter than this, squared, bends sharply
FINE_BEND = 0.93  # the same on a body of many surfaces, whose triangles are small


def traits_of(stage: Stage) -> Floats:
    """[surface, group edge bend fine]: what is one group looks the same; `edge` and `bend` as above.

    A dull solid without parts has no edges that want smoothing. Samples of a *fine* body are joined where
    they see nearly the same: it has many edges, and each point costs.
    """
    groups: dict[tuple[int, Look], int] = {}
    rows = []
    for body, look in zip(stage.body_of.tolist(), stage.looks, strict=True):
        group = groups.setdefault((body, look), len(groups))
        fine = len(stage.bodies[body].mesh.parts) > 1
        metal = look.material == "metal"
        edge = EDGE if metal else SOFT_EDGE if fine else 0.0
        rows.append((group, edge, (FINE_BEND if fine else BEND) if metal else 0.0, fine))
    return np.array(rows, np.float32).reshape(-1, 4)


@fast
def facets_of(normals: Floats, triangles: Ints, surface_of: Ints, traits: Floats, out: Floats) -> None:
    """Each triangle's mean normal (not quite a unit vector), its group, its edge, whether it bends sharply
    (only there could a highlight fall between samples), and whether it is fine."""
    zero, one = np.float32(0.0), np.float32(1.0)
    for t in range(len(triangles)):
        for k in range(3):
            total = normals[triangles[t, 0], k] + normals[triangles[t, 1], k] + normals[triangles[t, 2], k]
            out[t, k] = total * np.float32(1 / 3)
        s = surface_of[t]
        length = out[t, 0] * out[t, 0] + out[t, 1] * out[t, 1] + out[t, 2] * out[t, 2]
        out[t, 3], out[t, 4], out[t, 6] = traits[s, 0], traits[s, 1], traits[s, 3]
        out[t, 5] = one if length < traits[s, 2] else zero


@fast
def gather(
    buffer: Buffer,
    samples: npt.NDArray[np.int64],
    top: int,  # the image's row that the buffer begins with
    facets: Floats,  # [triangle, normal(3) group edge bend fine]
    pixel: Ints,
    triangle: Ints,
    weight: Floats,
    places: Floats,  # [xy depth, point]
    bare: Floats,  # [rows, width], how much of each pixel is ground
) -> int:
    """Fill the lists for a band of rows, whose pixels count from 0, and return how many points there are."""
    height, width = bare.shape
    count = len(samples)
    share, zero, one = np.float32(1.0 / count), np.float32(0.0), np.float32(1.0)
    n = 0
    some = np.empty(width, np.int64)
    for y in range(height):
        some[:] = buffer[y * count]
        for k in range(1, count):
            below = buffer[y * count + k]
            for x in range(width):
                some[x] |= below[x]
        for x in range(width):
            if some[x] == 0:
                bare[y, x] = one
                continue
            first = buffer[y * count, x]
            empty = 0
            mixed = first == 0 or facets[first & 0xFFFFFFFF, 5] != zero
            for k in range(count):
                cell = buffer[y * count + k, x]
                if cell == 0:
                    empty += 1
                    mixed = True
                elif not mixed and cell & 0xFFFFFFFF != first & 0xFFFFFFFF:
                    mixed = not _alike(facets, cell & 0xFFFFFFFF, first & 0xFFFFFFFF)
            bare[y, x] = np.float32(empty) * share
            begin = n
            for k in range(count if mixed else 1):
                cell = buffer[y * count + k, x]
                if cell == 0:
                    continue
                t = cell & 0xFFFFFFFF
                joined = False
                if mixed and facets[t, 6] != zero and facets[t, 5] == zero:
                    for j in range(begin, n):
                        if not joined and (triangle[j] == t or _alike(facets, t, triangle[j])):
                            weight[j] += share
                            joined = True
                if joined:
                    continue
                pixel[n] = y * width + x
                triangle[n] = t
                weight[n] = share if mixed else one
                places[0, n] = np.float32(x) + np.float32(samples[k, 0]) * np.float32(1 / 256)
                places[1, n] = np.float32(top + y) + np.float32(samples[k, 1]) * np.float32(1 / 256)
                places[2, n] = np.float32(NEARNESS) / np.float32(cell >> 32)
                n += 1
    return n


@fast
def _alike(facets: Floats, s: int, t: int) -> bool:
    """Whether two facets look the same, and no edge lies between them."""
    if facets[s, 3] != facets[t, 3]:
        return False
    if facets[s, 4] == np.float32(0.0):
        return True
    dot = facets[s, 0] * facets[t, 0] + facets[s, 1] * facets[t, 1] + facets[s, 2] * facets[t, 2]
    return bool(dot >= facets[s, 4])


@fast
def locate(
    count: int,
    camera: npt.NDArray[np.float64],
    vertices: npt.NDArray[np.float64],
    normals: Floats,
    triangles: Ints,
    triangle: Ints,
    places: Floats,
    points: Floats,  # [position normal, point]
) -> None:
    """World positions, and normals interpolated over the triangle."""
    zero, one = np.float32(0.0), np.float32(1.0)
    view = camera.astype(np.float32)
    for i in range(count):
        depth, t = places[2, i], triangle[i]
        u = (places[0, i] - view[13]) / view[12] * depth
        v = (view[14] - places[1, i]) / view[12] * depth
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        # shares of the three corners, by least squares along two edges e and f
        ee = ef = ff = de = df = zero
        for k in range(3):
            place = view[k] + u * view[3 + k] + v * view[6 + k] - depth * view[9 + k]
            points[k, i] = place
            corner = np.float32(vertices[a, k])
            e, f, d = np.float32(vertices[b, k]) - corner, np.float32(vertices[c, k]) - corner, place - corner
            ee, ef, ff = ee + e * e, ef + e * f, ff + f * f
            de, df = de + d * e, df + d * f
        scale = one / (ee * ff - ef * ef)
        of_b = min(max((ff * de - ef * df) * scale, zero), one)
        of_c = min(max((ee * df - ef * de) * scale, zero), one)
        square = zero
        for k in range(3):
            normal = (one - of_b - of_c) * normals[a, k] + of_b * normals[b, k] + of_c * normals[c, k]
            points[3 + k, i] = normal
            square += normal * normal
        size = one / np.sqrt(square)
        for k in range(3):
            points[3 + k, i] *= size
