"""One image painted: shadows and ground, then, a band of rows at a time, surfaces, their samples joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import fast
from ..geometry.camera import Camera
from ..geometry.stage import Stage
from ..geometry.visibility import FOUR, SNAP, Buffer, draw, snap
from . import ground, reflect, shadow, surface, texture
from .color import encode, encoding
from .gather import FACET, facets_of, gather, locate, traits_of
from .lamps import BOUNCE, GROUND, SKY, Lamp, packed_lamps
from .stand_in import MANY, StandIns, stand_ins

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

METAL_BODY = 0.2  # how much metal scatters, against rubber
BAND = 1 << 16  # about as many pixels are painted at once, so that large images need little memory


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """Working memory for one image size, reused from image to image; one per thread.

    Shadows, work and half take about 36 bytes a pixel, all else at most 31 MB for a band of rows.
    """

    size: tuple[int, int]
    buffer: Buffer  # [4·rows, width]
    shadows: tuple[Buffer, ...]  # one per lamp
    work: Floats  # [2·levels + 1, height/2, width/2]
    half: Floats  # [ground x, ground y, ground depth, openness, light rgb; height/2, width/2]
    planes: Floats  # [bare share, light rgb; rows, width], flat
    numbers: (
        Floats  # [place(3), point(6), openness, weight, light(3), gloss(3), dull, tint(3), brushed; point]
    )
    indices: Ints  # [pixel, triangle, surface, body; point]

    @classmethod
    def of(cls, size: tuple[int, int], lamps: int = 4) -> Canvas:
        width, height = size
        margin = shadow.margin_of(size)
        rows, columns = (height + 1) // 2, (width + 1) // 2
        band = min(max(BAND // width, 1), height)
        most = 4 * band * width + 272  # rows an odd number of cache lines apart, or they evict each other
        return cls(
            size=size,
            buffer=np.zeros((4 * band, width), np.int64),
            shadows=tuple(
                np.zeros((rows + 2 * margin, columns + 2 * margin), np.int64) for _ in range(lamps)
            ),
            work=np.zeros((2 * shadow.LEVELS + 1, rows, columns), np.float32),
            half=np.zeros((7, rows, columns), np.float32),
            planes=np.zeros(4 * band * width, np.float32),
            numbers=np.zeros((22, most), np.float32),
            indices=np.zeros((4, most), np.int32),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What a scene looks like before it is painted, as kernels take it."""

    stage: Stage
    view: npt.NDArray[np.float64]
    coarse: npt.NDArray[np.float64]  # the same view at half the resolution
    lights: Floats  # [lamp, 16], see lamps.py
    stand_ins: StandIns
    looks: Floats  # [surface, 8], see texture.py
    frames: Floats  # [body, 6], see texture.py
    facets: Floats  # [triangle, FACET], see gather.py
    margin: int  # of the shadow maps


def paint(
    stage: Stage, camera: Camera, lamps: tuple[Lamp, ...], canvas: Canvas, out: npt.NDArray[np.uint8]
) -> None:
    """Fill the image, [height, width, rgb]."""
    setting = _setting(stage, camera, lamps, canvas.size)
    for lamp, shadow_map in zip(setting.lights, canvas.shadows, strict=True):
        shadow.cast(stage, lamp, setting.coarse, setting.margin, shadow_map)
    _paint_ground(setting, canvas)
    x, y, nearness = np.empty((3, len(stage.vertices)), np.int64)
    snap(stage.vertices, setting.view, x, y, nearness)
    width, band = canvas.size[0], len(canvas.buffer) // 4
    for top in range(0, len(out), band):
        rows = out[top : top + band]
        buffer = canvas.buffer[: 4 * len(rows)]
        planes = canvas.planes[: 4 * len(rows) * width].reshape(4, len(rows), width)
        buffer.fill(0)
        draw(x, y - SNAP * top, nearness, stage.triangles, FOUR, buffer)
        ground.enlarge(canvas.half[4:7], GROUND, top, planes[1:4])
        _paint_surfaces(setting, top, buffer, planes, canvas)
        encode(planes[1:4], encoding(), rows)


def _setting(stage: Stage, camera: Camera, lamps: tuple[Lamp, ...], size: tuple[int, int]) -> Setting:
    view = camera.packed(size)
    coarse = view.copy()
    coarse[12:15] /= 2
    looks = texture.packed_looks(stage)
    facets = np.empty((len(stage.triangles), FACET), np.float32)
    facets_of(stage.normals, stage.triangles, stage.surface_of, traits_of(stage), facets)
    frames, margin = texture.frames(stage.bodies), shadow.margin_of(size)
    others = stand_ins(stage.bodies)
    return Setting(stage, view, coarse, packed_lamps(lamps), others, looks, frames, facets, margin)


def _paint_ground(setting: Setting, canvas: Canvas) -> None:
    """The light on all of the ground, at half the resolution."""
    coarse = setting.coarse
    x, y, depth, openness = canvas.half[:4]
    light = canvas.half[4:7]
    ground.lay(coarse, x, y, depth)
    ground.ambient(np.array(SKY, np.float32), light)
    for lump in setting.stand_ins.lumps:
        window = _window(coarse, lump, (depth.shape[1], depth.shape[0]))
        ground.darken(x, y, lump, window, light)
    for lamp, shadow_map in zip(setting.lights, canvas.shadows, strict=True):
        half, focal = float(lamp[6]), float(coarse[12])
        shadow.soften(shadow_map, half, focal, depth, setting.margin, canvas.work, openness)
        ground.shine(x, y, lamp, openness, light)


def _window(view: npt.NDArray[np.float64], lump: Floats, size: tuple[int, int]) -> npt.NDArray[np.int64]:
    """The part of the image where a lump visibly darkens the ground: left, top, right, bottom."""
    middle_x, middle_y, reach = float(lump[0]), float(lump[1]), float(lump[7])
    corners = [(middle_x + i * reach, middle_y + j * reach) for i in (-1, 1) for j in (-1, 1)]
    xs, ys = [], []
    for cx, cy in corners:
        dx, dy, dz = cx - view[0], cy - view[1], -view[2]
        depth = max(-(dx * view[9] + dy * view[10] + dz * view[11]), 1.0)
        xs.append(view[13] + view[12] / depth * (dx * view[3] + dy * view[4]))
        ys.append(view[14] - view[12] / depth * (dx * view[6] + dy * view[7] + dz * view[8]))
    left, top = max(int(min(xs)), 0), max(int(min(ys)), 0)
    return np.array([left, top, min(int(max(xs)) + 1, size[0]), min(int(max(ys)) + 1, size[1])])


def _paint_surfaces(setting: Setting, top: int, buffer: Buffer, planes: Floats, canvas: Canvas) -> None:
    """What stands on the ground, in the rows from `top` on."""
    stage, lights, looks, others = setting.stage, setting.lights, setting.looks, setting.stand_ins
    numbers, (pixel, triangle, surface_of, body_of) = canvas.numbers, canvas.indices
    places, points, openness, weight = numbers[:3], numbers[3:9], numbers[9], numbers[10]
    light, gloss, dull, tint = numbers[11:14], numbers[14:17], numbers[17], numbers[18:21]
    brushed = numbers[21]
    n = gather(buffer, FOUR, top, setting.facets, pixel, triangle, weight, places, planes[0])
    if n == 0:
        return
    locate(n, setting.view, stage.vertices, stage.normals, stage.triangles, triangle, places, points)
    surface_of[:n] = stage.surface_of[triangle[:n]]
    body_of[:n] = stage.body_of[surface_of[:n]]
    texture.tint(
        *(n, points, places[2], surface_of, body_of, looks, setting.frames, texture.MEANS),
        *(setting.view, tint),
    )
    sky, bounce = np.array(SKY, np.float32), np.array(BOUNCE, np.float32)
    surface.surround(n, points, body_of, others.bodies, sky, bounce, openness, light)
    gloss[:, :n] = 0
    dull[:n] = 1 - looks[surface_of[:n], 3]
    brushed[:n] = (1 - dull[:n]) * (others.bodies[body_of[:n], 0] != MANY)
    eye = setting.view[:3].astype(np.float32)
    for lamp, shadow_map in zip(lights, canvas.shadows, strict=True):
        surface.open_to_lamp(n, points, lamp, setting.coarse, setting.margin, shadow_map, openness)
        surface.scatter(n, points, lamp, openness, light)
        surface.highlight(n, points, lamp, eye, openness, dull, brushed, gloss)
    lit = canvas.half[4:7]
    reflect.mirror(
        *(n, points, weight, tint, dull, body_of, lights, others.bodies, others.blocks, others.first),
        *(setting.coarse, lit, GROUND, light, gloss),
    )
    _join(n, pixel, weight, tint, dull, light, gloss, planes[0], planes[1:4])


@fast
def _join(
    count: int,
    pixel: Ints,
    weight: Floats,
    tint: Floats,
    dull: Floats,
    light: Floats,
    gloss: Floats,
    bare: Floats,  # [rows, width]
    image: Floats,  # [rgb, rows, width]
) -> None:
    """Weigh the ground by the share of a pixel it fills, and add the points by theirs."""
    one = np.float32(1.0)
    for k in range(3):
        flat, share = image[k].reshape(-1), bare.reshape(-1)
        for i in range(len(flat)):
            flat[i] *= share[i]
        for i in range(count):
            body = light[k, i] * tint[k, i] * (one + (one - dull[i]) * (np.float32(METAL_BODY) - one))
            flat[pixel[i]] += weight[i] * min(body + gloss[k, i], one)
