"""Packed: a batch of scenes as the few arrays that travel to the device; meshes stay there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...geometry.angle import unit_circle
from ...geometry.body import Body, Look, bodies_of
from ...geometry.camera import SIZE, camera_of, check_size
from ...geometry.mesh import Mesh
from ...geometry.seen import MOST
from ...scene import Scene
from ..color import linear
from ..gather import BEND, EDGE, FINE_BEND, SOFT_EDGE
from ..lamps import lamps_of, packed_lamps
from ..stand_in import stand_ins
from ..texture import PATTERNS, frames, ink

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

LAMPS = 4  # in every scene
PLAIN = (  # whose rows are simply put one after another
    *("poses", "stand_ins", "blocks", "lumps", "windows", "frames"),
    *("looks", "traits", "labels", "listed", "cameras", "lamps"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Bodies of all images one after another; surfaces are the parts of all bodies, likewise."""

    size: tuple[int, int]  # width, height
    meshes: tuple[Mesh, ...]  # each once
    mesh_of: Ints  # [body]
    image_of: Ints  # [body]
    first: Ints  # [image + 1], its first body
    poses: Doubles  # [body, position(3) scale cosine sine]
    stand_ins: Floats  # [body, 13], see stand_in.py
    blocks: Floats  # [block, 14], see stand_in.py
    block_first: Ints  # [body + 1]
    lumps: Floats  # [lump, 8], see stand_in.py
    lump_first: Ints  # [image + 1]
    windows: Ints  # [lump, left top right bottom], where it darkens the ground
    frames: Floats  # [body, 6], see texture.py
    surfaces: Ints  # [body], its first surface
    looks: Floats  # [surface, 8], see texture.py
    traits: Floats  # [surface, group edge bend fine], see gather.py
    labels: npt.NDArray[np.uint8]  # [surface], 1, 2, … for the parts that an image's scene lists, else 0
    listed: Ints  # [image], how many parts its scene lists
    cameras: Doubles  # [image, 15], see Camera.packed
    lamps: Floats  # [image, lamp, 16], see lamps.py

    def __len__(self) -> int:
        return len(self.cameras)


def pack(scenes: Sequence[Scene], size: tuple[int, int] = SIZE) -> Packed:
    """The scenes as the GPU takes them; cameras and lamps are those that `raster.render` uses."""
    return joined([pack_one(s, size) for s in scenes])


def pack_one(scene: Scene, size: tuple[int, int] = SIZE) -> Packed:
    """A batch of one scene."""
    check_size(size)
    bodies = bodies_of(scene)
    listed = sum(len(o.parts) for o in scene.objects)
    for count, kind in ((len(bodies), "objects"), (listed, "listed parts")):
        if count > MOST:
            raise UserError(f"{count} {kind} do not fit a mask of bytes; an image holds at most {MOST}")
    meshes = list({id(b.mesh): b.mesh for b in bodies}.values())
    number = {id(mesh): k for k, mesh in enumerate(meshes)}
    camera = camera_of(scene).packed(size)
    others = stand_ins(bodies)
    poses = [(*b.position, b.scale, *unit_circle(b.rotation)) for b in bodies]
    return Packed(
        size=size,
        meshes=tuple(meshes),
        mesh_of=np.array([number[id(b.mesh)] for b in bodies], np.int32),
        image_of=np.zeros(len(bodies), np.int32),
        first=_starts([len(bodies)]),
        poses=np.array(poses, np.float64).reshape(-1, 6),
        stand_ins=others.bodies,
        blocks=others.blocks,
        block_first=others.first.astype(np.int32),
        lumps=others.lumps,
        lump_first=_starts([len(others.lumps)]),
        windows=_windows(camera, others.lumps, size),
        frames=frames(bodies),
        surfaces=_starts([len(b.looks) for b in bodies])[:-1],
        looks=np.array([_look(look) for b in bodies for look in b.looks], np.float32).reshape(-1, 8),
        traits=np.array([row for k, b in enumerate(bodies) for row in _traits(b, k)], np.float32).reshape(
            -1, 4
        ),
        labels=np.array(_labels(scene, bodies), np.uint8),
        listed=np.array([listed], np.int32),
        cameras=camera[None],
        lamps=packed_lamps(lamps_of(scene))[None],
    )


def joined(packs: Sequence[Packed]) -> Packed:
    """One batch of several, in order; they must be of one size."""
    if not packs:
        raise UserError("a batch needs at least one scene to draw")
    if len({p.size for p in packs}) > 1:
        raise UserError("images of one batch must be of one size")
    meshes = list({id(m): m for p in packs for m in p.meshes}.values())
    number = {id(mesh): k for k, mesh in enumerate(meshes)}
    own = [np.array([number[id(m)] for m in p.meshes], np.int32) for p in packs]

    def together(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(p, name) for p in packs])

    def chained(name: str) -> Ints:
        """Lists of starts, one after another."""
        return _starts(np.concatenate([np.diff(getattr(p, name)) for p in packs]).tolist())

    surfaces = _starts([len(p.looks) for p in packs])
    return Packed(
        size=packs[0].size,
        meshes=tuple(meshes),
        mesh_of=np.concatenate([rows[p.mesh_of] for rows, p in zip(own, packs, strict=True)]),
        image_of=np.repeat(np.arange(sum(map(len, packs)), dtype=np.int32), np.diff(chained("first"))),
        first=chained("first"),
        block_first=chained("block_first"),
        lump_first=chained("lump_first"),
        surfaces=np.concatenate([p.surfaces + k for p, k in zip(packs, surfaces, strict=False)]),
        **{name: together(name) for name in PLAIN},
    )


def _starts(counts: Sequence[int]) -> Ints:
    """Where each begins, and at the end how many there are."""
    return np.cumsum([0, *counts]).astype(np.int32)


@cache
def _look(look: Look) -> tuple[float, ...]:
    """A row of `texture.packed_looks`."""
    color = linear(look.color)
    return (*color, float(look.material == "metal"), PATTERNS[look.texture], *ink(color))


def _traits(body: Body, slot: int) -> list[tuple[float, float, float, float]]:
    """The body's rows of `gather.traits_of`; any number that is the same for equal looks names a group."""
    fine = len(body.mesh.parts) > 1
    groups: dict[Look, int] = {}
    rows = []
    for look in body.looks:
        group = groups.setdefault(look, len(groups)) + 256 * slot
        metal = look.material == "metal"
        edge = EDGE if metal else SOFT_EDGE if fine else 0.0
        rows.append((float(group), edge, (FINE_BEND if fine else BEND) if metal else 0.0, float(fine)))
    return rows


def _labels(scene: Scene, bodies: Sequence[Body]) -> list[int]:
    """As `seen.part_labels` has them."""
    count, labels = 0, []
    for body, thing in zip(bodies, scene.objects, strict=True):
        own = {part.name: count + k + 1 for k, part in enumerate(thing.parts)}
        labels += [own.get(name, 0) for name in body.mesh.parts]
        count += len(thing.parts)
    return labels


def _windows(view: Doubles, lumps: Floats, size: tuple[int, int]) -> Ints:
    """Where each lump darkens the ground, in cells of half the image's resolution: `paint._window`."""
    v = view.copy()
    v[12:15] /= 2
    signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)], np.float64)
    x, y, reach = (lumps[:, k, None].astype(np.float64) for k in (0, 1, 7))
    dx, dy, dz = x + signs[:, 0] * reach - v[0], y + signs[:, 1] * reach - v[1], -v[2]
    depth = np.maximum(-(dx * v[9] + dy * v[10] + dz * v[11]), 1.0)
    px = v[13] + v[12] / depth * (dx * v[3] + dy * v[4])
    py = v[14] - v[12] / depth * (dx * v[6] + dy * v[7] + dz * v[8])
    columns, rows = (size[0] + 1) // 2, (size[1] + 1) // 2
    sides = (px.min(1), py.min(1), px.max(1) + 1, py.max(1) + 1)
    limits = (columns, rows, columns, rows)
    clipped = [np.clip(np.trunc(a), 0, b) for a, b in zip(sides, limits, strict=True)]
    return np.stack(clipped, axis=1).astype(np.int32)
