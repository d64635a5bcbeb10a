"""The integer visibility pass: which triangle each sample sees, and the masks, boxes and pixel counts of it.

Vertices are snapped to 1/256 of a pixel and to whole steps of inverse depth; from there on everything is
integer arithmetic, so every machine sees the same. A cell of the buffer holds `nearness << 32 | triangle`,
and drawing is a maximum: order does not matter, and 0 means that nothing is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

import numpy as np

from ..errors import UserError
from ..kernels import Bytes, Doubles, Ints, Longs, exact
from ..scene import Scene
from .camera import Camera
from .mesh import Body, Mesh, SceneMesh

SNAP = 256  # steps in a pixel
NEAR = 1.0  # nothing closer than this is drawn, in world units
NEARNESS = 1 << 30  # steps of inverse depth at depth NEAR
FEW = 6  # samples in the box of a triangle that are tested one by one
GUARD = 1 << 22  # snapped coordinates beyond this could overflow; such triangles are left out

# Where in a pixel samples lie, in steps: (x, y), one row of the buffer each. Rows are evenly spaced, and
# their number is a power of two.
CENTRE = np.array([[128, 128]], np.int64)
FOUR = np.array([[96, 32], [224, 96], [32, 160], [160, 224]], np.int64)  # no two in one row or column

Buffer = Longs  # [height × samples, width]


@exact
def snap(vertices: Doubles, camera: Doubles, x: Longs, y: Longs, nearness: Longs) -> None:
    """Project the vertices; nearness 0 marks one that is too close or behind the camera."""
    focal, cx, cy = camera[12], camera[13], camera[14]
    for i in range(len(vertices)):
        dx = vertices[i, 0] - camera[0]
        dy = vertices[i, 1] - camera[1]
        dz = vertices[i, 2] - camera[2]
        depth = -(dx * camera[9] + dy * camera[10] + dz * camera[11])
        nearness[i] = 0
        if depth < NEAR:
            continue
        scale = focal / depth
        px = cx + scale * (dx * camera[3] + dy * camera[4] + dz * camera[5])
        py = cy - scale * (dx * camera[6] + dy * camera[7] + dz * camera[8])
        if abs(px) * SNAP < GUARD and abs(py) * SNAP < GUARD:
            x[i] = np.int64(np.floor(px * SNAP + 0.5))
            y[i] = np.int64(np.floor(py * SNAP + 0.5))
            nearness[i] = np.int64(np.floor(NEARNESS * NEAR / depth + 0.5))


# An edge on its way down: it meets the row at ORIGIN ± (WHOLE + REST / DIVISOR); SIDE is 1 for a right edge.
WHOLE, REST, WHOLE_STEP, REST_STEP, DIVISOR, ORIGIN, SIDE = range(7)


@exact
def _start_edges(
    x: Longs, y: Longs,
    corners: Longs,  # three, and the first again
    at: int, pitch: int,
    edges: Longs,  # [edge, number]
) -> int:  # fmt: skip
    """Bring the edges of a triangle to the row at height `at`; return how many are not level."""
    used = 0
    for k in range(3):
        xp, yp = x[corners[k]], y[corners[k]]
        run, rise = x[corners[k + 1]] - xp, y[corners[k + 1]] - yp
        if rise == 0:  # the first and the last row bound it already
            continue
        size, across, step = abs(rise), run * (at - yp), run * pitch
        edges[used, WHOLE] = across // size
        edges[used, REST] = across - edges[used, WHOLE] * size
        edges[used, WHOLE_STEP] = step // size
        edges[used, REST_STEP] = step - edges[used, WHOLE_STEP] * size
        edges[used, DIVISOR] = size
        edges[used, ORIGIN] = xp
        edges[used, SIDE] = 1 if rise > 0 else 0
        used += 1
    return used


@exact
def _has_sample_inside(
    x: Longs, y: Longs, a: int, b: int, c: int, samples: Longs, pitch: int, left: int, right: int, top: int, bottom: int
) -> bool:
    """Whether a triangle holds a sample of its box: for small ones, quicker than bringing its edges down."""
    xa, ya, xb, yb, xc, yc = x[a], y[a], x[b], y[b], x[c], y[c]
    for row in range(top, bottom + 1):
        sx, sy = samples[row & (len(samples) - 1), 0], samples[0, 1] + row * pitch
        for px in range(left, right + 1):
            dx = px * SNAP + sx
            if (
                (xb - xa) * (sy - ya) - (dx - xa) * (yb - ya) >= 0
                and (xc - xb) * (sy - yb) - (dx - xb) * (yc - yb) >= 0
                and (xa - xc) * (sy - yc) - (dx - xc) * (ya - yc) >= 0
            ):
                return True
    return False


@exact
def draw_triangles(x: Longs, y: Longs, nearness: Longs, triangles: Ints, samples: Longs, buffer: Buffer) -> None:
    """Draw the triangles that face the camera."""
    count = len(samples)
    pitch = SNAP // count  # from one row of samples to the next, in steps: a power of two, as is their number
    shift = 0
    while 1 << shift < pitch:
        shift += 1
    width, height = buffer.shape[1], buffer.shape[0]
    leftmost, rightmost = samples[:, 0].min(), samples[:, 0].max()
    corners = np.empty(4, np.int64)
    edges = np.empty((3, 7), np.int64)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 2], triangles[t, 1]  # y points down: turn the other way
        xa, ya, xb, yb, xc, yc = x[a], y[a], x[b], y[b], x[c], y[c]
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        if area <= 0:
            continue
        # most triangles of a fine mesh fall between samples; rows lie at samples[0] + row · pitch
        top = max(-((samples[0, 1] - min(ya, yb, yc)) >> shift), 0)
        bottom = min((max(ya, yb, yc) - samples[0, 1]) >> shift, height - 1)
        left = max((min(xa, xb, xc) - rightmost + SNAP - 1) >> 8, 0)
        right = min((max(xa, xb, xc) - leftmost) >> 8, width - 1)
        if left > right or top > bottom or nearness[a] == 0 or nearness[b] == 0 or nearness[c] == 0:
            continue
        if (right - left + 1) * (bottom - top + 1) <= FEW and not _has_sample_inside(
            x, y, a, b, c, samples, pitch, left, right, top, bottom
        ):
            continue
        na, nb, nc = nearness[a], nearness[b], nearness[c]
        step_x = SNAP * ((nb - na) * (yc - ya) - (nc - na) * (yb - ya)) // area
        step_y = SNAP * ((nc - na) * (xb - xa) - (nb - na) * (xc - xa)) // area
        least, most = min(na, nb, nc), max(na, nb, nc)
        corners[0], corners[1], corners[2], corners[3] = a, b, c, a
        used = _start_edges(x, y, corners, samples[0, 1] + top * pitch, pitch, edges)
        for row in range(top, bottom + 1):
            sx = samples[row & (count - 1), 0]
            first, last = left, right
            for k in range(used):
                if edges[k, SIDE] == 1:
                    last = min(last, (edges[k, ORIGIN] + edges[k, WHOLE] - sx) >> 8)
                else:
                    first = max(first, (edges[k, ORIGIN] - edges[k, WHOLE] - sx + SNAP - 1) >> 8)
                rest = edges[k, REST] + edges[k, REST_STEP]
                carry = 1 if rest >= edges[k, DIVISOR] else 0
                edges[k, WHOLE] += edges[k, WHOLE_STEP] + carry
                edges[k, REST] = rest - carry * edges[k, DIVISOR]
            right_of, below = first * SNAP + sx - xa, samples[0, 1] + row * pitch - ya
            start = na + ((step_x * right_of + step_y * below) >> 8)
            for px in range(first, last + 1):
                near = min(max(start + step_x * (px - first), least), most)
                buffer[row, px] = max(buffer[row, px], near << 32 | t)


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
    count, labels = 0, []
    for body, thing in zip(bodies, scene.objects, strict=True):
        own = {part.name: count + k + 1 for k, part in enumerate(thing.parts)}
        labels += [own.get(name, 0) for name in body.mesh.parts]
        count += len(thing.parts)
    return np.array(labels, np.uint8)


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
    buffer = draw_buffer(stage, camera, size, CENTRE)
    mask = np.empty((size[1], size[0]), np.uint8)
    counts, boxes = np.zeros(len(stage.body_of), np.int32), np.zeros((len(stage.body_of), 4), np.int32)
    _measure_surfaces(buffer, stage.surface_of, stage.body_of, mask, boxes, counts)
    planes: list[Bytes | None] = []
    for given in (labels, numbers):
        plane = None if given is None else np.zeros_like(mask)
        planes.append(plane)
        if plane is not None and given is not None and given.any():
            _paint_labels(buffer, stage.surface_of, given, plane)
    whole = _merge_boxes(boxes, counts, stage.body_of, len(stage.bodies))
    starts = [0, *accumulate(len(list_parts(body.mesh)) for body in stage.bodies)]
    slots = [_slots(body.mesh) for body in stage.bodies]
    whose = [np.where(own < 0, own, own + first) for own, first in zip(slots, starts, strict=False)]
    merged = _merge_boxes(boxes, counts, np.concatenate([np.zeros(0, np.int32), *whose]), starts[-1])
    part_boxes, part_visible = (tuple(rows[a:b] for a, b in pairwise(starts)) for rows in merged)
    return Visibility(mask, *whole, planes[0], part_boxes, part_visible, planes[1])


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


def measure_numbers(mask: Bytes, numbers: Bytes, counts: Sequence[int]) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
    """The part boxes and visible pixels of `Visibility`, read off its two masks; each object has so many parts."""
    starts = np.array([0, *accumulate(counts)], np.int32)
    boxes, visible = np.zeros((starts[-1], 4), np.int32), np.zeros(starts[-1], np.int32)
    _measure_numbers(mask, numbers, starts, boxes, visible)
    merged = _merge_boxes(boxes, visible, np.arange(starts[-1], dtype=np.int32), int(starts[-1]))
    part_boxes, part_visible = (tuple(rows[a:b] for a, b in pairwise(starts.tolist())) for rows in merged)
    return part_boxes, part_visible


@exact
def _measure_numbers(mask: Bytes, numbers: Bytes, starts: Ints, boxes: Ints, counts: Ints) -> None:
    """For each part its pixels and its first and last column and row."""
    for y in range(mask.shape[0]):
        for x in range(mask.shape[1]):
            if numbers[y, x] > 0:
                s = starts[mask[y, x] - 1] + numbers[y, x] - 1
                if counts[s] == 0:
                    boxes[s, 0], boxes[s, 1], boxes[s, 2] = x, y, x
                boxes[s, 0] = min(boxes[s, 0], x)
                boxes[s, 2] = max(boxes[s, 2], x)
                boxes[s, 3] = y
                counts[s] += 1


def draw_buffer(stage: SceneMesh, camera: Camera, size: tuple[int, int], samples: Longs) -> Buffer:
    """The visibility buffer of an image."""
    buffer = np.zeros((size[1] * len(samples), size[0]), np.int64)
    x, y, nearness = np.empty((3, len(stage.vertices)), np.int64)
    snap(stage.vertices, camera.pack(size), x, y, nearness)
    draw_triangles(x, y, nearness, stage.triangles, samples, buffer)
    return buffer


@cache
def _slots(mesh: Mesh) -> Ints:
    """[surface] where its part stands among the named ones; −1 for none."""
    names = list_parts(mesh)
    return np.array([names.index(p) if p in names else -1 for p in mesh.parts], np.int32)


@exact
def _measure_surfaces(buffer: Buffer, surface_of: Ints, body_of: Ints, mask: Bytes, boxes: Ints, counts: Ints) -> None:
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
def _paint_labels(buffer: Buffer, surface_of: Ints, labels: Bytes, out: Bytes) -> None:
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            cell = buffer[y, x]
            if cell != 0:
                out[y, x] = labels[surface_of[cell & 0xFFFFFFFF]]


@exact
def _merge_boxes(boxes: Ints, counts: Ints, whose: Ints, many: int) -> tuple[Ints, Ints]:
    """Boxes and pixels of what several surfaces make up; last columns and rows become widths and heights."""
    out_boxes, out_counts = np.zeros((many, 4), np.int32), np.zeros(many, np.int32)
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
    return out_boxes, out_counts
