"""One image painted: shadows and ground, then, a band of rows at a time, surfaces, their samples joined.

A pixel that sees one smooth surface is shaded at one point, a pixel at an edge at up to four.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ..geometry.camera import Camera
from ..geometry.mesh import Body, Mesh, SceneMesh
from ..geometry.visibility import FOUR, GUARD, NEARNESS, SNAP, Buffer, draw_triangles, snap
from ..kernels import Bytes, Doubles, Floats, Ints, Longs, Real, fast
from . import lighting, reflect, surface
from .image import encode_srgb, srgb_table
from .lighting import BOUNCE, GROUND, SKY, Lamp, pack_lamps
from .proxies import MANY, ProxyShapes, build_proxies

FACET = 7  # numbers that gathering knows of a triangle
EDGE = 0.98  # two facets whose normals have a smaller cosine make an edge, where they are metal
SOFT_EDGE = 0.9  # the same for what is dull
BEND = 0.99  # a metal triangle whose mean normal is shorter than this, squared, bends sharply
FINE_BEND = 0.93  # the same on a body of many surfaces, whose triangles are small


def pack_traits(bodies: Sequence[Body]) -> Floats:
    """[surface, group edge bend fine]: what is one group looks the same; `edge` and `bend` as above.

    A dull solid without parts has no edges that want smoothing. Samples of a *fine* body are joined where
    they see nearly the same: it has many edges, and each point costs. A group is any number that equal looks
    of a body share.
    """
    surfaces = [len(body.looks) for body in bodies]
    fine = np.repeat([len(body.mesh.parts) > 1 for body in bodies], surfaces)
    metal = surface.find_look_rows(bodies)[:, 3] > 0
    numbers = np.array([look.number for body in bodies for look in body.looks], np.int64)
    whose = np.repeat(np.arange(len(bodies)), surfaces)
    out = np.empty((len(numbers), 4), np.float32)
    out[:, 0] = np.unique(whose << 32 | numbers, return_inverse=True)[1]
    out[:, 1] = np.where(metal, EDGE, np.where(fine, SOFT_EDGE, 0.0))
    out[:, 2] = np.where(metal, np.where(fine, FINE_BEND, BEND), 0.0)
    out[:, 3] = fine
    return out


@cache
def mesh_facets(mesh: Mesh) -> Floats:
    """[triangle, mean normal(3), its squared length], in the mesh's own frame: facets are compared within a body."""
    mean = mesh.normals[mesh.triangles].astype(np.float32).sum(axis=1) * np.float32(1 / 3)
    return np.concatenate([mean, np.sum(mean * mean, axis=1, keepdims=True)], axis=1)


def facets_of(stage: SceneMesh, traits: Floats) -> Floats:
    """[triangle, mean normal(3) (not quite a unit vector), its group, its edge, whether it bends sharply
    (only there could a highlight fall between samples), and whether it is fine]. `traits` are its surfaces'."""
    out = np.empty((len(stage.triangles), FACET), np.float32)
    if len(out):
        means = np.concatenate([mesh_facets(body.mesh) for body in stage.bodies])
        _fill_facets(means, stage.surface_of, traits, out)
    return out


@fast
def _fill_facets(means: Floats, surface_of: Ints, traits: Floats, out: Floats) -> None:
    zero, one = np.float32(0.0), np.float32(1.0)
    for t in range(len(means)):
        s = np.uint32(surface_of[t])
        out[t, 0], out[t, 1], out[t, 2] = means[t, 0], means[t, 1], means[t, 2]
        out[t, 3], out[t, 4], out[t, 6] = traits[s, 0], traits[s, 1], traits[s, 3]
        out[t, 5] = one if means[t, 3] < traits[s, 2] else zero


@fast
def gather_samples(
    buffer: Buffer, samples: Longs,
    top: int,  # the image's row that the buffer begins with
    facets: Floats,  # [triangle, normal(3) group edge bend fine]
    pixel: Ints, triangle: Ints, weight: Floats,  # [point] each
    places: Floats,  # [xy depth, point]
    bare: Floats,  # [rows, width], how much of each pixel is ground; written only where there are points
    start: int,
) -> tuple[int, int]:  # fmt: skip
    """Fill the lists from the row `start` of the buffer on, whose pixels count from 0, as far as they hold whole rows;
    return how many points there are, and the row to go on with. Rows that were read are left empty."""
    height, width = bare.shape
    count = len(samples)
    share, zero, one = np.float32(1.0 / count), np.float32(0.0), np.float32(1.0)
    second, third, last = np.uintp(count // 4), np.uintp(count // 2), np.uintp(count - 1)  # there may be one or four
    n = 0
    for y in range(start, height):
        if n + count * width > len(pixel):
            return n, y
        cells = buffer[y]
        for x in range(width):
            at = np.uintp(x * count)  # unsigned: the compiler need not check for a sign
            a, b, c, d = cells[at], cells[at + second], cells[at + third], cells[at + last]
            if a | b | c | d == 0:
                continue
            first = np.uint32(a)  # its triangle
            alike = (a != 0) & (b != 0) & (c != 0) & (d != 0) and facets[first, 5] == zero
            if alike and np.uint32(a ^ b | a ^ c | a ^ d) != 0:
                for cell in (b, c, d):
                    alike = alike and (np.uint32(cell) == first or _is_alike(facets, np.uint32(cell), first))
            if alike:  # most are: a way of its own takes a third off
                bare[y, x] = zero
                pixel[n], triangle[n], weight[n] = y * width + x, first, one
                places[0, n] = np.float32(x) + np.float32(samples[0, 0]) * np.float32(1 / 256)
                places[1, n] = np.float32(top + y) + np.float32(samples[0, 1]) * np.float32(1 / 256)
                places[2, n] = np.float32(NEARNESS) / np.float32(a >> 32)
                n += 1
                for k in range(count):
                    cells[at + np.uintp(k)] = 0
                continue
            begin, empty = n, 0
            for k in range(count):
                cell = cells[at + np.uintp(k)]
                cells[at + np.uintp(k)] = 0
                if cell == 0:
                    empty += 1
                    continue
                t = np.uint32(cell)
                joined = False
                if facets[t, 6] != zero and facets[t, 5] == zero:
                    for j in range(begin, n):
                        other = np.uint32(triangle[np.uintp(j)])
                        if not joined and (other == t or _is_alike(facets, t, other)):
                            weight[j] += share
                            joined = True
                if joined:
                    continue
                pixel[n], triangle[n], weight[n] = y * width + x, t, share
                places[0, n] = np.float32(x) + np.float32(samples[k, 0]) * np.float32(1 / 256)
                places[1, n] = np.float32(top + y) + np.float32(samples[k, 1]) * np.float32(1 / 256)
                places[2, n] = np.float32(NEARNESS) / np.float32(cell >> 32)
                n += 1
            bare[y, x] = np.float32(empty) * share
    return n, height


@fast
def _is_alike(facets: Floats, s: Real, t: Real) -> bool:
    """Whether two facets look the same, and no edge lies between them."""
    if facets[s, 3] != facets[t, 3]:
        return False
    if facets[s, 4] == np.float32(0.0):
        return True
    dot = facets[s, 0] * facets[t, 0] + facets[s, 1] * facets[t, 1] + facets[s, 2] * facets[t, 2]
    return bool(dot >= facets[s, 4])


def locate_samples(
    count: int, camera: Doubles, stage: SceneMesh, vertices: Floats, triangle: Ints, places: Floats, points: Floats
) -> None:
    """World positions, and normals interpolated over the triangle: [position normal, point].

    `vertices` are the stage's, as `list_vertices` gives them.
    """
    shape = (vertices, stage.corners, stage.normals, stage.triangles)
    _locate_samples(count, camera, *shape, triangle, places, points)


def list_vertices(stage: SceneMesh) -> Floats:
    """[place, xyz], each place together in memory: of a triangle all three are read."""
    out = np.empty(stage.vertices.shape, np.float32)
    for k, plane in enumerate(stage.planes):
        out[:, k] = plane
    return out


@fast
def _locate_samples(
    count: int, camera: Doubles, vertices: Floats, corners: Ints, normals: Floats, triangles: Ints, triangle: Ints,
    places: Floats, points: Floats,
) -> None:  # fmt: skip
    zero, one = np.float32(0.0), np.float32(1.0)
    view = camera.astype(np.float32)
    for i in range(count):
        depth, t = places[2, i], np.uint32(triangle[i])
        u = (places[0, i] - view[13]) / view[12] * depth
        v = (view[14] - places[1, i]) / view[12] * depth
        a, b, c = np.uint32(corners[t, 0]), np.uint32(corners[t, 1]), np.uint32(corners[t, 2])
        # shares of the three corners, by least squares along two edges e and f
        ee = ef = ff = de = df = zero
        for k in range(3):
            place = view[k] + u * view[3 + k] + v * view[6 + k] - depth * view[9 + k]
            points[k, i] = place
            corner = vertices[a, k]
            e, f, d = vertices[b, k] - corner, vertices[c, k] - corner, place - corner
            ee, ef, ff = ee + e * e, ef + e * f, ff + f * f
            de, df = de + d * e, df + d * f
        scale = one / (ee * ff - ef * ef)
        of_b = min(max((ff * de - ef * df) * scale, zero), one)
        of_c = min(max((ee * df - ef * de) * scale, zero), one)
        square = zero
        a, b, c = np.uint32(triangles[t, 0]), np.uint32(triangles[t, 1]), np.uint32(triangles[t, 2])
        for k in range(3):
            normal = (one - of_b - of_c) * normals[a, k] + of_b * normals[b, k] + of_c * normals[c, k]
            points[3 + k, i] = normal
            square += normal * normal
        size = one / np.sqrt(square)
        for k in range(3):
            points[3 + k, i] *= size


@fast
def _name_samples(
    count: int, triangle: Ints, surface_of: Ints, body_of: Ints, looks: Floats, bodies: Floats,
    surface: Ints, body: Ints, dull: Floats, brushed: Floats,  # out: [point] each
) -> None:  # fmt: skip
    """Whose each point is, whether that is dull, and whether it is metal with a grain: that of solids."""
    one, many = np.float32(1.0), np.float32(MANY)
    for i in range(count):
        s = np.uint32(surface_of[np.uint32(triangle[i])])
        b = np.uint32(body_of[s])
        surface[i], body[i] = s, b
        dull[i] = one - looks[s, 3]
        brushed[i] = looks[s, 3] if bodies[b, 0] != many else np.float32(0.0)


ABOVE, BELOW = np.array(SKY, np.float32), np.array(BOUNCE, np.float32)
METAL_BODY = 0.2  # how much metal scatters, against rubber
BAND = 1 << 18  # about as many pixels are painted at once, so that large images need little memory,
POINTS = 1 << 14  # and as many points, and a row's: their numbers stay in the cache


class Canvas:
    """Working memory for one image size, reused from image to image, unless one was not finished; one per thread.

    Shadows, work and half take about 27 bytes per pixel, all else 48 bytes per pixel of a band of rows and 3 MB.
    """

    def __init__(self, size: tuple[int, int], lamps: int = 4) -> None:
        self.size, (width, height) = size, size
        self.margin = lighting.shadow_margin(size)
        rows, columns = (height + 1) // 2, (width + 1) // 2
        over = (lamps, rows + 2 * self.margin, columns + 2 * self.margin)
        self.shadows: Ints = np.zeros(over, np.int32)  # nearness, a map per lamp
        self.work = np.zeros((2 * lighting.LEVELS + 1) * rows * columns, np.float32)
        # ground x, ground y, ground depth, openness, light rgb
        self.half = np.zeros((7, rows, columns), np.float32)
        band = min(max(BAND // width, 1), height)
        most = 16 * ((POINTS + 4 * width) // 16 + 1 | 1)  # rows an odd number of cache lines apart: none evicts another
        self.buffer = np.zeros((band, 4 * width), np.int64)  # empty between images
        self.planes = np.zeros(4 * band * width, np.float32)  # [bare share, light rgb; rows, width], flat
        # [place(3), point(6), openness, weight, light(3), gloss(3), dull, tint(3), brushed, mirrored(12); point]
        self.numbers = np.zeros((22 + reflect.ROWS, most), np.float32)
        self.indices = np.zeros((5, most), np.int32)  # [pixel, triangle, surface, body, mirrored; point]


class SceneLooks(NamedTuple):
    """What a scene looks like, as kernels take it, but for its triangles."""

    view: Doubles  # as `Camera.pack` gives it
    lights: Floats
    stand_ins: ProxyShapes
    windows: Longs  # [lump, left top right bottom], where the stand-ins darken the ground
    looks: Floats
    frames: Floats
    traits: Floats


def describe_scenes(
    bodies: Sequence[Sequence[Body]],  # of each scene
    cameras: Sequence[Camera], lamps: Sequence[tuple[Lamp, ...]], size: tuple[int, int],
) -> list[SceneLooks]:  # fmt: skip
    """Of several scenes at once, which takes NumPy little longer than one."""
    every = [body for own in bodies for body in own]
    others, looks, frames = build_proxies(every), surface.pack_looks(every), surface.texture_frames(every)
    traits, views = pack_traits(every), [camera.pack(size) for camera in cameras]
    ends = np.cumsum([[0, 0], *([len(own), sum(len(body.looks) for body in own)] for own in bodies)], axis=0)
    lump_ends = np.append(0, np.cumsum(others.lump_counts))[ends[:, 0]]
    seen_by = np.repeat(np.reshape(views, (-1, 15)), np.diff(lump_ends), axis=0)
    windows = lighting.find_windows(seen_by, others.lumps, size)
    found = []
    for k, (view, shining) in enumerate(zip(views, lamps, strict=True)):
        (body, first), (last_body, last) = ends[k : k + 2].tolist()
        lump, last_lump = lump_ends[k : k + 2].tolist()
        stand_ins = ProxyShapes(
            others.bodies[body:last_body],
            others.blocks[others.first[body] : others.first[last_body]],
            others.first[body : last_body + 1] - others.first[body],
            others.lumps[lump:last_lump],
            others.lump_counts[body:last_body],
        )
        own = (looks[first:last], frames[body:last_body], traits[first:last])
        found.append(SceneLooks(view, pack_lamps(shining), stand_ins, windows[lump:last_lump], *own))
    return found


class RenderSetup:
    """All of a scene before it is painted."""

    def __init__(self, stage: SceneMesh, own: SceneLooks) -> None:
        self.stage, self.view, self.lights, self.stand_ins = stage, own.view, own.lights, own.stand_ins
        self.windows, self.looks, self.frames = own.windows, own.looks, own.frames
        self.eye = self.view[:3].astype(np.float32)
        self.coarse = self.view.copy()  # the same at half the resolution
        self.coarse[12:15] /= 2
        self.facets, self.vertices = facets_of(stage, own.traits), list_vertices(stage)


def paint_image(stage: SceneMesh, own: SceneLooks, canvas: Canvas, out: Bytes) -> None:
    """Fill the image, [height, width, rgb], with the scene that `describe_scenes` described."""
    setting = RenderSetup(stage, own)
    for lamp, shadow_map in zip(setting.lights, canvas.shadows, strict=True):
        lighting.draw_shadow_map(stage, lamp, setting.coarse, canvas.margin, shadow_map)
    _paint_ground(setting, canvas)
    x, y, nearness = np.empty((3, stage.planes.shape[1]), np.int32)
    snap(stage.planes, setting.view, x, y, nearness)
    width, band = canvas.size[0], len(canvas.buffer)
    for top in range(0, len(out), band):
        rows = out[top : top + band]
        planes = canvas.planes[: 4 * len(rows) * width].reshape(4, len(rows), width)
        lighting.upsample_light(canvas.half[4:7], GROUND, top, planes[1:4])
        # only rows that something reaches into
        first = min(max(int(y.min(initial=GUARD)) // SNAP - top, 0), len(rows))
        last = min(max(int(y.max(initial=-GUARD)) // SNAP + 1 - top, first), len(rows))
        buffer, share = canvas.buffer[first:last], planes[0, first:last]
        draw_triangles(x, y - SNAP * (top + first), nearness, stage.corners, FOUR, buffer)
        _paint_surfaces(setting, top + first, buffer, share, planes[1:4], first * width, canvas)
        encode_srgb(planes[1:4], srgb_table(), rows)


def _paint_ground(setting: RenderSetup, canvas: Canvas) -> None:
    """The light on all of the ground, at half the resolution."""
    coarse = setting.coarse
    x, y, depth, openness = canvas.half[:4]
    light = canvas.half[4:7]
    lighting.project_ground(coarse, x, y, depth)
    light[:] = ABOVE[:, None, None]
    lighting.darken_ground(x, y, setting.stand_ins.lumps, setting.windows, light)
    for lamp, shadow_map in zip(setting.lights, canvas.shadows, strict=True):
        half, focal = float(lamp[6]), float(coarse[12])
        lighting.soften_shadow(shadow_map, half, focal, depth, canvas.margin, canvas.work, lighting.SIGMAS, openness)
        lighting.add_lamp_light(x, y, lamp, openness, light)


def _paint_surfaces(
    setting: RenderSetup, top: int, buffer: Buffer,
    bare: Floats,  # [rows, width], working memory
    image: Floats, start: int,  # [rgb, rows, width], and the pixel in it that the rows begin with
    canvas: Canvas,
) -> None:  # fmt: skip
    """What stands on the ground, in the rows from `top` on."""
    places, weight = canvas.numbers[:3], canvas.numbers[10]
    pixel, triangle = canvas.indices[:2]
    row = 0
    while row < len(bare):
        first = row
        n, row = gather_samples(buffer, FOUR, top, setting.facets, pixel, triangle, weight, places, bare, first)
        if n:
            tint, dull, light, gloss = _shade_samples(setting, n, canvas)
            _blend_samples(n, pixel, weight, tint, dull, light, gloss, bare, image, start)


def _shade_samples(setting: RenderSetup, n: int, canvas: Canvas) -> tuple[Floats, Floats, Floats, Floats]:
    """Of the first n points the colour, whether they are dull, the light that they scatter and what they mirror."""
    stage, lights, looks, others = setting.stage, setting.lights, setting.looks, setting.stand_ins
    numbers, (_, triangle, surface_of, body_of, shiny) = canvas.numbers, canvas.indices
    places, points, openness, weight = numbers[:3], numbers[3:9], numbers[9], numbers[10]
    light, gloss, dull, tint = numbers[11:14], numbers[14:17], numbers[17], numbers[18:21]
    brushed = numbers[21]
    locate_samples(n, setting.view, stage, setting.vertices, triangle, places, points)
    bodies = others.bodies
    _name_samples(n, triangle, stage.surface_of, stage.body_of, looks, bodies, surface_of, body_of, dull, brushed)
    ink = (looks, setting.frames, surface.MEANS)
    surface.apply_texture(n, points, places[2], surface_of, body_of, *ink, setting.view, tint)
    surface.fill_ambient_light(n, points, body_of, bodies, ABOVE, BELOW, openness, light)
    surface.shine(
        *(n, points, lights, setting.coarse, canvas.margin, canvas.shadows, setting.eye, dull, brushed),
        *(numbers[22:25], openness, light, gloss),
    )
    lit = canvas.half[4:7]
    reflect.add_reflections(
        *(n, points, weight, tint, dull, body_of, lights, bodies, others.blocks, others.first),
        *(setting.coarse, lit, GROUND, light, gloss, numbers[22:], shiny),
    )
    return tint, dull, light, gloss


@fast
def _blend_samples(
    count: int, pixel: Ints, weight: Floats, tint: Floats, dull: Floats, light: Floats, gloss: Floats,
    bare: Floats,
    image: Floats, start: int,  # as above
) -> None:  # fmt: skip
    """Weigh the ground by the share of a pixel it fills, and add the points by theirs."""
    one = np.float32(1.0)
    share = bare.reshape(-1)
    for k in range(3):
        flat, shown = image[k].reshape(-1)[start:], light[k]
        for i in range(count):
            body = shown[i] * tint[k, i] * (one + (one - dull[i]) * (np.float32(METAL_BODY) - one))
            shown[i] = min(body + gloss[k, i], one)
        before = np.uint32(0xFFFFFFFF)
        for i in range(count):  # the points of a pixel follow each other
            at = np.uint32(pixel[i])
            if at != before:
                flat[at] *= share[at]
            before = at
            flat[at] += weight[i] * shown[i]
