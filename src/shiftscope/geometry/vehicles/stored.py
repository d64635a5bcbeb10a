"""The vehicles as they are shipped: vertices in whole steps of 2⁻¹⁴, normals in bytes, all in one file."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from ...errors import unknown
from ...whole import digest_of
from ..mesh import Mesh

FILE = "vehicles.npz"
STEPS = 1 << 14  # in one unit
TURNS = 127  # steps of a normal's component


@cache
def vehicle(name: str) -> Mesh:
    """The mesh of a model, as stored."""
    meshes = _shelf()
    if name not in meshes:
        raise unknown("vehicle", name, meshes)
    return meshes[name]


def names() -> tuple[str, ...]:
    """The models that are stored, in alphabetical order."""
    return tuple(_shelf())


@cache
def digest() -> str:
    """A name for the stored meshes that changes with any of them."""
    return digest_of(_bytes())[:32]


@cache
def _shelf() -> dict[str, Mesh]:
    return read(_bytes())


def _bytes() -> bytes:
    return files(__package__).joinpath(FILE).read_bytes()


def written(meshes: Iterable[Mesh]) -> bytes:
    """A file of these meshes."""
    columns: dict[str, Any] = {}
    for mesh in sorted(meshes, key=lambda m: m.name):
        columns[f"{mesh.name}.vertices"] = np.round(mesh.vertices * STEPS).astype(np.int16)
        columns[f"{mesh.name}.normals"] = np.round(mesh.normals * TURNS).astype(np.int8)
        columns[f"{mesh.name}.triangles"] = mesh.triangles.astype(np.uint16)
        columns[f"{mesh.name}.part_of"] = mesh.part_rows.astype(np.uint8)
        columns[f"{mesh.name}.parts"] = np.array(mesh.parts)
        columns[f"{mesh.name}.tones"] = np.array(mesh.tones, np.float32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def read(data: bytes) -> dict[str, Mesh]:
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
