"""Light and texture on surfaces: how much of each lamp a point sees and scatters, highlights, patterns."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..geometry.mesh import Body, Mesh, SurfaceLook, list_known_looks, unit_circle, volume
from ..geometry.visibility import NEARNESS
from ..kernels import Doubles, Floats, Ints, Real, fast
from ..scene import Vector
from .image import srgb_to_linear

LARGEST = 2147483520.0  # float that fits a signed integer
LIFT = 0.07  # points are lifted off their surface by this before they look for the lamp
LEAST = 0.10  # and only what stands higher by this can hide it
ROUGH = 0.10  # fourth power of the dull material's roughness
SHEEN = 0.035  # share of the light that it mirrors
BRUSHED = 0.035  # the same power for metal, whose highlights are narrow around an upright axis
UPRIGHT = 0.12  # and long along it: how much an upright deviation counts
LUSTRE = 1.2  # how bright they are


@fast
def shine(
    count: int, points: Floats, lamps: Floats, camera: Doubles, margin: int,
    shadows: Ints,  # [lamp, height, width], see lighting.py
    eye: Floats, dull: Floats, brushed: Floats,
    spots: Floats, open_: Floats,  # [3, point] and [point], working memory
    light: Floats, gloss: Floats,
) -> None:  # fmt: skip
    """Add to [rgb, point] what the lamps throw on the points, and begin their gloss with the lamps' highlights."""
    for k in range(3):
        for i in range(count):
            gloss[k, i] = np.float32(0.0)
    for k in range(len(lamps)):
        lamp_visibility(count, points, lamps[k], camera, margin, shadows[k], spots, open_)
        scatter(count, points, lamps[k], open_, light)
        highlight(count, points, lamps[k], eye, open_, dull, brushed, gloss)


@fast
def lamp_visibility(
    count: int, points: Floats, lamp: Floats, camera: Doubles, margin: int, shadow: Ints,
    spots: Floats,  # [3, point], working memory
    out: Floats,
) -> None:  # fmt: skip
    """The share of the shadow cells around a point's own that let the lamp's light through."""
    height, width = shadow.shape
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    lx, ly, lz = lamp[0], lamp[1], lamp[2]
    lower = one / lz
    lift, bias = np.float32(LIFT), np.float32(LEAST) / lz
    c = camera.astype(np.float32)
    # into names of their own: what is written can then not have changed them
    ex, ey, ez, rx, ry = c[0], c[1], c[2], c[3], c[4]
    ux, uy, uz, bx, by, bz, focal = c[6], c[7], c[8], c[9], c[10], c[11], c[12]
    mx, my = c[13] + np.float32(margin), c[14] + np.float32(margin)
    right, bottom = np.float32(width - 3), np.float32(height - 3)
    near, first, least = np.float32(NEARNESS) / ez, np.float32(2.0), np.float32(0.1)
    column, row, limit = spots[0], spots[1], spots[2]
    for i in range(count):  # no branches: many points at a time
        nx, ny, nz = points[3, i], points[4, i], points[5, i]
        px, py, pz = points[0, i] + lift * nx, points[1, i] + lift * ny, points[2, i] + lift * nz
        facing = (lx - px) * nx + (ly - py) * ny + (lz - pz) * nz
        left = max(one - pz * lower, np.float32(0.05))
        longer = one / left
        dx, dy = lx + (px - lx) * longer - ex, ly + (py - ly) * longer - ey
        scale = focal / max(ez * bz - dx * bx - dy * by, least)
        x, y = mx + scale * (dx * rx + dy * ry), my - scale * (dx * ux + dy * uy - ez * uz)
        kx, ky = min(max(x, first), right), min(max(y, first), bottom)
        known = near / (left - bias)
        known = known if (x == kx) & (y == ky) else np.float32(LARGEST)  # beyond the map nothing is hidden
        column[i], row[i] = kx, ky
        limit[i] = known if facing > zero else zero
    # nearness also falls with the depth of a cell's ground, which is the same along a row: fall + row · tilt
    tilt = uz / focal
    _read_cells(count, spots, shadow, bz - (my - half) * tilt, tilt, out)


@fast
def _read_cells(count: int, spots: Floats, shadow: Ints, fall: Real, tilt: Real, out: Floats) -> None:
    half, one, largest = np.float32(0.5), np.float32(1.0), np.float32(LARGEST)
    flat, step = shadow.reshape(-1), shadow.shape[1]
    shares = np.empty(3, np.float32)
    for i in range(count):
        kx, ky, own = spots[0, i], spots[1, i], spots[2, i]
        if own == np.float32(0.0):
            out[i] = own
            continue
        ix, iy = np.int32(kx), np.int32(ky)
        fx, fy = kx - np.float32(ix) - half, ky - np.float32(iy) - half
        # a smooth bump over three cells: their shares when the place is f off the middle one's centre
        before, after = half * (half - fx) * (half - fx), half * (half + fx) * (half + fx)
        middle = one - before - after
        shares[0], shares[2] = half * (half - fy) * (half - fy), half * (half + fy) * (half + fy)
        shares[1] = one - shares[0] - shares[2]
        seen = np.float32(0.0)
        for k in range(3):
            line = iy + k - 1
            most = np.int32(min(own * (fall + tilt * np.float32(line)), largest))
            cell = np.uintp(line * step + ix)  # unsigned: the compiler need not check for a sign
            free = before * np.float32(flat[cell - np.uintp(1)] < most)
            free += middle * np.float32(flat[cell] < most) + after * np.float32(flat[cell + np.uintp(1)] < most)
            seen += free * shares[k]
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
    count: int, points: Floats, lamp: Floats, eye: Floats,
    strength: Floats, dull: Floats, brushed: Floats, gloss: Floats,
) -> None:  # fmt: skip
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
def fill_ambient_light(
    count: int, points: Floats,
    body: Ints,  # [point]
    stand_ins: Floats,  # [body, …], see proxies.py
    sky: Floats, bounce: Floats,
    hidden: Floats,  # [point], working memory
    light: Floats,
) -> None:  # fmt: skip
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


# Textures are lattices in the body's own frame. The step grows less than the body, so that patterns repeat after 5
# pixels or more on small bodies too. Dots and squares lie in the plane that a surface faces most; stripes run slanted,
# or upright: only official scenes have those.

PATTERNS = {"none": 0.0, "dotted": 1.0, "checkered": 2.0, "striped": 3.0, "upright stripes": 4.0}
BRIGHT = 0.3  # luminance from which on the ink is darker than the colour, not lighter
LIGHT = 0.7  # the strongest channel of a lighter ink, or, for a very dark colour,
MOST = 7.0  # at most this many times the colour's own
WHITE = 0.35  # how far the other channels are drawn toward the strongest
DARKER = 0.2  # what a bright colour is multiplied by
DOT = 0.3  # a dot's radius, in steps
SQUARE = 0.6  # a square's side
STRIPE = 0.45  # a stripe's width
MEANS = np.array([0.0, 0.28, 0.5, STRIPE, STRIPE], np.float32)  # how much of a surface each pattern inks
STEP = (0.15, 0.035)  # the lattice's step in world units: the first, and this much per unit of body scale
SLENDER = (0.5, 25.0)  # what is made of tubes and sheets has a finer one: a share, and this much per girth


def pack_looks(bodies: Sequence[Body]) -> Floats:
    """[surface, rgb metal pattern ink(3)]; colours are linear."""
    return find_look_rows(bodies).astype(np.float32)


def find_look_rows(bodies: Sequence[Body]) -> Doubles:
    """The same in doubles, each look computed once."""
    numbers = np.array([look.number for body in bodies for look in body.looks], np.int64)
    if len(_look_rows[0]) <= numbers.max(initial=-1):
        new = [_pack_look(look) for look in list_known_looks(len(_look_rows[0]))]
        _look_rows[0] = np.concatenate([_look_rows[0], new])
    return _look_rows[0][numbers]


_look_rows: list[Doubles] = [np.empty((0, 8))]  # by the numbers of looks


def _pack_look(look: SurfaceLook) -> tuple[float, ...]:
    color = srgb_to_linear(look.color)
    return (*color, float(look.material == "metal"), PATTERNS[look.texture], *ink_color(color))


def ink_color(color: Vector) -> Vector:
    """What a pattern is painted with: the same hue made lighter and paler, or darker where it is bright."""
    r, g, b = color
    if 0.2126 * r + 0.7152 * g + 0.0722 * b >= BRIGHT:
        return (DARKER * r, DARKER * g, DARKER * b)
    most = max(color)
    light = min(LIGHT, MOST * most)
    r, g, b = (light * (WHITE + (1.0 - WHITE) * c / most) if most else 0.0 for c in color)
    return (r, g, b)


@cache
def mean_thickness(mesh: Mesh) -> float:
    """Volume over surface, in the mesh's units: small for what is made of tubes and sheets."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return float(abs(volume(mesh)) / (np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2))


def texture_frames(bodies: Sequence[Body]) -> Floats:
    """[body, position(3) cosine sine, steps in a world unit]: from the world to the body's lattice."""
    rows = []
    for body in bodies:
        finer = min(SLENDER[0] + SLENDER[1] * mean_thickness(body.mesh), 1.0)
        step = (STEP[0] + STEP[1] * body.scale) * finer
        rows.append((*body.position, *unit_circle(body.rotation), 1.0 / step))
    return np.array(rows, np.float32).reshape(-1, 6)


@fast
def apply_texture(
    count: int,
    points: Floats,  # [position normal, point]
    depth: Floats, surface: Ints, body: Ints,  # [point] each
    looks: Floats, frames: Floats, means: Floats, camera: Doubles,
    out: Floats,  # [rgb, point]
) -> None:  # fmt: skip
    """The colour of each point, its surface's pattern smoothed over a pixel's width."""
    zero, half, one, two = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
    ex, ey, ez = np.float32(camera[0]), np.float32(camera[1]), np.float32(camera[2])
    pixel = np.float32(1.0 / camera[12])
    for i in range(count):
        s = surface[i]
        out[0, i], out[1, i], out[2, i] = looks[s, 0], looks[s, 1], looks[s, 2]
        pattern = looks[s, 4]
        if pattern == zero:
            continue
        f = frames[body[i]]
        cosine, sine, steps = f[3], f[4], f[5]
        dx, dy, dz = points[0, i] - f[0], points[1, i] - f[1], points[2, i] - f[2]
        x, y, z = (dx * cosine + dy * sine) * steps, (dy * cosine - dx * sine) * steps, dz * steps
        vx, vy, vz = ex - points[0, i], ey - points[1, i], ez - points[2, i]
        nx, ny, nz = points[3, i], points[4, i], points[5, i]
        facing = abs(vx * nx + vy * ny + vz * nz) / np.sqrt(vx * vx + vy * vy + vz * vz)
        width = depth[i] * pixel * steps / np.sqrt(max(facing, np.float32(0.1)))
        if pattern >= np.float32(3.0):
            t = (x + y + z) * np.float32(0.5773502691896258)
            if pattern == np.float32(4.0):
                t = (x + y) * np.float32(0.7071067811865476)
            edge = np.float32(STRIPE / 2) - abs(t - np.floor(t) - half)
            share = min(max(half + edge / width, zero), one)
        else:
            mx, my, mz = abs(nx * cosine + ny * sine), abs(ny * cosine - nx * sine), abs(nz)
            if mx >= my and mx >= mz:
                u, v = y, z
            elif my >= mz:
                u, v = x, z
            else:
                u, v = x, y
            if pattern == one:
                u, v = u - np.floor(u) - half, v - np.floor(v) - half
                share = min(max(half + (np.float32(DOT) - np.sqrt(u * u + v * v)) / width, zero), one)
            else:
                scale = np.float32(1 / (2 * SQUARE))
                u, v = u * scale, v * scale
                rise = np.float32(4 * SQUARE) / width
                u = min(max(rise * (np.float32(0.25) - abs(u - np.floor(u) - half)), -one), one)
                v = min(max(rise * (np.float32(0.25) - abs(v - np.floor(v) - half)), -one), one)
                share = half + half * u * v
        fade = min(max(two * width - one, zero), one)
        share += fade * (means[np.int32(pattern)] - share)
        for k in range(3):
            out[k, i] += share * (looks[s, 5 + k] - out[k, i])
