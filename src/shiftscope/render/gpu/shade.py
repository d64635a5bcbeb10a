# mypy: ignore-errors
"""The light of every sample on the list: gather.locate, and all that paint._paint_surfaces adds up."""

from __future__ import annotations

import triton
import triton.language as tl

from ...geometry import visibility as v
from .. import paint as p
from .. import reflect, stand_in
from .reflect import mirrored
from .resolve import packed
from .surface import highlight, open_to_lamp, scattered, surround
from .texture import inked

NEARNESS = tl.constexpr(float(v.NEARNESS))
METAL_BODY = tl.constexpr(p.METAL_BODY)
SHINE, GLARE, DAZZLE = (tl.constexpr(x) for x in (reflect.SHINE, reflect.GLARE, reflect.DAZZLE))
POLISH, DARK, MANY = (tl.constexpr(x) for x in (reflect.POLISH, reflect.DARK, stand_in.MANY))


@triton.jit
def shade(
    fine,  # [image, pixel, sample], in and out
    todo, counts,  # see gather.py
    points,  # [vertex, position normal - -]
    triangles, part_of,  # of all meshes, see shelf.py
    bodies, first, views, lamps, stand_ins, blocks, block_first, frames, looks,  # see pack.py
    maps, light, rim, width, height, columns, rows, margin,
    LAMPS: tl.constexpr, TURNS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: every TURNS-th block of one image's list."""
    image = tl.program_id(0)
    pixels = width * height
    count = tl.load(counts + image)
    start, end = tl.load(first + image), tl.load(first + image + 1)
    ground = light + image.to(tl.int64) * columns * rows * 4
    for begin in range(tl.program_id(1) * BLOCK, count, TURNS * BLOCK):
        i = begin + tl.arange(0, BLOCK)
        wanted = i < count
        entry = tl.load(todo + image.to(tl.int64) * pixels * 4 + i, wanted, 0)
        pixel, k = entry >> 4, (entry >> 2) & 3
        weight = tl.where(wanted, ((entry & 3) + 1).to(tl.float32) * 0.25, 0.0)
        place = fine + (image.to(tl.int64) * pixels + pixel) * 4 + k
        cell = tl.load(place, wanted, 0)
        # where the samples of FOUR lie
        x = pixel % width + tl.where(k == 0, 0.375, tl.where(k == 1, 0.875, tl.where(k == 2, 0.125, 0.625)))
        y = pixel // width + 0.125 + 0.25 * k
        red, green, blue = _shaded(
            cell, weight, x, y, points, triangles, part_of, bodies, start, end, views + image * 15,
            lamps + image * LAMPS * 16, stand_ins, blocks, block_first, frames, looks, maps, image, ground,
            rim + image * 3, columns, rows, margin, LAMPS,
        )  # fmt: skip
        tl.store(place, packed(weight * red, weight * green, weight * blue), wanted)


@triton.jit
def _located(cell, wanted, x, y, points, triangles, row, view):
    """A sample's world position, its normal interpolated over the triangle, and its depth: gather.locate."""
    depth = NEARNESS / tl.where(wanted, cell >> 32, 1).to(tl.float32)
    focal = tl.load(view + 12)
    u = (x - tl.load(view + 13)) / focal * depth
    v = (tl.load(view + 14) - y) / focal * depth
    px = _along(view, u, v, depth)
    py = _along(view + 1, u, v, depth)
    pz = _along(view + 2, u, v, depth)
    corner = triangles + (tl.load(row + 2, wanted, 0) + (cell & 0xFFFFFF).to(tl.int32)) * 3
    origin = points + tl.load(row + 4, wanted, 0).to(tl.int64) * 8
    a = origin + tl.load(corner, wanted, 0) * 8
    b = origin + tl.load(corner + 1, wanted, 0) * 8
    c = origin + tl.load(corner + 2, wanted, 0) * 8
    ax, ay, az = tl.load(a, wanted, 0.0), tl.load(a + 1, wanted, 0.0), tl.load(a + 2, wanted, 0.0)
    ex, ey, ez = (
        tl.load(b, wanted, 1.0) - ax,
        tl.load(b + 1, wanted, 0.0) - ay,
        tl.load(b + 2, wanted, 0.0) - az,
    )
    fx, fy, fz = (
        tl.load(c, wanted, 0.0) - ax,
        tl.load(c + 1, wanted, 1.0) - ay,
        tl.load(c + 2, wanted, 0.0) - az,
    )
    dx, dy, dz = px - ax, py - ay, pz - az
    # shares of the corners, by least squares along two edges e and f
    ee, ff, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    de, df = dx * ex + dy * ey + dz * ez, dx * fx + dy * fy + dz * fz
    scale = 1.0 / (ee * ff - ef * ef)
    of_b = tl.minimum(tl.maximum((ff * de - ef * df) * scale, 0.0), 1.0)
    of_c = tl.minimum(tl.maximum((ee * df - ef * de) * scale, 0.0), 1.0)
    nx = _corners(a + 3, b + 3, c + 3, of_b, of_c, wanted)
    ny = _corners(a + 4, b + 4, c + 4, of_b, of_c, wanted)
    nz = _corners(a + 5, b + 5, c + 5, of_b, of_c, wanted)
    size = 1.0 / tl.sqrt(nx * nx + ny * ny + nz * nz)
    return px, py, pz, nx * size, ny * size, nz * size, depth


@triton.jit
def _along(view, u, v, depth):
    """One coordinate of a point of the view."""
    right, up = tl.load(view + 3), tl.load(view + 6)
    return tl.load(view) + u * right + v * up - depth * tl.load(view + 9)


@triton.jit
def _corners(a, b, c, of_b, of_c, wanted):
    mean = (1.0 - of_b - of_c) * tl.load(a, wanted, 1.0)
    return mean + of_b * tl.load(b, wanted, 1.0) + of_c * tl.load(c, wanted, 1.0)


@triton.jit
def _shaded(
    cell, weight, x, y, points, triangles, part_of, bodies, start, end, view,
    lamps, stand_ins, blocks, block_first, frames, looks, maps, image, ground, rim, columns, rows, margin,
    LAMPS: tl.constexpr,
):  # fmt: skip
    """The colour that one sample of each pixel sees, where its weight is not 0."""
    wanted = weight > 0
    body = start + tl.where(wanted, (cell >> 24) & 255, 0).to(tl.int32)
    row = bodies + body * 8
    px, py, pz, nx, ny, nz, depth = _located(cell, wanted, x, y, points, triangles, row, view)
    face = tl.load(row + 2, wanted, 0) + (cell & 0xFFFFFF).to(tl.int32)
    look = looks + (tl.load(row + 7, wanted, 0) + tl.load(part_of + face, wanted, 0)) * 8
    tint_r, tint_g = tl.load(look, wanted, 0.0), tl.load(look + 1, wanted, 0.0)
    tint_b, metal = tl.load(look + 2, wanted, 0.0), tl.load(look + 3, wanted, 0.0)
    pattern = tl.load(look + 4, wanted, 0.0)
    if tl.max(pattern, 0) > 0:
        ink = inked(px, py, pz, nx, ny, nz, depth, pattern, body, frames, view, pattern > 0)
        tint_r += ink * (tl.load(look + 5, wanted, 0.0) - tint_r)
        tint_g += ink * (tl.load(look + 6, wanted, 0.0) - tint_g)
        tint_b += ink * (tl.load(look + 7, wanted, 0.0) - tint_b)
    red, green, blue = surround(px, py, pz, nx, ny, nz, body, stand_ins, start, end)
    gloss_r, gloss_g, gloss_b = red * 0.0, red * 0.0, red * 0.0
    polished = (metal > 0) & (tl.load(stand_ins + body * 13, wanted, 0.0) == MANY)
    brushed = tl.where(polished, 0.0, metal)
    wide, high = columns + 2 * margin, rows + 2 * margin
    for k in tl.static_range(LAMPS):
        lamp = lamps + k * 16
        shadow = maps + (image * LAMPS + k).to(tl.int64) * wide * high
        strength = open_to_lamp(px, py, pz, nx, ny, nz, lamp, view, margin, shadow, wide, high, wanted)
        strength *= scattered(px, py, pz, nx, ny, nz, lamp)
        peak = strength * highlight(px, py, pz, nx, ny, nz, lamp, view, 1.0 - metal, brushed)
        power_r, power_g, power_b = tl.load(lamp + 3), tl.load(lamp + 4), tl.load(lamp + 5)
        red, gloss_r = red + power_r * strength, gloss_r + power_r * peak
        green, gloss_g = green + power_g * strength, gloss_g + power_g * peak
        blue, gloss_b = blue + power_b * strength, gloss_b + power_b * peak
    if tl.max(metal, 0) > 0:
        shiny = metal > 0
        r, g, b, grazing = mirrored(
            px, py, pz, nx, ny, nz, weight, body, shiny, polished, view, lamps, stand_ins, blocks,
            block_first, start, end, ground, rim, columns, rows, LAMPS,
        )  # fmt: skip
        dark = tl.minimum(DARK * tl.maximum(tl.maximum(tint_r, tint_g), tint_b), 1.0)
        dark = tl.where(polished, dark, 1.0)
        gloss_r = tl.where(shiny, _shiny(r + gloss_r, tint_r, grazing * dark, dark), gloss_r)
        gloss_g = tl.where(shiny, _shiny(g + gloss_g, tint_g, grazing * dark, dark), gloss_g)
        gloss_b = tl.where(shiny, _shiny(b + gloss_b, tint_b, grazing * dark, dark), gloss_b)
    scatter = (1.0 + metal * (METAL_BODY - 1.0)) * tl.where(polished, POLISH, 1.0)
    red = tl.minimum(red * tint_r * scatter + gloss_r, 1.0)
    green = tl.minimum(green * tint_g * scatter + gloss_g, 1.0)
    blue = tl.minimum(blue * tint_b * scatter + gloss_b, 1.0)
    return tl.where(wanted, red, 0.0), tl.where(wanted, green, 0.0), tl.where(wanted, blue, 0.0)


@triton.jit
def _shiny(light, color, grazing, dazzling):
    """What metal throws back of the light it mirrors."""
    glare = GLARE * dazzling * tl.maximum(light - DAZZLE, 0.0)
    return SHINE * (color + (1.0 - color) * grazing) * light + glare
