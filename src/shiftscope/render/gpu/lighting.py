"""The light on the ground at half the image's resolution, all lamps at once: render/lighting.py."""

import triton
import triton.language as tl

from ...geometry import visibility as v
from .. import lighting as l
from .visibility import tile

# mypy: ignore-errors

UNIT = tl.constexpr(1.0 / v.NEARNESS)
SKY_R, SKY_G, SKY_B = (tl.constexpr(x) for x in l.SKY)
SIGMA_1, SIGMA_2, SIGMA_3, SIGMA_4 = (tl.constexpr(float(x)) for x in l.SIGMAS)


@triton.jit
def _ground_ray(view, row):
    """Where the rays of a row of cells meet the ground: its depth, and the row's part of x and y."""
    up = (tl.load(view + 14) * 0.5 - row - 0.5) / (tl.load(view + 12) * 0.5)
    dx = tl.load(view + 6) * up - tl.load(view + 9)
    dy = tl.load(view + 7) * up - tl.load(view + 10)
    dz = tl.load(view + 8) * up - tl.load(view + 11)
    return tl.load(view + 2) / tl.maximum(-dz, 1e-3), dx, dy


@triton.jit
def read_shadow_maps(
    maps, views, lamps, covered, reach, columns, rows, margin,
    LAMPS: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """Which cells a lamp does not reach, and there the penumbra's width, both blurred once."""
    which = tl.program_id(0)  # image and lamp
    view = views + which // LAMPS * 15
    _, _, x, y, inside = tile(columns, rows, ACROSS, DOWN)
    spread = 2.0 * tl.load(lamps + which * 16 + 6) * (tl.load(view + 12) * 0.5) * 0.29
    wide = columns + 2 * margin
    source = maps + which.to(tl.int64) * wide * (rows + 2 * margin)
    share, width = tl.zeros([ACROSS * DOWN], tl.float32), tl.zeros([ACROSS * DOWN], tl.float32)
    for down in tl.static_range(-1, 2):
        row = tl.minimum(tl.maximum(y + down, 0), rows - 1)
        depth, _, _ = _ground_ray(view, row)
        for across in tl.static_range(-1, 2):
            column = tl.minimum(tl.maximum(x + across, 0), columns - 1)
            near = tl.load(source + (row + margin) * wide + column + margin, inside, 0).to(tl.float32)
            share_of = (0.5 if down == 0 else 0.25) * (0.5 if across == 0 else 0.25)
            share += tl.where(near > 0, share_of, 0.0)
            width += share_of * (tl.maximum(near * UNIT * depth - 1.0, 0.0) * spread / depth)
    place = which.to(tl.int64) * columns * rows + y * columns + x
    tl.store(covered + place, share, inside)
    tl.store(reach + place, width, inside)


@triton.jit
def _blur_cell(source, x, y, columns, rows, inside, STEP_X: tl.constexpr, STEP_Y: tl.constexpr):
    """The mean over a cell and eight around it at the given distances."""
    total = tl.zeros(x.shape, tl.float32)
    for down in tl.static_range(-1, 2):
        row = tl.minimum(tl.maximum(y + down * STEP_Y, 0), rows - 1)
        for across in tl.static_range(-1, 2):
            column = tl.minimum(tl.maximum(x + across * STEP_X, 0), columns - 1)
            share_of = (0.5 if down == 0 else 0.25) * (0.5 if across == 0 else 0.25)
            total += share_of * tl.load(source + row * columns + column, inside, 0.0)
    return total


@triton.jit
def blur(
    covered, reach, covered_out, reach_out, columns, rows,
    STEP_X: tl.constexpr, STEP_Y: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """Both planes of every image and lamp, blurred once more."""
    start = tl.program_id(0).to(tl.int64) * columns * rows
    _, _, x, y, inside = tile(columns, rows, ACROSS, DOWN)
    i = y * columns + x
    a = _blur_cell(covered + start, x, y, columns, rows, inside, STEP_X, STEP_Y)
    b = _blur_cell(reach + start, x, y, columns, rows, inside, STEP_X, STEP_Y)
    tl.store(covered_out + start + i, a, inside)
    tl.store(reach_out + start + i, b, inside)


@triton.jit
def _blend_level(shown, other, wanted, LOW: tl.constexpr, HIGH: tl.constexpr):
    """Go over to the next level of blur as the penumbra widens."""
    SCALE: tl.constexpr = 1.0 / (HIGH - LOW)
    part = tl.minimum(tl.maximum((wanted - LOW) * SCALE, 0.0), 1.0)
    return shown + part * (other - shown)


@triton.jit
def light_ground(
    views, lamps, lumps, windows, lump_first,
    once, twice, thrice, reach,  # [image, lamp, cell]: covered shares after so many blurs, and the width
    out,  # [image, cell, rgb -]
    columns, rows, LAMPS: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """The sky's light less what bodies hide, and each lamp's."""
    image = tl.program_id(0)
    left, top, column, row, inside = tile(columns, rows, ACROSS, DOWN)
    i = row * columns + column
    view = views + image * 15
    far, dx, dy = _ground_ray(view, row)
    side = (column + 0.5 - tl.load(view + 13) * 0.5) / (tl.load(view + 12) * 0.5)
    x = tl.load(view) + far * (dx + tl.load(view + 3) * side)
    y = tl.load(view + 1) + far * (dy + tl.load(view + 4) * side)
    red = tl.full([ACROSS * DOWN], SKY_R, tl.float32)
    green = tl.full([ACROSS * DOWN], SKY_G, tl.float32)
    blue = tl.full([ACROSS * DOWN], SKY_B, tl.float32)
    for j in range(tl.load(lump_first + image), tl.load(lump_first + image + 1)):
        window, lump = windows + j * 4, lumps + j * 8
        begin, upper = tl.load(window), tl.load(window + 1)
        end, lower = tl.load(window + 2), tl.load(window + 3)
        if (begin < left + ACROSS) & (end > left) & (upper < top + DOWN) & (lower > top):
            near = (column >= begin) & (row >= upper) & (column < end) & (row < lower)
            cz, strength = tl.load(lump + 2), tl.load(lump + 3) * tl.load(lump + 2)
            bx, by = x - tl.load(lump), y - tl.load(lump + 1)
            square = bx * bx + by * by + cz * cz
            hidden = tl.minimum(strength / (square * tl.sqrt(square)), 1.0)
            hidden = tl.where(near, hidden, 0.0)
            red *= 1.0 - hidden * (1.0 - 0.45 * tl.load(lump + 4))
            green *= 1.0 - hidden * (1.0 - 0.45 * tl.load(lump + 5))
            blue *= 1.0 - hidden * (1.0 - 0.45 * tl.load(lump + 6))
    for k in tl.static_range(LAMPS):
        start = (image * LAMPS + k).to(tl.int64) * columns * rows
        place = start + i
        third = tl.load(thrice + place, inside, 0.0)
        wanted = tl.load(reach + place, inside, 0.0) / (third + 1e-4)
        shown = tl.load(once + place, inside, 0.0)
        shown = _blend_level(shown, tl.load(twice + place, inside, 0.0), wanted, SIGMA_1, SIGMA_2)
        shown = _blend_level(shown, third, wanted, SIGMA_2, SIGMA_3)
        fourth = _blur_cell(thrice + start, column, row, columns, rows, inside, 8, 4)
        shown = _blend_level(shown, fourth, wanted, SIGMA_3, SIGMA_4)
        lamp = lamps + (image * LAMPS + k) * 16
        lz = tl.load(lamp + 2)
        tx, ty = tl.load(lamp) - x, tl.load(lamp + 1) - y
        square = tx * tx + ty * ty + lz * lz
        facing = tx * tl.load(lamp + 7) + ty * tl.load(lamp + 8) + lz * tl.load(lamp + 9)
        fall = lz * tl.maximum(facing, 0.0) / (square * square) * (1.0 - shown)
        red += tl.load(lamp + 3) * fall
        green += tl.load(lamp + 4) * fall
        blue += tl.load(lamp + 5) * fall
    target = out + (image.to(tl.int64) * columns * rows + i) * 4
    tl.store(target, red, inside)
    tl.store(target + 1, green, inside)
    tl.store(target + 2, blue, inside)
