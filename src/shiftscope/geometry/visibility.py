"""The integer visibility pass: which triangle each sample sees, and the masks, boxes and pixel counts of it.

Vertices are snapped to 1/256 of a pixel and to whole steps of inverse depth; from there on everything is
integer arithmetic, so every machine sees the same. A cell of the buffer holds `nearness << 32 | triangle`,
and drawing is a maximum: order does not matter, and 0 means that nothing is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..kernels import Bytes, Doubles, Ints, Longs, exact, exact_inline
from ..scene import Scene
from .camera import Camera
from .mesh import RECENT, Body, Mesh, Pose, SceneMesh, place_meshes, poses_of

SNAP = 256  # steps in a pixel
NEAR = 1.0  # nothing closer than this is drawn, in world units
NEARNESS = 1 << 30  # steps of inverse depth at depth NEAR
FEW = 16  # samples in the box of a triangle that are tested one by one
LANES = 16  # samples of a block: LLVM makes a loop of that many a few vector operations
LONG = 1 << 53  # doubles hold all whole numbers below
GUARD = 1 << 22  # snapped coordinates beyond this could overflow; such triangles are left out

# Where in a pixel samples lie, in steps: (x, y), each in a row of its own. Rows are evenly spaced, and their number
# is a power of two.
CENTRE = np.array([[128, 128]], np.int64)
FOUR = np.array([[96, 32], [224, 96], [32, 160], [160, 224]], np.int64)  # no two in one row or column

Shorts = npt.NDArray[np.unsignedinteger[Any]]  # 16 bits, unless there are more surfaces
Buffer = Longs  # [height, width × samples]: those of a pixel lie together, for they are drawn together


@exact
def snap(planes: Doubles, camera: Doubles, x: Ints, y: Ints, nearness: Ints) -> None:
    """Project vertices, [xyz, vertex]; nearness 0 marks one that is too close or behind the camera."""
    ex, ey, ez, rx, ry, rz = camera[0], camera[1], camera[2], camera[3], camera[4], camera[5]
    ux, uy, uz, bx, by, bz = camera[6], camera[7], camera[8], camera[9], camera[10], camera[11]
    focal, cx, cy = camera[12], camera[13], camera[14]
    for i in range(planes.shape[1]):
        dx = planes[0, i] - ex
        dy = planes[1, i] - ey
        dz = planes[2, i] - ez
        depth = -(dx * bx + dy * by + dz * bz)
        far = max(depth, NEAR)
        scale = focal / far
        px = cx + scale * (dx * rx + dy * ry + dz * rz)
        py = cy - scale * (dx * ux + dy * uy + dz * uz)
        x[i] = np.int32(np.floor(min(max(px * SNAP, -1.0 * GUARD), 1.0 * GUARD) + 0.5))
        y[i] = np.int32(np.floor(min(max(py * SNAP, -1.0 * GUARD), 1.0 * GUARD) + 0.5))
        drawn = depth >= NEAR and abs(px) * SNAP < GUARD and abs(py) * SNAP < GUARD
        nearness[i] = np.int32(np.floor(NEARNESS * NEAR / far + 0.5)) if drawn else np.int32(0)


@exact_inline
def _divide_down(a: Any, b: Any) -> Any:
    """a // b. The quotient of two doubles below 2⁵³ rounds to a whole number only where it is one."""
    return np.int64(np.floor(np.float64(a) / np.float64(b)))


@exact
def draw_triangles(x: Ints, y: Ints, nearness: Ints, triangles: Ints, samples: Longs, buffer: Any) -> None:
    """Draw the triangles that face the camera; into 32 bits a cell goes the nearness alone.

    A sample is inside where no edge has it on its outer side. Small triangles are tested sample by sample, others in
    blocks of LANES samples, without branches: several at a time.
    """
    count = len(samples)
    pitch = SNAP // count  # from one row of samples to the next, in steps: a power of two, as is their number
    shift, fold = 8, 0
    while 1 << fold < count:
        shift, fold = shift - 1, fold + 1
    upper, own = (32, -1) if buffer.itemsize == 8 else (0, 0)
    width, height = buffer.shape[1] // count, buffer.shape[0] * count
    begin, leftmost, rightmost = samples[0, 1], samples[:, 0].min(), samples[:, 0].max()
    block, end = LANES >> fold, begin + (count - 1) * pitch
    aside, beneath, rise = np.empty(LANES, np.int64), np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    inside = np.empty((3, LANES), np.int64)  # what a sample adds to the sides of the three edges at a block's corner
    for i in range(LANES):
        k = i & (count - 1)
        aside[i], beneath[i] = (i >> fold) * SNAP + samples[k, 0], samples[k, 1]
    flat = buffer.reshape(-1)
    for t in range(len(triangles)):
        # y points down: turn the other way; unsigned: the compiler need not check for a sign
        a, b, c = np.uint32(triangles[t, 0]), np.uint32(triangles[t, 2]), np.uint32(triangles[t, 1])
        xa, ya = np.int64(x[a]), np.int64(y[a])
        xb, yb = np.int64(x[b]), np.int64(y[b])
        xc, yc = np.int64(x[c]), np.int64(y[c])
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        if area <= 0:
            continue
        # most triangles of a fine mesh fall between samples; rows lie at begin + row · pitch
        top = max(-((begin - min(ya, yb, yc)) >> shift), 0)
        bottom = min((max(ya, yb, yc) - begin) >> shift, height - 1)
        left = max((min(xa, xb, xc) - rightmost + SNAP - 1) >> 8, 0)
        right = min((max(xa, xb, xc) - leftmost) >> 8, width - 1)
        if left > right or top > bottom:
            continue
        na, nb, nc = np.int64(nearness[a]), np.int64(nearness[b]), np.int64(nearness[c])
        least, most = min(na, nb, nc), max(na, nb, nc)
        if least == 0:
            continue
        x0, y0, x1, y1, x2, y2 = xb - xa, yb - ya, xc - xb, yc - yb, xa - xc, ya - yc
        slope_x = SNAP * ((nb - na) * -y2 - (nc - na) * y0)
        slope_y = SNAP * ((nc - na) * x0 - (nb - na) * -x2)
        if abs(slope_x) < LONG and abs(slope_y) < LONG:
            step_x, step_y = _divide_down(slope_x, area), _divide_down(slope_y, area)
        else:
            step_x, step_y = slope_x // area, slope_y // area
        name, start = t & own, na << 8
        if (right - left + 1) * (bottom - top + 1) <= FEW or width < block:
            row, across, down = top, left * SNAP + samples[top & (count - 1), 0] - xa, begin + top * pitch - ya
            px, side_0, side_2 = left, x0 * down - y0 * across, x2 * down - y2 * across
            side_1 = x1 * (down - y0) - y1 * (across - x0)
            while True:  # of two loops LLVM would make vectors, which take longer than so few samples
                if side_0 | side_1 | side_2 >= 0:
                    near = min(max((start + step_x * across + step_y * down) >> 8, least), most)
                    line, cell = np.uintp(row >> fold), np.uintp(px * count + (row & (count - 1)))
                    buffer[line, cell] = max(buffer[line, cell], near << upper | name)
                if px < right:
                    px, across = px + 1, across + SNAP
                    side_0, side_1, side_2 = side_0 - (y0 << 8), side_1 - (y1 << 8), side_2 - (y2 << 8)
                    continue
                if row == bottom:
                    break
                px, row = left, row + 1
                across, down = left * SNAP + samples[row & (count - 1), 0] - xa, begin + row * pitch - ya
                side_0, side_2 = x0 * down - y0 * across, x2 * down - y2 * across
                side_1 = x1 * (down - y0) - y1 * (across - x0)
            continue
        for i in range(LANES):
            inside[0, i] = x0 * beneath[i] - y0 * aside[i]
            inside[1, i] = x1 * beneath[i] - y1 * aside[i]
            inside[2, i] = x2 * beneath[i] - y2 * aside[i]
            rise[i] = step_x * aside[i] + step_y * beneath[i]
        far = rightmost + (block - 1) * SNAP
        most_0 = max(x0 * begin, x0 * end) - min(y0 * leftmost, y0 * far)
        most_1 = max(x1 * begin, x1 * end) - min(y1 * leftmost, y1 * far)
        most_2 = max(x2 * begin, x2 * end) - min(y2 * leftmost, y2 * far)
        for y_row in range(top >> fold, (bottom >> fold) + 1):
            down = y_row * SNAP - ya
            for first in range(left, right + 1, block):
                column = min(first, width - block)
                across = column * SNAP - xa
                side_0, side_2 = x0 * down - y0 * across, x2 * down - y2 * across
                side_1 = x1 * (down - y0) - y1 * (across - x0)
                if (side_0 + most_0) | (side_1 + most_1) | (side_2 + most_2) < 0:  # all of it is outside
                    continue
                corner = start + step_x * across + step_y * down
                at = np.uintp(y_row * buffer.shape[1] + column * count)
                for i in range(LANES):
                    side = (side_0 + inside[0, i]) | (side_1 + inside[1, i]) | (side_2 + inside[2, i])
                    near = min(max((corner + rise[i]) >> 8, least), most)
                    value = near << upper | name if side >= 0 else np.int64(0)
                    cell = at + np.uintp(i)
                    flat[cell] = max(flat[cell], value)


MOST_LABELS = 254  # objects in an image, and parts with a look of their own


@dataclass(frozen=True, slots=True, eq=False)
class Visibility:
    """What an image shows of each object and part, counted at pixel centres; boxes of what is hidden are zero."""

    mask: Bytes  # [height, width], object index + 1, 0 for the ground
    boxes: Ints  # [object, left top width height]
    visible: Ints  # [object], pixels
    parts: Bytes | None  # [height, width], the label of the part seen; None where not requested
    part_boxes: tuple[Ints, ...]  # per object [part, left top width height], in the order of `list_parts`
    part_visible: tuple[Ints, ...]  # per object [part], pixels
    numbers: Bytes | None  # [height, width], the part seen, counted from 1 in its object; None where not requested


@cache
def list_parts(mesh: Mesh) -> tuple[str, ...]:
    """The parts of a mesh, each once, in its order; neither the main body nor what is only drawn is one."""
    return tuple(dict.fromkeys(p for p in mesh.parts if p != mesh.parts[0] and not p.startswith("_")))


def part_labels(scene: Scene, bodies: Sequence[Body]) -> Bytes:
    """[surface] 1, 2, … for the parts that the scene's objects list, in its order; 0 for all else."""
    if sum(len(o.parts) for o in scene.objects) > MOST_LABELS:
        raise UserError(f"a scene can list at most {MOST_LABELS} parts to be told apart in an image")
    labels = bytearray(sum([len(body.mesh.parts) for body in bodies]))
    count = first = 0
    for body, thing in zip(bodies, scene.objects, strict=True):
        for part in thing.parts:
            count += 1
            for i in _find_named(body.mesh).get(part.name, ()):
                labels[first + i] = count
        first += len(body.mesh.parts)
    return np.frombuffer(labels, np.uint8)


@cache
def _find_named(mesh: Mesh) -> dict[str, tuple[int, ...]]:
    """The surfaces of each name."""
    return {name: tuple(i for i, other in enumerate(mesh.parts) if other == name) for name in mesh.parts}


def name_parts(bodies: Sequence[Body]) -> tuple[tuple[str, ...], ...]:
    """Of each object all its parts, whether its scene lists them or not, in the order of their numbers."""
    return tuple(list_parts(body.mesh) for body in bodies)


def number_parts(bodies: Sequence[Body]) -> Bytes:
    """[surface] 1, 2, … for all the parts of an object, counted in each anew; 0 for its main body."""
    return np.concatenate([np.zeros(0, np.uint8), *((_slots(body.mesh) + 1).astype(np.uint8) for body in bodies)])


def measure_visibility(
    stage: SceneMesh, camera: Camera, size: tuple[int, int], labels: Bytes | None = None, numbers: Bytes | None = None
) -> Visibility:
    """Masks, boxes and visible pixels, the same on every machine.

    `labels` are those of `part_labels`, `numbers` those of `number_parts`; a mask is made of each that is given.
    """
    if len(stage.bodies) > MOST_LABELS:
        raise UserError(f"{len(stage.bodies)} objects do not fit a mask of bytes; an image holds at most {MOST_LABELS}")
    surfaces, boxes, counts = _find_surfaces(poses_of(stage.bodies), camera, size)
    planes: list[Bytes | None] = []
    for given in ((stage.body_of + 1).astype(np.uint8), labels, numbers):
        plane = None if given is None else np.zeros((size[1], size[0]), np.uint8)
        planes.append(plane)
        if plane is not None and given is not None and given.any():
            _paint_labels(surfaces, np.concatenate([np.zeros(1, np.uint8), given]), plane)
    whole = _merge_boxes(boxes, counts, stage.body_of, len(stage.bodies))
    starts = [0, *accumulate(len(list_parts(body.mesh)) for body in stage.bodies)]
    slots = [_slots(body.mesh) for body in stage.bodies]
    whose = [np.where(own < 0, own, own + first) for own, first in zip(slots, starts, strict=False)]
    merged = _merge_boxes(boxes, counts, np.concatenate([np.zeros(0, np.int32), *whose]), starts[-1])
    part_boxes, part_visible = (tuple(rows[a:b] for a, b in pairwise(starts)) for rows in merged)
    mask, parts, each = planes
    assert mask is not None
    return Visibility(mask, *whole, parts, part_boxes, part_visible, each)


@lru_cache(maxsize=RECENT)
def _find_surfaces(poses: tuple[Pose, ...], camera: Camera, size: tuple[int, int]) -> tuple[Shorts, Ints, Ints]:
    """[height, width] the surface seen, from 1; of each surface its pixels, and its first and last column and row."""
    planes, corners, _, _, surface_of, body_of = place_meshes(poses)
    buffer = _draw_buffer(planes, corners, camera, size, CENTRE)
    surfaces = np.zeros((size[1], size[0]), np.uint16 if len(body_of) < 1 << 16 else np.uint32)
    counts, boxes = np.zeros(len(body_of), np.int32), np.zeros((len(body_of), 4), np.int32)
    _measure_surfaces(buffer, surface_of, surfaces, boxes, counts)
    return surfaces, boxes, counts


def measure_labels(plane: Bytes, count: int) -> tuple[Ints, Ints]:
    """[label, left top width height] and [label] pixels of the labels 1 to `count` of a mask."""
    boxes, visible = np.zeros((count, 4), np.int32), np.zeros(count, np.int32)
    for k in range(count):
        rows, columns = np.nonzero(plane == k + 1)
        if len(rows):
            left, top = columns.min(), rows.min()
            boxes[k] = (left, top, columns.max() + 1 - left, rows.max() + 1 - top)
            visible[k] = len(rows)
    return boxes, visible


def draw_buffer(stage: SceneMesh, camera: Camera, size: tuple[int, int], samples: Longs) -> Buffer:
    """The visibility buffer of an image."""
    return _draw_buffer(stage.planes, stage.corners, camera, size, samples)


def _draw_buffer(planes: Doubles, corners: Ints, camera: Camera, size: tuple[int, int], samples: Longs) -> Buffer:
    buffer = np.zeros((size[1], size[0] * len(samples)), np.int64)
    x, y, nearness = np.empty((3, planes.shape[1]), np.int32)
    snap(planes, camera.pack(size), x, y, nearness)
    draw_triangles(x, y, nearness, corners, samples, buffer)
    return buffer


@cache
def _slots(mesh: Mesh) -> Ints:
    """[surface] where its part stands among the named ones; −1 for none."""
    names = list_parts(mesh)
    return np.array([names.index(p) if p in names else -1 for p in mesh.parts], np.int32)


@exact
def _measure_surfaces(buffer: Buffer, surface_of: Ints, surfaces: Shorts, boxes: Ints, counts: Ints) -> None:
    """The surface at each pixel, from 1, and for each surface its pixels and its first and last column and row."""
    for y in range(surfaces.shape[0]):
        for x in range(surfaces.shape[1]):
            cell = buffer[y, x]
            if cell == 0:
                continue
            s = np.uint32(surface_of[np.uint32(cell)])
            surfaces[y, x] = s + 1
            if counts[s] == 0:
                boxes[s, 0], boxes[s, 1], boxes[s, 2] = x, y, x
            boxes[s, 0] = min(boxes[s, 0], x)
            boxes[s, 2] = max(boxes[s, 2], x)
            boxes[s, 3] = y
            counts[s] += 1


@exact
def _paint_labels(surfaces: Shorts, labels: Bytes, out: Bytes) -> None:
    for y in range(out.shape[0]):
        row, painted = surfaces[y], out[y]
        for x in range(len(row)):
            painted[x] = labels[row[x]]


@exact
def _merge_boxes(boxes: Ints, counts: Ints, whose: Ints, many: int) -> tuple[Ints, Ints]:
    """Boxes and pixels of what several surfaces make up; last columns and rows become widths and heights."""
    out_boxes, out_counts = np.zeros((many, 4), np.int32), np.zeros(many, np.int32)
    for s in range(len(counts)):
        i = whose[s]
        if i < 0 or counts[s] == 0:
            continue
        if out_counts[i] == 0:
            for k in range(4):
                out_boxes[i, k] = boxes[s, k]
        for k in range(2):
            out_boxes[i, k] = min(out_boxes[i, k], boxes[s, k])
            out_boxes[i, k + 2] = max(out_boxes[i, k + 2], boxes[s, k + 2])
        out_counts[i] += counts[s]
    for i in range(len(out_counts)):
        if out_counts[i] > 0:
            for k in range(2):
                out_boxes[i, k + 2] += 1 - out_boxes[i, k]
    return out_boxes, out_counts
