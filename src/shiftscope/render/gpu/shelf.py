"""Shelf: the meshes that are on a device, all in a few tensors, and where each lies in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...geometry.mesh import Mesh
from .pack import Packed

if TYPE_CHECKING:
    import torch


class Shelf:
    """Meshes are sent once, when a batch first needs them, and stay."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._rows: dict[int, tuple[int, int, int, int]] = {}
        self._meshes: list[Mesh] = []  # held, so that their identities stay theirs
        self.vertices: torch.Tensor  # [vertex, xyz], double
        self.normals: torch.Tensor  # [vertex, xyz], double
        self.triangles: torch.Tensor  # [triangle, corner], corners count from the mesh's first vertex
        self.facets: torch.Tensor  # [triangle, mean normal(3), its squared length]
        self.part_of: torch.Tensor  # [triangle]

    def add(self, meshes: Sequence[Mesh]) -> None:
        """Make sure that all of these are on the device."""
        new = [m for m in meshes if id(m) not in self._rows]
        if not new:
            return
        for mesh in new:
            points = sum(len(m.vertices) for m in self._meshes)
            faces = sum(len(m.triangles) for m in self._meshes)
            self._rows[id(mesh)] = (points, len(mesh.vertices), faces, len(mesh.triangles))
            self._meshes.append(mesh)
        self.vertices = self._sent([m.vertices for m in self._meshes])
        self.normals = self._sent([m.normals for m in self._meshes])
        self.triangles = self._sent([m.triangles for m in self._meshes])
        self.facets = self._sent([facets(m) for m in self._meshes])
        self.part_of = self._sent([m.part_rows for m in self._meshes])

    def rows(self, packed: Packed) -> npt.NDArray[np.int32]:
        """[body, vertices' start and count, triangles' start and count, first vertex in the batch, image,
        number in the image, first surface]: what kernels know of a body. Its meshes must have been added."""
        table = np.array([self._rows[id(m)] for m in packed.meshes], np.int32).reshape(-1, 4)
        out = np.empty((len(packed.mesh_of), 8), np.int32)
        out[:, :4] = table[packed.mesh_of]
        out[:, 4] = np.cumsum(out[:, 1]) - out[:, 1]
        out[:, 5] = packed.image_of
        out[:, 6] = np.arange(len(out)) - packed.first[packed.image_of]
        out[:, 7] = packed.surfaces
        return out

    def _sent(self, arrays: Sequence[npt.NDArray[Any]]) -> torch.Tensor:
        import torch

        return torch.from_numpy(np.concatenate(arrays)).to(self.device)


def facets(mesh: Mesh) -> npt.NDArray[np.float32]:
    """Each triangle's mean normal and its squared length, as `gather.facets_of` finds them before a turn."""
    mean = mesh.normals[mesh.triangles].astype(np.float32).sum(axis=1) * np.float32(1 / 3)
    return np.concatenate([mean, np.sum(mean * mean, axis=1, keepdims=True)], axis=1)
