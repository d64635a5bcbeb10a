"""What an image shows of each object and part: masks, boxes, visible pixels. Decides what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..compiled import exact
from ..errors import UserError
from ..scene import Scene
from .camera import Camera
from .mesh import Mesh
from .stage import Stage
from .visibility import CENTRE, Buffer, draw, snap

MOST = 254  # objects in an image, and parts with a look of their own

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One image's worth, counted at pixel centres; boxes of what is hidden are all zero."""

    mask: Bytes  # [height, width], object index + 1, 0 for the ground
    boxes: Ints  # [object, left top width height]
    visible: Ints  # [object], pixels
    parts: Bytes | None  # [height, width], the label of the part seen; None where none was asked for
    part_boxes: tuple[Ints, ...]  # per object [part, left top width height], in the order of `named_parts`
    part_visible: tuple[Ints, ...]  # per object [part], pixels


@cache
def named_parts(mesh: Mesh) -> tuple[str, ...]:
    """The parts of a mesh, each once, in its order; neither the main body nor what is only drawn is one."""
    return tuple(dict.fromkeys(p for p in mesh.parts if p != mesh.parts[0] and not p.startswith("_")))


def part_labels(scene: Scene, stage: Stage) -> Bytes:
    """[surface] 1, 2, … for the parts that the scene's objects list, in its order; 0 for all else."""
    if sum(len(o.parts) for o in scene.objects) > MOST:
        raise UserError(f"a scene can list at most {MOST} parts to be told apart in an image")
    count, labels = 0, []
    for body, thing in zip(stage.bodies, scene.objects, strict=True):
        own = {part.name: count + k + 1 for k, part in enumerate(thing.parts)}
        labels += [own.get(name, 0) for name in body.mesh.parts]
        count += len(thing.parts)
    return np.array(labels, np.uint8)


def see(stage: Stage, camera: Camera, size: tuple[int, int], labels: Bytes | None = None) -> Seen:
    """Masks, boxes and visible pixels, the same on every machine; `labels` as `part_labels` makes them."""
    if len(stage.bodies) > MOST:
        raise UserError(
            f"{len(stage.bodies)} objects do not fit a mask of bytes; an image holds at most {MOST}"
        )
    buffer = buffer_of(stage, camera, size, CENTRE)
    mask = np.empty((size[1], size[0]), np.uint8)
    counts, boxes = np.zeros(len(stage.body_of), np.int32), np.zeros((len(stage.body_of), 4), np.int32)
    _measure(buffer, stage.surface_of, stage.body_of, mask, boxes, counts)
    parts = None
    if labels is not None:
        parts = np.zeros_like(mask)
        if labels.any():
            _label(buffer, stage.surface_of, labels, parts)
    whole = _together(boxes, counts, stage.body_of, len(stage.bodies))
    starts, slots = [0], []
    for body in stage.bodies:
        slots.append(_slots(body.mesh))
        starts.append(starts[-1] + len(named_parts(body.mesh)))
    whose = [np.where(own < 0, own, own + first) for own, first in zip(slots, starts, strict=False)]
    flat = np.concatenate(whose) if whose else np.zeros(0, np.int32)
    part_boxes, part_visible = _together(boxes, counts, flat, starts[-1])
    return Seen(
        mask,
        *whole,
        parts,
        tuple(part_boxes[a:b] for a, b in pairwise(starts)),
        tuple(part_visible[a:b] for a, b in pairwise(starts)),
    )


def buffer_of(
    stage: Stage,
    camera: Camera,
    size: tuple[int, int],
    samples: npt.NDArray[np.int64],
    out: Buffer | None = None,
) -> Buffer:
    """The visibility buffer of an image; `out` is cleared and reused."""
    shape = (size[1] * len(samples), size[0])
    buffer = np.zeros(shape, np.int64) if out is None else out
    if out is not None:
        out.fill(0)
    x, y, nearness = np.empty((3, len(stage.vertices)), np.int64)
    snap(stage.vertices, camera.packed(size), x, y, nearness)
    draw(x, y, nearness, stage.triangles, samples, buffer)
    return buffer


@cache
def _slots(mesh: Mesh) -> Ints:
    """[surface] where its part stands among the named ones; −1 for none."""
    names = named_parts(mesh)
    return np.array([names.index(p) if p in names else -1 for p in mesh.parts], np.int32)


def _together(boxes: Ints, counts: Ints, whose: Ints, many: int) -> tuple[Ints, Ints]:
    """Boxes and pixels of what several surfaces make up."""
    out_boxes, out_counts = np.zeros((many, 4), np.int32), np.zeros(many, np.int32)
    _add(boxes, counts, whose.astype(np.int32, copy=False), out_boxes, out_counts)
    return out_boxes, out_counts


@exact
def _measure(buffer: Buffer, surface_of: Ints, body_of: Ints, mask: Bytes, boxes: Ints, counts: Ints) -> None:
    """The mask, and for each surface its pixels and its first and last column and row."""
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            cell = buffer[y, x]
            if cell == 0:
                mask[y, x] = 0
                continue
            s = surface_of[cell & 0xFFFFFFFF]
            mask[y, x] = body_of[s] + 1
            if counts[s] == 0:
                boxes[s, 0], boxes[s, 1], boxes[s, 2] = x, y, x
            boxes[s, 0] = min(boxes[s, 0], x)
            boxes[s, 2] = max(boxes[s, 2], x)
            boxes[s, 3] = y
            counts[s] += 1


@exact
def _label(buffer: Buffer, surface_of: Ints, labels: Bytes, out: Bytes) -> None:
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            cell = buffer[y, x]
            if cell != 0:
                out[y, x] = labels[surface_of[cell & 0xFFFFFFFF]]


@exact
def _add(boxes: Ints, counts: Ints, whose: Ints, out_boxes: Ints, out_counts: Ints) -> None:
    """Join the surfaces of each owner, and turn last columns and rows into widths and heights."""
    for s in range(len(counts)):
        i = whose[s]
        if i < 0 or counts[s] == 0:
            continue
        if out_counts[i] == 0:
            out_boxes[i] = boxes[s]
        for k in range(2):
            out_boxes[i, k] = min(out_boxes[i, k], boxes[s, k])
            out_boxes[i, k + 2] = max(out_boxes[i, k + 2], boxes[s, k + 2])
        out_counts[i] += counts[s]
    for i in range(len(out_counts)):
        if out_counts[i] > 0:
            for k in range(2):
                out_boxes[i, k + 2] += 1 - out_boxes[i, k]
