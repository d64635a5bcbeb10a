"""Light on surfaces: how much of each lamp a point sees, what it scatters, and its highlights."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import fast
from ..geometry.visibility import NEARNESS, Buffer

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

LIFT = 0.07  # points are lifted off their surface by this before they look for the lamp
LEAST = 0.10  # and only what stands higher by this can hide it
ROUGH = 0.10  # fourth power of the dull material's roughness
SHEEN = 0.035  # share of the light that it mirrors
BRUSHED = 0.035  # the same power for metal, whose highlights are narrow around an upright axis
UPRIGHT = 0.12  # and long along it: how much an upright deviation counts
LUSTRE = 1.2  # how bright they are


@fast
def open_to_lamp(
    count: int,
    points: Floats,
    lamp: Floats,
    camera: npt.NDArray[np.float64],
    margin: int,
    shadow: Buffer,
    out: Floats,
) -> None:
    """The share of the shadow cells around a point's own that let the lamp's light through."""
    height, width = shadow.shape
    flat = shadow.reshape(-1)
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    lx, ly, lz = lamp[0], lamp[1], lamp[2]
    lower = one / lz
    lift, bias = np.float32(LIFT), np.float32(LEAST) / lz
    c = camera.astype(np.float32)
    # into names of their own: what is written to `out` can then not have changed them
    ex, ey, ez, rx, ry = c[0], c[1], c[2], c[3], c[4]
    ux, uy, uz, bx, by, bz, focal = c[6], c[7], c[8], c[9], c[10], c[11], c[12]
    mx, my = c[13] + np.float32(margin), c[14] + np.float32(margin)
    right, bottom = np.float32(width - 3), np.float32(height - 3)
    near = np.float32(NEARNESS) / ez
    # nearness also falls with the depth of a cell's ground, which is the same along a row: fall + row · tilt
    tilt = uz / focal
    fall = bz - (my - half) * tilt
    for i in range(count):
        nx, ny, nz = points[3, i], points[4, i], points[5, i]
        px, py, pz = points[0, i] + lift * nx, points[1, i] + lift * ny, points[2, i] + lift * nz
        if (lx - px) * nx + (ly - py) * ny + (lz - pz) * nz <= zero:
            out[i] = zero
            continue
        left = max(one - pz * lower, np.float32(0.05))
        longer = one / left
        dx, dy = lx + (px - lx) * longer - ex, ly + (py - ly) * longer - ey
        depth = ez * bz - dx * bx - dy * by
        scale = focal / max(depth, np.float32(0.1))
        x = mx + scale * (dx * rx + dy * ry)
        y = my - scale * (dx * ux + dy * uy - ez * uz)
        if x < np.float32(2.0) or x > right or y < np.float32(2.0) or y > bottom:
            out[i] = one
            continue
        own = near / (left - bias)
        ix, iy = np.int64(x), np.int64(y)
        fx, fy = x - np.float32(ix) - half, y - np.float32(iy) - half
        # a smooth bump over three cells: their shares when the place is f off the middle one's centre
        before, after = half * (half - fx) * (half - fx), half * (half + fx) * (half + fx)
        above, below = half * (half - fy) * (half - fy), half * (half + fy) * (half + fy)
        seen = zero
        for row in range(3):
            line = iy - 1 + row
            limit = np.int64(own * (fall + tilt * np.float32(line))) << 32
            cell = line * width + ix  # as an unsigned index, which the compiler need not check for a sign
            free = before if flat[np.uintp(cell - 1)] <= limit else zero
            free += one - before - after if flat[np.uintp(cell)] <= limit else zero
            free += after if flat[np.uintp(cell + 1)] <= limit else zero
            seen += free * (above if row == 0 else below if row == 2 else one - above - below)
        out[i] = seen


@fast
def scatter(count: int, points: Floats, lamp: Floats, open_: Floats, light: Floats) -> None:
    """Add a lamp's light to [rgb, point] and leave its bare strength in `open_`."""
    lx, ly, lz = lamp[0], lamp[1], lamp[2]
    ax, ay, az = lamp[7], lamp[8], lamp[9]
    zero = np.float32(0.0)
    for i in range(count):
        dx, dy, dz = lx - points[0, i], ly - points[1, i], lz - points[2, i]
        square = dx * dx + dy * dy + dz * dz
        lit = max(points[3, i] * dx + points[4, i] * dy + points[5, i] * dz, zero)
        facing = max(dx * ax + dy * ay + dz * az, zero)
        open_[i] *= lit * facing / (square * square)
    for k in range(3):
        power = lamp[3 + k]
        plane = light[k]
        for i in range(count):
            plane[i] += power * open_[i]


@fast
def highlight(
    count: int,
    points: Floats,
    lamp: Floats,
    eye: Floats,
    strength: Floats,
    dull: Floats,
    brushed: Floats,
    gloss: Floats,
) -> None:
    """Add a lamp's highlight, soft on what is dull and a streak on brushed metal. `gloss` is [rgb, point]."""
    one, rough = np.float32(1.0), np.float32(ROUGH)
    scale, lustre = np.float32(ROUGH * SHEEN), np.float32(LUSTRE)
    narrow, upright = np.float32(1 / BRUSHED), np.float32(UPRIGHT / BRUSHED)
    for i in range(count):
        dx, dy, dz = lamp[0] - points[0, i], lamp[1] - points[1, i], lamp[2] - points[2, i]
        inverse = one / np.sqrt(dx * dx + dy * dy + dz * dz)
        ex, ey, ez = eye[0] - points[0, i], eye[1] - points[1, i], eye[2] - points[2, i]
        other = one / np.sqrt(ex * ex + ey * ey + ez * ez)
        hx, hy, hz = dx * inverse + ex * other, dy * inverse + ey * other, dz * inverse + ez * other
        half = one / np.sqrt(hx * hx + hy * hy + hz * hz)
        along = (points[3, i] * hx + points[4, i] * hy + points[5, i] * hz) * half
        sharp = along * along * (rough - one) + one
        hx, hy, hz = hx * half - points[3, i], hy * half - points[4, i], hz * half - points[5, i]
        streak = one + (hx * hx + hy * hy) * narrow + hz * hz * upright
        peak = scale / (sharp * sharp) * dull[i] + lustre / (streak * streak) * brushed[i]
        peak *= strength[i]
        gloss[0, i] += lamp[3] * peak
        gloss[1, i] += lamp[4] * peak
        gloss[2, i] += lamp[5] * peak


@fast
def surround(
    count: int,
    points: Floats,
    body: Ints,  # [point]
    stand_ins: Floats,  # [body, …], see stand_in.py
    sky: Floats,
    bounce: Floats,
    hidden: Floats,  # [point], working memory
    light: Floats,
) -> None:
    """Begin with the even light: from the sky above, off the ground below, less what neighbours hide."""
    half, one, zero = np.float32(0.5), np.float32(1.0), np.float32(0.0)
    hidden[:count] = one
    for j in range(len(stand_ins)):
        cx, cy, cz, r = stand_ins[j, 1], stand_ins[j, 2], stand_ins[j, 3], stand_ins[j, 6]
        strength = np.float32(0.8) * r * r
        for i in range(count):
            dx, dy, dz = cx - points[0, i], cy - points[1, i], cz - points[2, i]
            square = dx * dx + dy * dy + dz * dz
            facing = max(dx * points[3, i] + dy * points[4, i] + dz * points[5, i], zero)
            taken = min(facing * strength / (square * np.sqrt(square)), np.float32(0.8))
            hidden[i] *= one if body[i] == j else one - taken
    for k in range(3):
        above, below = sky[k], bounce[k]
        for i in range(count):
            up = half + half * points[5, i]
            near_ground = min(points[2, i] + np.float32(0.15), one)  # little light reaches under a body
            light[k, i] = (above * up + below * (one - up) * near_ground) * hidden[i]
