"""A batch of scenes as the few arrays that travel to the device, and the meshes that stay there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...geometry.camera import SIZE, camera_of, check_size
from ...geometry.layout import Layout
from ...geometry.mesh import Body, Mesh, bodies_of
from ...geometry.visibility import MOST_LABELS, list_parts, number_parts, part_labels
from ...kernels import Bytes, Doubles, Floats, Ints
from ...scene import Scene
from ..lighting import find_windows, lamps_of, pack_lamps
from ..paint import mesh_facets, pack_traits
from ..proxies import build_proxies, pack_poses
from ..surface import pack_looks, texture_frames

if TYPE_CHECKING:
    import torch

LAMPS = 4  # in every scene
FLAT_FIELDS = (  # whose rows are simply put one after another
    *("poses", "stand_ins", "blocks", "lumps", "windows", "frames"),
    *("looks", "traits", "labels", "listed", "numbers", "number_first", "numbered", "cameras", "lamps"),
)


@dataclass(frozen=True, slots=True, eq=False)
class GpuScenes:
    """Bodies of all images one after another; surfaces are the parts of all bodies, likewise."""

    size: tuple[int, int]  # width, height
    meshes: tuple[Mesh, ...]  # each once
    mesh_of: Ints  # [body]
    image_of: Ints  # [body]
    first: Ints  # [image + 1], its first body
    poses: Doubles  # [body, position(3) scale cosine sine]
    stand_ins: Floats  # [body, 13], see proxies.py
    blocks: Floats  # [block, 14], see proxies.py
    block_first: Ints  # [body + 1]
    lumps: Floats  # [lump, 8], see proxies.py
    lump_first: Ints  # [image + 1]
    windows: Ints  # [lump, left top right bottom], where it darkens the ground
    frames: Floats  # [body, 6], see surface.py
    surfaces: Ints  # [body], its first surface
    looks: Floats  # [surface, 8], see surface.py
    traits: Floats  # [surface, group edge bend fine], see paint.py
    labels: Bytes  # [surface], 1, 2, … for the parts that an image's scene lists, else 0
    listed: Ints  # [image], how many parts its scene lists
    numbers: Bytes  # [surface], 1, 2, … for the parts of its object, else 0
    number_first: Ints  # [body], how many parts the objects before it in its image have
    numbered: Ints  # [image], how many parts its objects have
    cameras: Doubles  # [image, 15], see Camera.pack
    lamps: Floats  # [image, lamp, 16], see lighting.py

    def __len__(self) -> int:
        return len(self.cameras)


def pack_batch(scenes: Sequence[Scene], size: tuple[int, int] = SIZE) -> GpuScenes:
    """The scenes as the GPU takes them; cameras and lamps are those that `raster.render` uses."""
    if not scenes:
        raise UserError("a batch needs at least one scene to draw")
    check_size(size)
    by_scene = [bodies_of(scene) for scene in scenes]
    bodies = [body for own in by_scene for body in own]
    listed = [sum(len(o.parts) for o in scene.objects) for scene in scenes]
    for count, kind in ((max(map(len, by_scene)), "objects"), (max(listed), "listed parts")):
        if count > MOST_LABELS:
            raise UserError(f"{count} {kind} do not fit a mask of bytes; an image holds at most {MOST_LABELS}")
    cameras = np.array([camera_of(scene).pack(size) for scene in scenes])
    geometry = _pack_geometry(by_scene, cameras, size)
    others = build_proxies(bodies)
    lump_first = _starts(others.lump_counts.tolist())[geometry["first"]]
    views = np.repeat(cameras, np.diff(lump_first), axis=0)
    return GpuScenes(
        **geometry,
        stand_ins=others.bodies,
        blocks=others.blocks,
        block_first=others.first.astype(np.int32),
        lumps=others.lumps,
        lump_first=lump_first,
        windows=find_windows(views, others.lumps, size).astype(np.int32),
        frames=texture_frames(bodies),
        looks=pack_looks(bodies),
        traits=pack_traits(bodies),
        labels=np.concatenate([part_labels(scene, own) for scene, own in zip(scenes, by_scene, strict=True)]),
        listed=np.array(listed, np.int32),
        lamps=np.array([pack_lamps(lamps_of(scene)) for scene in scenes]),
    )


def pack_layouts(layouts: Sequence[Layout]) -> GpuScenes:
    """Layouts of one size to be looked at, not painted: all that light and labels need is left out."""
    size = layouts[0].size
    check_size(size)
    cameras = np.array([layout.camera.pack(size) for layout in layouts])
    geometry = _pack_geometry([layout.bodies() for layout in layouts], cameras, size)
    left_out = {f.name: np.empty(0, np.uint8) for f in fields(GpuScenes) if f.name not in geometry}
    return GpuScenes(**geometry | left_out)


def _pack_geometry(by_scene: Sequence[Sequence[Body]], cameras: Doubles, size: tuple[int, int]) -> dict[str, Any]:
    """What decides which surface is seen where."""
    bodies = [body for own in by_scene for body in own]
    meshes = list({id(b.mesh): b.mesh for b in bodies}.values())
    number = {id(mesh): k for k, mesh in enumerate(meshes)}
    first = _starts([len(own) for own in by_scene])
    image_of = np.repeat(np.arange(len(by_scene), dtype=np.int32), np.diff(first))
    parts = _starts([len(list_parts(body.mesh)) for body in bodies])
    return {
        "size": size,
        "meshes": tuple(meshes),
        "mesh_of": np.array([number[id(b.mesh)] for b in bodies], np.int32),
        "image_of": image_of,
        "first": first,
        "poses": pack_poses(bodies),
        "surfaces": _starts([len(b.mesh.parts) for b in bodies])[:-1],
        "numbers": number_parts(bodies),
        "number_first": parts[:-1] - parts[first][image_of],
        "numbered": np.diff(parts[first]),
        "cameras": cameras,
    }


def join_packs(packs: Sequence[GpuScenes]) -> GpuScenes:
    """One batch of several, in order; they must be of one size."""
    if not packs:
        raise UserError("a batch needs at least one scene to draw")
    if len({p.size for p in packs}) > 1:
        raise UserError("images of one batch must be of one size")
    meshes = list({id(m): m for p in packs for m in p.meshes}.values())
    number = {id(mesh): k for k, mesh in enumerate(meshes)}
    own = [np.array([number[id(m)] for m in p.meshes], np.int32) for p in packs]

    def chain_starts(name: str) -> Ints:
        """Lists of starts, one after another."""
        return _starts(np.concatenate([np.diff(getattr(p, name)) for p in packs]).tolist())

    surfaces = _starts([len(p.looks) for p in packs])
    return GpuScenes(
        size=packs[0].size,
        meshes=tuple(meshes),
        mesh_of=np.concatenate([rows[p.mesh_of] for rows, p in zip(own, packs, strict=True)]),
        image_of=np.repeat(np.arange(sum(map(len, packs)), dtype=np.int32), np.diff(chain_starts("first"))),
        first=chain_starts("first"),
        block_first=chain_starts("block_first"),
        lump_first=chain_starts("lump_first"),
        surfaces=np.concatenate([p.surfaces + k for p, k in zip(packs, surfaces, strict=False)]),
        **{name: np.concatenate([getattr(p, name) for p in packs]) for name in FLAT_FIELDS},
    )


def _starts(counts: Sequence[int]) -> Ints:
    """Where each begins, and at the end how many there are."""
    return np.cumsum([0, *counts]).astype(np.int32)


class DeviceMeshes:
    """Meshes are sent once, when a batch first needs them, and stay."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._rows: dict[int, tuple[int, int, int, int]] = {}
        self._bounds: dict[int, Doubles] = {}  # [xyz low, xyz high]
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
            self._bounds[id(mesh)] = np.concatenate([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)])
            self._meshes.append(mesh)
        self.vertices = self._send([m.vertices for m in self._meshes])
        self.normals = self._send([m.normals for m in self._meshes])
        self.triangles = self._send([m.triangles for m in self._meshes])
        self.facets = self._send([mesh_facets(m) for m in self._meshes])
        self.part_of = self._send([m.part_of for m in self._meshes])

    def body_rows(self, packed: GpuScenes) -> Ints:
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

    def body_bounds(self, packed: GpuScenes) -> Doubles:
        """[body, xyz low xyz high]: the box around its mesh, before the pose. Its meshes must have been added."""
        return np.array([self._bounds[id(m)] for m in packed.meshes]).reshape(-1, 6)[packed.mesh_of]

    def _send(self, arrays: Sequence[npt.NDArray[Any]]) -> torch.Tensor:
        import torch

        return torch.from_numpy(np.concatenate(arrays)).to(self.device)
