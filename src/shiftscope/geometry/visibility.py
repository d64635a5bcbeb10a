"""The integer visibility pass: which triangle each sample of the image sees.

Vertices are snapped to 1/256 of a pixel and to whole steps of inverse depth; from there on everything is
integer arithmetic, so every machine sees the same. A cell of the buffer holds `nearness << 32 | triangle`,
and drawing is a maximum: order does not matter, and 0 means that nothing is there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import exact

SNAP = 256  # steps in a pixel
NEAR = 1.0  # nothing closer than this is drawn, in world units
NEARNESS = 1 << 30  # steps of inverse depth at depth NEAR
FEW = 6  # samples in the box of a triangle that are asked one by one whether any lies inside
GUARD = 1 << 22  # snapped coordinates beyond this could overflow; such triangles are left out

# Where in a pixel samples lie, in steps: (x, y), one row of the buffer each. Rows are evenly spaced, and
# their number is a power of two.
CENTRE = np.array([[128, 128]], np.int64)
FOUR = np.array([[96, 32], [224, 96], [32, 160], [160, 224]], np.int64)  # no two in one row or column

Buffer = npt.NDArray[np.int64]  # [height × samples, width]


@exact
def snap(
    vertices: npt.NDArray[np.float64],
    camera: npt.NDArray[np.float64],
    x: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    nearness: npt.NDArray[np.int64],
) -> None:
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
def _begin(
    x: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    corners: npt.NDArray[np.int64],  # three, and the first again
    at: int,
    pitch: int,
    edges: npt.NDArray[np.int64],  # [edge, number]
) -> int:
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
def _any_inside(
    x: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    a: int,
    b: int,
    c: int,
    samples: npt.NDArray[np.int64],
    pitch: int,
    left: int,
    right: int,
    top: int,
    bottom: int,
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
def draw(
    x: npt.NDArray[np.int64],
    y: npt.NDArray[np.int64],
    nearness: npt.NDArray[np.int64],
    triangles: npt.NDArray[np.int32],
    samples: npt.NDArray[np.int64],
    buffer: Buffer,
) -> None:
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
        if (right - left + 1) * (bottom - top + 1) <= FEW and not _any_inside(
            x, y, a, b, c, samples, pitch, left, right, top, bottom
        ):
            continue
        na, nb, nc = nearness[a], nearness[b], nearness[c]
        step_x = SNAP * ((nb - na) * (yc - ya) - (nc - na) * (yb - ya)) // area
        step_y = SNAP * ((nc - na) * (xb - xa) - (nb - na) * (xc - xa)) // area
        least, most = min(na, nb, nc), max(na, nb, nc)
        corners[0], corners[1], corners[2], corners[3] = a, b, c, a
        used = _begin(x, y, corners, samples[0, 1] + top * pitch, pitch, edges)
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
