"""Meshes put before a camera, for tests of what is seen of them."""

from functools import cache

import numpy as np

from shiftscope.geometry.camera import BASE_POSITION, Camera
from shiftscope.geometry.mesh import Body, Mesh, SceneMesh, SurfaceLook, build_scene_mesh
from shiftscope.geometry.visibility import CENTRE, draw_buffer
from tools.vehicles.models import models

CAMERA = Camera(BASE_POSITION)


@cache
def built(name: str) -> Mesh:
    """A vehicle made by its builder, not as it is stored."""
    return models()[name].mesh(name)


def placed(mesh: Mesh, turn: float, size: float = 3.5, at: tuple[float, float] = (0.0, 0.0)) -> SceneMesh:
    """The mesh alone, standing on the ground."""
    looks = tuple(SurfaceLook((90, 90, 90), "rubber") for _ in mesh.parts)
    return build_scene_mesh([Body(mesh, (*at, -size * float(mesh.vertices[:, 2].min())), size, turn, looks)])


def looked_into(mesh: Mesh, turn: float) -> int:
    """Pixels where a triangle that is turned away lies before all that face the camera."""
    count = len(mesh.triangles)
    both = np.concatenate([mesh.triangles, mesh.triangles[:, ::-1]])
    doubled = Mesh(mesh.name, mesh.vertices, mesh.normals, both, mesh.parts, np.tile(mesh.part_of, 2))
    fronts, all_faces = (draw_buffer(placed(m, turn), CAMERA, (240, 160), CENTRE) for m in (mesh, doubled))
    behind = (all_faces & 0xFFFFFFFF) >= count
    return int(np.sum(behind & (all_faces >> 32 > 1.0005 * (fronts >> 32))))
