"""Lighting: the lamps, their soft shadows, and the light on the ground.

CLEVR's light: a warm key, a bluish fill, a white back lamp, a far sun, and a dim even sky.

The lamps stand where CLEVR's do; their strengths were fitted to the ground of official images and then
raised by eye for clearer shadows. A power is the light that a white surface at distance 1 sends back.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.camera import check_place, normalize
from ..geometry.mesh import SceneMesh
from ..geometry.visibility import CENTRE, GUARD, NEAR, NEARNESS, SNAP, draw_triangles
from ..kernels import Doubles, Floats, Ints, Longs, exact, fast
from ..scene import Scene, Vector


@dataclass(frozen=True, slots=True)
class Lamp:
    """A square lamp that faces the origin."""

    name: str
    position: Vector
    power: Vector  # red, green, blue
    half: float  # half its side, in world units; softens its shadow


GROUND = 0.36  # how much of the light the ground sends back
BOUNCE: Vector = (0.22, 0.215, 0.21)  # what comes off the ground, on a white surface that faces down
SKY: Vector = (0.105, 0.107, 0.112)  # light from all of the sky on a white level surface

LAMPS = (
    Lamp("key", (6.44671, -2.90517, 4.2584), (28.0, 25.6, 21.6), 0.4),
    Lamp("fill", (-4.67112, -4.0136, 3.01122), (4.4, 4.7, 5.8), 0.5),
    Lamp("back", (-1.1685, 2.64602, 5.81574), (6.5, 6.7, 6.7), 0.4),
)
SUN = Lamp("sun", (116.6, -66.3, 258.2), (20000.0, 20000.0, 19800.0), 12.0)


def lamps_of(scene: Scene) -> tuple[Lamp, ...]:
    """The lamps of a scene: moved by the jitter its maker noted, else CLEVR's own."""
    jitter = scene.note("lamps")
    if jitter is None:
        return (*LAMPS, SUN)
    check_place((value for by in jitter for value in by), "a lamp", scene)
    moved = []
    for lamp, by in zip(LAMPS, jitter, strict=True):
        x, y, z = (float(p) + float(d) for p, d in zip(lamp.position, by, strict=True))
        moved.append(replace(lamp, position=(x, y, z)))
    return (*moved, SUN)


def pack_lamps(lamps: tuple[Lamp, ...]) -> Floats:
    """[lamp, position power half axis side side]: the 16 numbers kernels take; the axis leaves the origin."""
    rows = []
    for lamp in lamps:
        ax, ay, az = normalize(lamp.position)
        ux, uy, _ = normalize((-ay, ax, 0.0))
        frame = (ax, ay, az, ux, uy, 0.0, -uy * az, ux * az, uy * ax - ux * ay)
        rows.append((*lamp.position, *lamp.power, lamp.half, *frame))
    return np.array(rows, np.float32)


# The ground is an endless grey plane. All of it is shaded, even where objects hide it, because metal reflects it;
# light on a plane changes slowly, so half the image's resolution is enough.


@fast
def project_ground(camera: Doubles, x: Floats, y: Floats, depth: Floats) -> None:
    """Where each pixel's ray meets the ground, [height, width] each; the camera must look down."""
    height, width = depth.shape
    focal = np.float32(camera[12])
    r0, r1 = np.float32(camera[3]), np.float32(camera[4])
    for row in range(height):
        v = np.float32(camera[14] - row - 0.5) / focal
        dx = np.float32(camera[6]) * v - np.float32(camera[9])
        dy = np.float32(camera[7]) * v - np.float32(camera[10])
        dz = np.float32(camera[8]) * v - np.float32(camera[11])  # the right vector is level
        far = np.float32(camera[2]) / max(-dz, np.float32(1e-3))
        for column in range(width):
            u = np.float32(column + 0.5 - camera[13]) / focal
            x[row, column] = np.float32(camera[0]) + far * (dx + r0 * u)
            y[row, column] = np.float32(camera[1]) + far * (dy + r1 * u)
            depth[row, column] = far


def find_windows(views: Doubles, lumps: Floats, size: tuple[int, int]) -> Longs:
    """[lump, left top right bottom], in cells of half the image's resolution: where each darkens the ground.

    A view of all, or of each lump, as `Camera.pack` gives it.
    """
    v = np.atleast_2d(views).T[:, :, None]
    focal, cx, cy = v[12:15] / 2
    signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)], np.float64)
    x, y, reach = (lumps[:, k, None].astype(np.float64) for k in (0, 1, 7))
    dx, dy, dz = x + signs[:, 0] * reach - v[0], y + signs[:, 1] * reach - v[1], -v[2]
    depth = np.maximum(-(dx * v[9] + dy * v[10] + dz * v[11]), 1.0)
    px = cx + focal / depth * (dx * v[3] + dy * v[4])
    py = cy - focal / depth * (dx * v[6] + dy * v[7] + dz * v[8])
    first, last = np.stack([px.min(1), py.min(1)], axis=1), np.stack([px.max(1), py.max(1)], axis=1)
    whole = np.concatenate([np.trunc(first), np.trunc(last) + 1], axis=1)
    found: Longs = np.clip(whole, 0, 2 * ((size[0] + 1) // 2, (size[1] + 1) // 2)).astype(np.int64)
    return found


@fast
def darken_ground(x: Floats, y: Floats, lumps: Floats, windows: Longs, light: Floats) -> None:
    """Take the light from above that balls (lumps of proxies.py) hide; a part returns in the ball's colour."""
    one = np.float32(1.0)
    hidden = np.empty(x.shape[1], np.float32)
    for j in range(len(lumps)):
        cx, cy, cz = lumps[j, 0], lumps[j, 1], lumps[j, 2]
        strength, high = lumps[j, 3] * cz, cz * cz
        left, count = windows[j, 0], windows[j, 2] - windows[j, 0]
        for row in range(windows[j, 1], windows[j, 3]):
            there, away = x[row, left:], y[row, left:]
            for column in range(count):
                dx, dy = there[column] - cx, away[column] - cy
                square = dx * dx + dy * dy + high
                hidden[column] = min(strength / (square * np.sqrt(square)), one)
            for k in range(3):
                loss = one - np.float32(0.45) * lumps[j, 4 + k]
                lit = light[k, row, left:]
                for column in range(count):
                    lit[column] *= one - hidden[column] * loss


@fast
def add_lamp_light(x: Floats, y: Floats, lamp: Floats, open_: Floats, light: Floats) -> None:
    """Add a lamp's light where it is not hidden."""
    lx, ly, lz = lamp[0], lamp[1], lamp[2]
    ax, ay, az = lamp[7], lamp[8], lamp[9]
    height, width = x.shape
    fall = np.empty(width, np.float32)
    for row in range(height):
        for column in range(width):
            dx, dy = lx - x[row, column], ly - y[row, column]
            square = dx * dx + dy * dy + lz * lz
            facing = max(dx * ax + dy * ay + lz * az, np.float32(0.0))
            fall[column] = lz * facing / (square * square) * open_[row, column]
        for k in range(3):
            power = lamp[3 + k]
            for column in range(width):
                light[k, row, column] += power * fall[column]


@fast
def upsample_light(coarse: Floats, factor: float, first: int, out: Floats) -> None:
    """Fill the rows from `first` on: [rgb, ⌈height/2⌉, ⌈width/2⌉] at twice the resolution, times a factor."""
    height, width = out.shape[1], out.shape[2]
    rows, columns = coarse.shape[1], coarse.shape[2]
    near, far = np.float32(0.75 * factor), np.float32(0.25 * factor)
    line = np.empty(columns + 2, np.float32)
    for k in range(3):
        for y in range(height):
            own = (first + y) >> 1
            other = min(max(own + (1 if (first + y) & 1 else -1), 0), rows - 1)
            for x in range(columns):
                line[x + 1] = near * coarse[k, own, x] + far * coarse[k, other, x]
            line[0], line[columns + 1] = line[1], line[columns]
            for x in range(width // 2):
                out[k, y, 2 * x] = np.float32(0.75) * line[x + 1] + np.float32(0.25) * line[x]
                out[k, y, 2 * x + 1] = np.float32(0.75) * line[x + 1] + np.float32(0.25) * line[x + 2]
            if width & 1:
                out[k, y, width - 1] = line[columns]


# Shadow maps: every triangle is projected from the lamp onto the ground and drawn where the camera would see it there,
# at half the resolution. The ground reads its own cell, an object's point the cell that its ray from the lamp ends in.

SIGMAS = np.array([0.7, 1.6, 3.2, 6.5], np.float32)  # how far each level of blur spreads, in cells
LEVELS = len(SIGMAS) + 1  # the first is not blurred
SPREAD = (1 << len(SIGMAS)) - 1  # how far all of the blur carries, in cells


def shadow_margin(size: tuple[int, int]) -> int:
    """How many cells a map reaches beyond the image, for light that passes over its rim."""
    return size[0] // 10


def draw_shadow_map(stage: SceneMesh, lamp: Floats, camera: Doubles, margin: int, out: Ints) -> None:
    """Draw the shadow map of a lamp, its nearness, into `out`, which reaches `margin` cells beyond the image."""
    out.fill(0)
    x, y, nearness = np.empty((3, stage.planes.shape[1]), np.int32)
    _project_shadow(stage.planes, lamp, camera, margin, x, y, nearness)
    draw_triangles(x, y, nearness, stage.corners, CENTRE, out)


@exact
def _project_shadow(
    planes: Doubles, lamp: Floats, camera: Doubles, margin: int, x: Ints, y: Ints, nearness: Ints
) -> None:
    """Vertices, [xyz, vertex], onto the ground and into the image; nearness grows toward the lamp along each ray."""
    lx, ly, lower = np.float64(lamp[0]), np.float64(lamp[1]), 1.0 / np.float64(lamp[2])
    ex, ey, ez, rx, ry, rz = lx - camera[0], ly - camera[1], -camera[2], camera[3], camera[4], camera[5]
    ux, uy, uz, bx, by, bz = camera[6], camera[7], camera[8], camera[9], camera[10], camera[11]
    focal, cx, cy = camera[12], camera[13] + margin, camera[14] + margin
    for i in range(planes.shape[1]):
        left = 1.0 - planes[2, i] * lower  # of the lamp's height, at the vertex: all below is as many times too small
        dx, dy, dz = ex * left + (planes[0, i] - lx), ey * left + (planes[1, i] - ly), ez * left
        depth = -(dx * bx + dy * by + dz * bz)
        near = 1.0 / max(depth, NEAR)
        px = cx + focal * near * (dx * rx + dy * ry + dz * rz)
        py = cy - focal * near * (dx * ux + dy * uy + dz * uz)
        x[i] = np.int32(np.floor(min(max(px * SNAP, -1.0 * GUARD), 1.0 * GUARD) + 0.5))
        y[i] = np.int32(np.floor(min(max(py * SNAP, -1.0 * GUARD), 1.0 * GUARD) + 0.5))
        drawn = (left >= 0.05) & (depth >= NEAR) & (abs(px) * SNAP < GUARD) & (abs(py) * SNAP < GUARD)
        nearness[i] = np.int32(NEARNESS * NEAR * near) if drawn else np.int32(0)


@fast
def soften_shadow(
    shadow: Ints, half: float, focal: float, depth: Floats, margin: int, work: Floats, sigmas: Floats, out: Floats
) -> None:
    """The share of a lamp each ground cell sees, the softer the higher its blocker stands above it.

    `depth` is that of the ground at half the image's resolution, `focal` in its pixels; `work` is flat and holds
    2·LEVELS + 1 planes. Only where there is a shadow, and as far around as blur carries it, is anything to do.
    """
    out[:] = np.float32(1.0)
    left, top, right, bottom = window = _find_shadow(shadow, margin, depth.shape[0], depth.shape[1])
    if left >= right:
        return
    many, height, width = 2 * LEVELS + 1, bottom - top, right - left
    planes = work[: many * height * width].reshape(many, height, width)  # the covered share, by level; the reach
    _read_map(shadow, half, focal, depth, margin, window, planes[0], planes[LEVELS])
    spare = planes[2 * LEVELS]
    for first in (0, LEVELS):
        for level in range(1, LEVELS if first == 0 else LEVELS - 1):
            step = 1 << (level - 1)
            _blur(planes[first + level - 1], step, max(step // 2, 1), spare, planes[first + level])
    _blend_levels(planes, sigmas, window, out)


@exact
def _find_shadow(shadow: Ints, margin: int, height: int, width: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is shadow in the image, with room for blur."""
    left, top, right, bottom = width, height, 0, 0
    some = np.zeros(width, np.int32)
    for y in range(height):
        line = shadow[y + margin, margin : margin + width]
        any_ = np.int32(0)
        for x in range(width):
            any_ |= line[x]
            some[x] |= line[x]
        if any_ != 0:
            top, bottom = min(top, y), y + 1
    for x in range(width):
        if some[x] != 0:
            left, right = min(left, x), x + 1
    return max(left - SPREAD, 0), max(top - SPREAD, 0), min(right + SPREAD, width), min(bottom + SPREAD, height)


@fast
def _read_map(
    shadow: Ints, half: float, focal: float, depth: Floats, margin: int, window: tuple[int, int, int, int],
    covered: Floats, reach: Floats,
) -> None:  # fmt: skip
    """Which cells are hidden from the lamp, and there the penumbra's standard deviation in cells."""
    unit = np.float32(1.0 / NEARNESS)
    width = np.float32(2.0 * half * focal * 0.29)  # a box of width w has standard deviation 0.29 w
    zero, one = np.float32(0.0), np.float32(1.0)
    left, top = window[0], window[1]
    for y in range(covered.shape[0]):
        cells, far = shadow[y + top + margin, left + margin :], depth[y + top, left]  # the same along a row
        spread = width / far
        for x in range(covered.shape[1]):
            near = np.float32(cells[x])
            blocked = max(near * unit * far - one, zero)  # blocker's height over what is left to the lamp
            covered[y, x] = one if near > zero else zero
            reach[y, x] = blocked * spread


@fast
def _blur(source: Floats, across: int, down: int, spare: Floats, out: Floats) -> None:
    """Blur by (1, 2, 1) with the given spacing, along rows and then along columns; the rim goes on outside.

    A row may be shorter than the spacing.
    """
    height, width = source.shape
    quarter, half = np.float32(0.25), np.float32(0.5)
    for y in range(height):
        row, blurred = source[y], spare[y]
        for x in range(min(across, width)):
            z = width - 1 - x
            blurred[x] = half * row[x] + quarter * (row[0] + row[min(x + across, width - 1)])
            blurred[z] = half * row[z] + quarter * (row[max(z - across, 0)] + row[width - 1])
        if width <= 2 * across:
            continue
        # shifted views let the compiler see that no index is negative
        left, middle, right = row[: width - 2 * across], row[across : width - across], row[2 * across :]
        inner = blurred[across : width - across]
        for x in range(len(inner)):
            inner[x] = half * middle[x] + quarter * (left[x] + right[x])
    for y in range(height):
        above, here, below = spare[max(y - down, 0)], spare[y], spare[min(y + down, height - 1)]
        blurred = out[y]
        for x in range(width):
            blurred[x] = half * here[x] + quarter * (above[x] + below[x])


@fast
def _blend_levels(work: Floats, sigmas: Floats, window: tuple[int, int, int, int], out: Floats) -> None:
    """Blend the levels whose blur fits the penumbra."""
    levels = len(work) // 2
    tiny, one, zero = np.float32(1e-4), np.float32(1.0), np.float32(0.0)
    height, width = work.shape[1], work.shape[2]
    wanted = np.empty(width, np.float32)
    for y in range(height):
        shown = out[y + window[1], window[0] : window[0] + width]
        for x in range(width):
            wanted[x] = work[2 * levels - 2, y, x] / (work[levels - 2, y, x] + tiny)
            shown[x] = work[1, y, x]
        for k in range(1, levels - 1):
            low, scale = sigmas[k - 1], one / (sigmas[k] - sigmas[k - 1])
            for x in range(width):
                part = min(max((wanted[x] - low) * scale, zero), one)
                shown[x] += part * (work[k + 1, y, x] - shown[x])
        for x in range(width):
            shown[x] = one - shown[x]
