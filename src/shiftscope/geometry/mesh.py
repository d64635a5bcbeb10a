"""Mesh: triangles with smooth normals, each of a named part; Body: a mesh placed in the world, with one look per part.

Libraries of mathematics differ in the last place of a sine; a scene is accepted by counting pixels, so ours
(`unit_circle`) uses nothing but additions and multiplications.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from math import fmod
from threading import Lock

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..kernels import Doubles, Floats, Ints, exact
from ..registry import WORLDS, Registry
from ..scene import Object, Scene, Vector
from .camera import check_place


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


_RADIANS = 0.017453292519943295
# Taylor coefficients; on ±45° the first term left out is below 1e-17
_SIN = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800, -1 / 1307674368000)
_COS = (1.0, -1 / 2, 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800, 1 / 479001600, -1 / 87178291200)
_REST = tuple(zip(_SIN[-2::-1], _COS[-2::-1], strict=True))


@lru_cache(maxsize=1 << 12)  # a body's turn is asked for several times, after those of hundreds of scenes
def unit_circle(degrees: float) -> tuple[float, float]:
    """(cosine, sine) of an angle in degrees; exact at the multiples of 90."""
    return _unit_circle(fmod(degrees, 360.0))


def _unit_circle(turned: float) -> tuple[float, float]:
    quarter = int(turned / 90.0 + (0.5 if turned >= 0 else -0.5))
    x = (turned - 90.0 * quarter) * _RADIANS
    square = x * x
    sine, cosine = _SIN[-1], _COS[-1]
    for s, c in _REST:
        sine = sine * square + s
        cosine = cosine * square + c
    sine *= x
    return ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))[quarter % 4]


_compiled_circle = exact(_unit_circle)


@exact
def find_unit_circles(degrees: Doubles, out: Doubles) -> None:
    """[angle, cosine and sine] of many angles."""
    for i in range(len(degrees)):
        out[i, 0], out[i, 1] = _compiled_circle(np.fmod(degrees[i], 360.0))


SHAPES = Registry("set of shapes", "shiftscope.geometry.shapes")


@dataclass(frozen=True, slots=True)
class SurfaceLook:
    """Colour as 8-bit sRGB, the material that carries it, and a pattern painted over both."""

    color: tuple[int, int, int]
    material: str
    texture: str = "none"
    number: int = field(init=False, repr=False, compare=False)  # in this process, the same for equal looks

    def __post_init__(self) -> None:
        key = (self.color, self.material, self.texture)
        number = _look_numbers.get(key)
        if number is None:
            with _look_lock:
                number = _look_numbers.setdefault(key, len(_look_numbers))
        object.__setattr__(self, "number", number)


_look_numbers: dict[tuple[tuple[int, int, int], str, str], int] = {}
_look_lock = Lock()


def list_known_looks(first: int) -> list[SurfaceLook]:
    """All looks that this process has met, from a number on: what is computed of a look need be computed once."""
    with _look_lock:
        return [SurfaceLook(*key) for key in islice(_look_numbers, first, None)]


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
        if o.position is None:
            raise UserError(f"scene {scene.id!r}: an object without a position cannot be drawn")
        check_place((*o.position, o.rotation or 0.0), "an object", scene)
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

    planes: Doubles  # [xyz, place], each place of a body once; by planes, so that many are projected at a time
    corners: Ints  # [triangle, corner], which of the vertices
    normals: Floats  # [vertex of a mesh, xyz]
    triangles: Ints  # [triangle, corner], which of the normals
    surface_of: Ints  # [triangle]
    body_of: Ints  # [surface]
    bodies: tuple[Body, ...]
    looks: tuple[SurfaceLook, ...]  # [surface]

    @property
    def vertices(self) -> Doubles:
        """[place, xyz], a view."""
        return self.planes.T


@cache
def weld_mesh(mesh: Mesh) -> tuple[Doubles, Ints]:
    """Its places, each once and in its order, [xyz, place], and the triangles between them; vertices at an edge differ
    in their normals only, and where they are seen is found out once."""
    _, first, of = np.unique(mesh.vertices, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return np.ascontiguousarray(mesh.vertices[first[order]].T), rank[of.reshape(-1)][mesh.triangles]


Pose = tuple[Mesh, Vector, float, float]  # what of a body decides where it is seen: mesh, position, scale, rotation
RECENT = 16  # scenes whose triangles and masks are kept: who samples one looks at it, and soon it is drawn


def poses_of(bodies: Sequence[Body]) -> tuple[Pose, ...]:
    return tuple([(b.mesh, b.position, b.scale, b.rotation) for b in bodies])


def build_scene_mesh(bodies: Sequence[Body]) -> SceneMesh:
    """Every body placed, in order; the arrays may be shared with another scene, and are never written to."""
    return SceneMesh(*place_meshes(poses_of(bodies)), tuple(bodies), tuple([look for b in bodies for look in b.looks]))


@lru_cache(maxsize=RECENT)
def place_meshes(poses: tuple[Pose, ...]) -> tuple[Doubles, Ints, Floats, Ints, Ints, Ints]:
    meshes = [mesh for mesh, *_ in poses]
    welded = [weld_mesh(mesh) for mesh in meshes]
    faces = sum(len(mesh.triangles) for mesh in meshes)
    planes = np.empty((3, sum(places.shape[1] for places, _ in welded)))
    normals = np.empty((sum(len(mesh.normals) for mesh in meshes), 3), np.float32)
    corners, triangles = np.empty((2, faces, 3), np.int32)
    surface_of = np.empty(faces, np.int32)
    place = point = face = surface = 0
    for (mesh, position, scale, rotation), (places, between) in zip(poses, welded, strict=True):
        pose = np.array([*position, scale, *unit_circle(rotation)])
        _place_points(places, mesh.normals, pose, place, point, planes, normals)
        last = face + len(mesh.triangles)
        np.add(between, np.int32(place), out=corners[face:last])
        np.add(mesh.triangles, np.int32(point), out=triangles[face:last])
        np.add(mesh.part_of, np.int32(surface), out=surface_of[face:last])
        place, point = place + places.shape[1], point + len(mesh.normals)
        face, surface = last, surface + len(mesh.parts)
    body_of = np.repeat(np.arange(len(meshes), dtype=np.int32), [len(mesh.parts) for mesh in meshes])
    return planes, corners, normals, triangles, surface_of, body_of


@exact
def _place_points(
    places: Doubles, normals: Doubles,  # [xyz, place] and [vertex, xyz]
    pose: Doubles,  # position, scale, cosine, sine
    place: int, first: int,  # where they begin
    out_planes: Doubles, out_normals: Floats,
) -> None:  # fmt: skip
    px, py, pz, scale, c, s = pose
    out_x, out_y, out_z = out_planes[0, place:], out_planes[1, place:], out_planes[2, place:]
    for i in range(places.shape[1]):
        x, y = places[0, i] * scale, places[1, i] * scale
        out_x[i] = px + (x * c - y * s)
        out_y[i] = py + (x * s + y * c)
        out_z[i] = pz + places[2, i] * scale
    for i in range(len(normals)):
        out_normals[first + i, 0] = normals[i, 0] * c - normals[i, 1] * s
        out_normals[first + i, 1] = normals[i, 0] * s + normals[i, 1] * c
        out_normals[first + i, 2] = normals[i, 2]
