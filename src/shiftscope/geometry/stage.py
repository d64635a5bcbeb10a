"""Stage: the bodies of one image as flat arrays, in world units, ready for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import exact
from .angle import unit_circle
from .body import Body, Look


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """All triangles of an image. A *surface* is one part of one body: what carries one look."""

    vertices: npt.NDArray[np.float64]  # [vertex, xyz]
    normals: npt.NDArray[np.float32]  # [vertex, xyz]
    triangles: npt.NDArray[np.int32]  # [triangle, corner]
    surface_of: npt.NDArray[np.int32]  # [triangle]
    body_of: npt.NDArray[np.int32]  # [surface]
    bodies: tuple[Body, ...]
    looks: tuple[Look, ...]  # [surface]


def stage_of(bodies: Sequence[Body]) -> Stage:
    """Every body placed, in order."""
    points = sum(len(b.mesh.vertices) for b in bodies)
    faces = sum(len(b.mesh.triangles) for b in bodies)
    vertices = np.empty((points, 3))
    normals = np.empty((points, 3), np.float32)
    triangles = np.empty((faces, 3), np.int32)
    surface_of = np.empty(faces, np.int32)
    point = face = surface = 0
    for body in bodies:
        mesh = body.mesh
        pose = np.array([*body.position, body.scale, *unit_circle(body.rotation)])
        _place_points(mesh.vertices, mesh.normals, pose, point, vertices, normals)
        _place_faces(mesh.triangles, mesh.part_rows, point, surface, face, triangles, surface_of)
        point += len(mesh.vertices)
        face += len(mesh.triangles)
        surface += len(mesh.parts)
    body_of = np.repeat(np.arange(len(bodies), dtype=np.int32), [len(b.mesh.parts) for b in bodies])
    looks = tuple(look for b in bodies for look in b.looks)
    return Stage(vertices, normals, triangles, surface_of, body_of, tuple(bodies), looks)


@exact
def _place_points(
    vertices: npt.NDArray[np.float64],
    normals: npt.NDArray[np.float64],
    pose: npt.NDArray[np.float64],  # position, scale, cosine, sine
    first: int,
    out_vertices: npt.NDArray[np.float64],
    out_normals: npt.NDArray[np.float32],
) -> None:
    px, py, pz, scale, c, s = pose
    for i in range(len(vertices)):
        x, y = vertices[i, 0] * scale, vertices[i, 1] * scale
        out_vertices[first + i, 0] = px + (x * c - y * s)
        out_vertices[first + i, 1] = py + (x * s + y * c)
        out_vertices[first + i, 2] = pz + vertices[i, 2] * scale
        out_normals[first + i, 0] = normals[i, 0] * c - normals[i, 1] * s
        out_normals[first + i, 1] = normals[i, 0] * s + normals[i, 1] * c
        out_normals[first + i, 2] = normals[i, 2]


@exact
def _place_faces(
    triangles: npt.NDArray[np.int32],
    part_of: npt.NDArray[np.int32],
    point: int,
    surface: int,
    first: int,
    out_triangles: npt.NDArray[np.int32],
    out_surface: npt.NDArray[np.int32],
) -> None:
    for t in range(len(triangles)):
        for k in range(3):
            out_triangles[first + t, k] = triangles[t, k] + point
        out_surface[first + t] = part_of[t] + surface
