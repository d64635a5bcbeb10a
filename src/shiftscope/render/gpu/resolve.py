# mypy: ignore-errors
"""Pixels of samples and ground, as bytes: ground.enlarge, paint._join and color.encode."""

from __future__ import annotations

import triton
import triton.language as tl

from .. import color, lamps
from .tile import tile

GROUND = tl.constexpr(lamps.GROUND)
STEPS = tl.constexpr(float(color.STEPS))
BITS = tl.constexpr(20)  # of each colour of a shaded sample
FULL = tl.constexpr((1 << 20) - 1)  # and what white is
SHADED = tl.constexpr(1 << 62)  # marks one, so that black is not the ground


@triton.jit
def packed(red, green, blue):
    """A shaded sample in the cell that named its triangle; each colour from 0 to 1."""
    r, g, b = (
        (red * FULL + 0.5).to(tl.int64),
        (green * FULL + 0.5).to(tl.int64),
        (blue * FULL + 0.5).to(tl.int64),
    )
    return SHADED | (r << (2 * BITS)) | (g << BITS) | b


@triton.jit
def resolve(
    fine,  # [image, pixel, sample], shaded
    light,  # [image, cell, rgb -], the ground's
    table,  # the byte of each step of light
    out,  # [image, pixel, rgb]
    width, height, columns, rows,
    ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """One program: one tile of one image."""
    image = tl.program_id(0)
    _, _, x, y, inside = tile(width, height, ACROSS, DOWN)
    place = image.to(tl.int64) * width * height + y * width + x
    red = tl.zeros([ACROSS * DOWN], tl.float32)
    green, blue, bare = red, red, red
    for k in tl.static_range(4):
        cell = tl.load(fine + place * 4 + k, inside, 0)
        bare += tl.where(cell == 0, 0.25, 0.0)
        cell = tl.maximum(cell, 0)  # −1: another sample stands for it
        red += ((cell >> (2 * BITS)) & FULL).to(tl.float32) * (1.0 / FULL)
        green += ((cell >> BITS) & FULL).to(tl.float32) * (1.0 / FULL)
        blue += (cell & FULL).to(tl.float32) * (1.0 / FULL)
    if tl.max(bare, 0) > 0:
        ground = light + image.to(tl.int64) * columns * rows * 4
        r, g, b = _enlarged(ground, x, y, columns, rows, width, inside & (bare > 0))
        red += bare * r
        green += bare * g
        blue += bare * b
    _encode(out + place * 3, red, table, inside)
    _encode(out + place * 3 + 1, green, table, inside)
    _encode(out + place * 3 + 2, blue, table, inside)


@triton.jit
def _enlarged(light, x, y, columns, rows, width, wanted):
    """The ground's light, from cells twice as wide: ground.enlarge."""
    own, here = y >> 1, x >> 1
    other = tl.minimum(tl.maximum(own + tl.where((y & 1) == 1, 1, -1), 0), rows - 1)
    beside = tl.minimum(tl.maximum(here + tl.where((x & 1) == 1, 1, -1), 0), columns - 1)
    beside = tl.where((x == width - 1) & ((x & 1) == 0), here, beside)
    a, b = light + (own * columns + here) * 4, light + (other * columns + here) * 4
    c, d = light + (own * columns + beside) * 4, light + (other * columns + beside) * 4
    red = _blend(a, b, c, d, wanted)
    green = _blend(a + 1, b + 1, c + 1, d + 1, wanted)
    blue = _blend(a + 2, b + 2, c + 2, d + 2, wanted)
    return red, green, blue


@triton.jit
def _blend(a, b, c, d, wanted):
    near = 0.75 * tl.load(a, wanted, 0.0) + 0.25 * tl.load(b, wanted, 0.0)
    far = 0.75 * tl.load(c, wanted, 0.0) + 0.25 * tl.load(d, wanted, 0.0)
    return GROUND * (0.75 * near + 0.25 * far)


@triton.jit
def _encode(out, light, table, inside):
    step = tl.minimum(tl.maximum(light * STEPS + 0.5, 0.0), STEPS).to(tl.int32)
    tl.store(out, tl.load(table + step, inside, 0), inside)
