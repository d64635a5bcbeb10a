"""The list of models: what builds each, which way it faces, and how high it stands.

Turn and bottom are those of the official models, so that an official scene file shows our vehicles where
and how it put its own.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shiftscope.geometry.mesh import Mesh
from shiftscope.geometry.shapes.superclevr import STEPS, TURNS

from .assembly import Assembly

Builder = Callable[[Assembly], None]


@dataclass(frozen=True, slots=True)
class Model:
    """One vehicle: `build` adds its pieces to an assembly."""

    build: Builder
    bottom: float  # lowest z, in diagonals of its box
    turn: float = 0.0  # degrees from facing +y

    def mesh(self, name: str) -> Mesh:
        assembly = Assembly()
        self.build(assembly)
        return assembly.finished(name, self.turn, self.bottom)


# Lowest z of each model where its origin stands at 0, as official scene files imply it.
BOTTOMS = {
    "suv": -0.1253, "wagon": -0.0968, "minivan": -0.1623, "sedan": -0.1151, "truck": -0.1179,
    "articulated": -0.0503, "regular": -0.0764, "double": -0.1573, "school": -0.0672,
    "chopper": -0.1991, "dirtbike": -0.1877, "scooter": -0.2147, "cruiser": -0.2186,
    "jet": -0.0769, "fighter": -0.0546, "biplane": -0.1518, "airliner": -0.0689,
    "road": -0.2365, "utility": -0.2627, "mountain": -0.2411, "tandem": -0.1894,
}  # fmt: skip


def models() -> dict[str, Model]:
    """Every model by its name."""
    from . import aeroplanes, bicycles, buses, cars, motorbikes

    families = (
        (cars.MODELS, 0.0),
        (buses.MODELS, 0.0),
        (motorbikes.MODELS, 0.0),
        (aeroplanes.MODELS, 0.0),
        (bicycles.MODELS, -90.0),
    )
    return {name: Model(build, BOTTOMS[name], turn) for family, turn in families for name, build in family.items()}


def built() -> list[Mesh]:
    """Every model's mesh, in the order of `models`."""
    return [model.mesh(name) for name, model in models().items()]


def write_meshes(meshes: Iterable[Mesh]) -> bytes:
    """A file of these meshes."""
    columns: dict[str, Any] = {}
    for mesh in sorted(meshes, key=lambda m: m.name):
        columns[f"{mesh.name}.vertices"] = np.round(mesh.vertices * STEPS).astype(np.int16)
        columns[f"{mesh.name}.normals"] = np.round(mesh.normals * TURNS).astype(np.int8)
        columns[f"{mesh.name}.triangles"] = mesh.triangles.astype(np.uint16)
        columns[f"{mesh.name}.part_of"] = mesh.part_of.astype(np.uint8)
        columns[f"{mesh.name}.parts"] = np.array(mesh.parts)
        columns[f"{mesh.name}.tones"] = np.array(mesh.tones, np.float32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()
