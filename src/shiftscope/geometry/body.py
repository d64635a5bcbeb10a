"""Body: a mesh placed in the world, with one look for each of its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..catalog import Catalog
from ..errors import UserError
from ..scene import Object, Scene, Vector
from .camera import check_place
from .mesh import Mesh

SHAPES = Catalog("set of shapes", "shiftscope.geometry.shapes")


@dataclass(frozen=True, slots=True)
class Look:
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
    looks: tuple[Look, ...]  # one per surface of the mesh

    def __post_init__(self) -> None:
        if len(self.looks) != len(self.mesh.parts):
            raise UserError(f"{self.mesh.name} has {len(self.mesh.parts)} parts but {len(self.looks)} looks")


def bodies_of(scene: Scene) -> tuple[Body, ...]:
    """What stands in the scene, object by object, as `shapes/SCHEMA.py` builds it."""
    build = _builder(scene.schema.name)
    for o in scene.objects:
        check_place((*(o.position or ()), o.rotation or 0.0), "an object", scene)
    return tuple([build(o) for o in scene.objects])


@cache
def _builder(name: str) -> Callable[[Object], Body]:
    if name not in SHAPES.names():
        drawn = ", ".join(SHAPES.names())
        raise UserError(
            f"no set of shapes {name!r}, the vocabulary of this scene; "
            f"only solids of {drawn} can be drawn so far"
        )
    build: Callable[[Object], Body] = SHAPES.load(name).body
    return build
