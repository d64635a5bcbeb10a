# mypy: ignore-errors
"""Patterns on surfaces: texture.tint, for the points that a program shades."""

from __future__ import annotations

import triton
import triton.language as tl

from .. import texture as t

DOT = tl.constexpr(t.DOT)
SQUARE = tl.constexpr(t.SQUARE)
STRIPE = tl.constexpr(t.STRIPE)
_, DOTTED, CHECKERED, STRIPED = (tl.constexpr(float(x)) for x in t.MEANS)


@triton.jit
def inked(px, py, pz, nx, ny, nz, depth, pattern, body, frames, view, wanted):
    """How much of each point the ink covers, 0 where there is no pattern."""
    frame = frames + body * 6
    cosine, sine = tl.load(frame + 3, wanted, 0.0), tl.load(frame + 4, wanted, 0.0)
    steps = tl.load(frame + 5, wanted, 0.0)
    dx, dy = px - tl.load(frame, wanted, 0.0), py - tl.load(frame + 1, wanted, 0.0)
    z = (pz - tl.load(frame + 2, wanted, 0.0)) * steps
    x, y = (dx * cosine + dy * sine) * steps, (dy * cosine - dx * sine) * steps
    vx = tl.load(view) - px
    vy = tl.load(view + 1) - py
    vz = tl.load(view + 2) - pz
    facing = tl.abs(vx * nx + vy * ny + vz * nz) / tl.sqrt(vx * vx + vy * vy + vz * vz)
    pixel = 1.0 / tl.load(view + 12)
    width = depth * pixel * steps / tl.sqrt(tl.maximum(facing, 0.1))
    width = tl.where(wanted, width, 1.0)
    slant = (x + y + z) * 0.5773502691896258
    edge = STRIPE / 2 - tl.abs(slant - tl.floor(slant) - 0.5)
    striped = _between(0.5 + edge / width, 0.0)
    mx, my, mz = tl.abs(nx * cosine + ny * sine), tl.abs(ny * cosine - nx * sine), tl.abs(nz)
    along = (mx >= my) & (mx >= mz)
    u = tl.where(along, y, x)
    v = tl.where(along | (my >= mz), z, y)
    du, dv = u - tl.floor(u) - 0.5, v - tl.floor(v) - 0.5
    dotted = _between(0.5 + (DOT - tl.sqrt(du * du + dv * dv)) / width, 0.0)
    u, v = u * (1 / (2 * SQUARE)), v * (1 / (2 * SQUARE))
    rise = (4 * SQUARE) / width
    u = _between(rise * (0.25 - tl.abs(u - tl.floor(u) - 0.5)), -1.0)
    v = _between(rise * (0.25 - tl.abs(v - tl.floor(v) - 0.5)), -1.0)
    checkered = 0.5 + 0.5 * u * v
    share = tl.where(pattern == 1.0, dotted, tl.where(pattern == 2.0, checkered, striped))
    mean = tl.where(pattern == 1.0, DOTTED, tl.where(pattern == 2.0, CHECKERED, STRIPED))
    share += _between(2.0 * width - 1.0, 0.0) * (mean - share)
    return tl.where(wanted, share, 0.0)


@triton.jit
def _between(value, least):
    return tl.minimum(tl.maximum(value, least), 1.0)
