"""The 21 vehicles of Super-CLEVR as triangle meshes with named parts, read from `vehicles.npz`.

Vertices are stored in whole steps of 2⁻¹⁴, normals in bytes. `tools/vehicles` builds them; drawing reads the
stored meshes only, so every machine draws the same vertices and needs no mesh library.
"""

import io
from functools import cache
from importlib.resources import files

import numpy as np

from ..errors import unknown
from ..files import digest_of
from .mesh import Mesh

FILE = "vehicles.npz"
STORED = files(__package__).joinpath(FILE)
GLASS = "_glass"  # windows: dark whatever the colour of the vehicle
STEPS = 1 << 14  # in one unit
TURNS = 127  # steps of a normal's component


@cache
def load_vehicle(name: str) -> Mesh:
    """The mesh of a model, as stored."""
    meshes = _load_all()
    if name not in meshes:
        raise unknown("vehicle", name, meshes)
    return meshes[name]


def vehicle_names() -> tuple[str, ...]:
    """The models that are stored, in alphabetical order."""
    return tuple(_load_all())


@cache
def vehicles_digest() -> str:
    """A name for the stored meshes that changes with any of them."""
    return digest_of(STORED.read_bytes())[:32]


@cache
def _load_all() -> dict[str, Mesh]:
    return read_meshes(STORED.read_bytes())


def read_meshes(data: bytes) -> dict[str, Mesh]:
    """The meshes of a file, by name."""
    meshes = {}
    with np.load(io.BytesIO(data), allow_pickle=False) as columns:
        for name in sorted({key.partition(".")[0] for key in columns}):
            normals = columns[f"{name}.normals"].astype(np.float64)
            meshes[name] = Mesh(
                name,
                columns[f"{name}.vertices"].astype(np.float64) / STEPS,
                normals / np.sqrt(np.sum(normals * normals, axis=1, keepdims=True)),
                columns[f"{name}.triangles"].astype(np.int32),
                tuple(columns[f"{name}.parts"].tolist()),
                columns[f"{name}.part_of"].astype(np.int32),
                tuple(columns[f"{name}.tones"].tolist()),
            )
    return meshes
