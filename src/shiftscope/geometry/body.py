"""Body: a mesh placed in the world, with one look per part; and all bodies of an image as one mesh."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..errors import UserError
from ..kernels import Doubles, Floats, Ints, exact
from ..registry import WORLDS, Registry
from ..scene import Object, Scene, Vector
from .camera import check_place
from .mesh import Mesh, unit_circle

SHAPES = Registry("set of shapes", "shiftscope.geometry.shapes")


@dataclass(frozen=True, slots=True)
class SurfaceLook:
    """Colour as 8-bit sRGB, the material that carries it, and a pattern painted over both."""

    color: tuple[int, int, int]
    material: str
    texture: str = "none"


@dataclass(frozen=True, slots=True)
class Body:
    """The mesh scaled, then turned about z, then moved."""

    mesh: Mesh
    position: Vector
    scale: float
    rotation: float  # degrees
    looks: tuple[SurfaceLook, ...]  # one per surface of the mesh

    def __post_init__(self) -> None:
        if len(self.looks) != len(self.mesh.parts):
            raise UserError(f"{self.mesh.name} has {len(self.mesh.parts)} parts but {len(self.looks)} looks")


def bodies_of(scene: Scene) -> tuple[Body, ...]:
    """The meshes of a scene, object by object, built by `shapes/SCHEMA.py` or the world named like the schema."""
    build = _load_builder(scene.schema.name)
    for o in scene.objects:
        check_place((*(o.position or ()), o.rotation or 0.0), "an object", scene)
    return tuple([build(o) for o in scene.objects])


@cache
def _load_builder(name: str) -> Callable[[Object], Body]:
    build: Callable[[Object], Body]
    if name in SHAPES.names():
        build = SHAPES.load(name).body
    elif name in WORLDS.names():  # a plugin's world of that vocabulary
        build = WORLDS.load(name).WORLD.body
    else:
        drawn = ", ".join(SHAPES.names())
        raise UserError(
            f"no set of shapes {name!r}, the vocabulary of this scene; only solids of {drawn} can be drawn so far"
        )
    return build


@dataclass(frozen=True, slots=True, eq=False)
class SceneMesh:
    """All triangles of an image. A *surface* is one part of one body: what carries one look."""

    vertices: Doubles  # [vertex, xyz]
    normals: Floats  # [vertex, xyz]
    triangles: Ints  # [triangle, corner]
    surface_of: Ints  # [triangle]
    body_of: Ints  # [surface]
    bodies: tuple[Body, ...]
    looks: tuple[SurfaceLook, ...]  # [surface]


def build_scene_mesh(bodies: Sequence[Body]) -> SceneMesh:
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
        last = face + len(mesh.triangles)
        triangles[face:last] = mesh.triangles + np.int32(point)
        surface_of[face:last] = mesh.part_of + np.int32(surface)
        point, face, surface = point + len(mesh.vertices), last, surface + len(mesh.parts)
    body_of = np.repeat(np.arange(len(bodies), dtype=np.int32), [len(b.mesh.parts) for b in bodies])
    looks = tuple(look for b in bodies for look in b.looks)
    return SceneMesh(vertices, normals, triangles, surface_of, body_of, tuple(bodies), looks)


@exact
def _place_points(
    vertices: Doubles, normals: Doubles,
    pose: Doubles,  # position, scale, cosine, sine
    first: int, out_vertices: Doubles, out_normals: Floats,
) -> None:  # fmt: skip
    px, py, pz, scale, c, s = pose
    for i in range(len(vertices)):
        x, y = vertices[i, 0] * scale, vertices[i, 1] * scale
        out_vertices[first + i, 0] = px + (x * c - y * s)
        out_vertices[first + i, 1] = py + (x * s + y * c)
        out_vertices[first + i, 2] = pz + vertices[i, 2] * scale
        out_normals[first + i, 0] = normals[i, 0] * c - normals[i, 1] * s
        out_normals[first + i, 1] = normals[i, 0] * s + normals[i, 1] * c
        out_normals[first + i, 2] = normals[i, 2]
