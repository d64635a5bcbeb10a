# mypy: ignore-errors
"""Triangles into visibility buffers: visibility.draw, a triangle a lane.

A sample lies in a triangle when none of three edges turns its back on it: the very spans that the CPU walks.
Small triangles are drawn each by its own lane, in 32 bits; a large one by all lanes of its program together.
"""

from __future__ import annotations

import triton
import triton.language as tl

SMALL = tl.constexpr(1 << 13)  # steps: products of two such lengths fit 32 bits


@triton.jit
def draw(
    triangles,  # [mesh triangle, corner]
    bodies,  # [body, 8], see shelf.py
    snapped,  # [view, vertex, x y nearness -]
    total,  # vertices of the batch
    width,
    height,
    fine,  # out: [image, pixel, sample of FOUR], `nearness << 32 | body << 24 | triangle`
    centre,  # out: [image, pixel], the same at pixel centres
    maps,  # out: [image, lamp, cell], nearness alone
    LIT: tl.constexpr,  # draw shadow maps, not the camera's view
    EVERY: tl.constexpr,  # draw the four samples of a pixel too, not its centre alone
    LAMPS: tl.constexpr,
    MOST: tl.constexpr,  # pixels of a small triangle's box
    BLOCK: tl.constexpr,
):
    """One program: some triangles of one body, for the camera or for one lamp."""
    row = bodies + tl.program_id(0) * 8
    faces = tl.load(row + 3)
    start = tl.program_id(1) * BLOCK
    if start < faces:
        lane = tl.arange(0, BLOCK)
        face = start + lane
        there = face < faces
        corner = triangles + (tl.load(row + 2) + face) * 3
        view = tl.program_id(2) + 1 if LIT else 0
        base = snapped + (view * total + tl.load(row + 4)).to(tl.int64) * 4
        a = base + tl.load(corner, there, 0) * 4
        b = base + tl.load(corner + 2, there, 0) * 4  # y points down: turn the other way
        c = base + tl.load(corner + 1, there, 0) * 4
        xa, ya, na = tl.load(a, there, 0), tl.load(a + 1, there, 0), tl.load(a + 2, there, 0)
        xb, yb, nb = tl.load(b, there, 0), tl.load(b + 1, there, 0), tl.load(b + 2, there, 0)
        xc, yc, nc = tl.load(c, there, 0), tl.load(c + 1, there, 0), tl.load(c + 2, there, 0)
        area = (xb - xa).to(tl.int64) * (yc - ya) - (xc - xa).to(tl.int64) * (yb - ya)
        low, high = tl.minimum(tl.minimum(xa, xb), xc), tl.maximum(tl.maximum(xa, xb), xc)
        top, bottom = tl.minimum(tl.minimum(ya, yb), yc), tl.maximum(tl.maximum(ya, yb), yc)
        RIM: tl.constexpr = 32 if EVERY else 128  # no sample is closer to its pixel's rim
        # pixels, or cells, that hold a sample between the corners
        left, right = tl.maximum((low + RIM - 1) >> 8, 0), tl.minimum((high - RIM) >> 8, width - 1)
        first, last = tl.maximum((top + RIM - 1) >> 8, 0), tl.minimum((bottom - RIM) >> 8, height - 1)
        seen = there & (area > 0) & (na > 0) & (nb > 0) & (nc > 0) & (left <= right) & (first <= last)
        if tl.max(seen.to(tl.int32), 0) > 0:
            across, area = right - left + 1, tl.where(seen, area, 1)
            step_x = _quotient(
                ((nb - na).to(tl.int64) * (yc - ya) - (nc - na).to(tl.int64) * (yb - ya)) * 256, area
            )
            step_y = _quotient(
                ((nc - na).to(tl.int64) * (xb - xa) - (nb - na).to(tl.int64) * (xc - xa)) * 256, area
            )
            least, most = tl.minimum(tl.minimum(na, nb), nc), tl.maximum(tl.maximum(na, nb), nc)
            image, slot = tl.load(row + 5), tl.load(row + 6)
            name = (slot.to(tl.int64) << 24) | face
            small = seen & (high - low <= SMALL) & (bottom - top <= SMALL)
            small = small & (across * (last - first + 1) <= MOST)
            if LIT:
                target = maps + (image * LAMPS + tl.program_id(2)).to(tl.int64) * width * height
            else:
                target = fine + image.to(tl.int64) * width * height * 4
            middle = centre + image.to(tl.int64) * width * height
            # small ones: every lane its own
            count = tl.where(small, across * (last - first + 1), 0)
            px, py = left, first
            for i in range(tl.max(count, 0)):
                _sample(
                    px, py, i < count, xa, ya, xb - xa, yb - ya, xc - xa, yc - ya,
                    na, step_x, step_y, least, most, name, target, middle, width, LIT, EVERY, False,
                )  # fmt: skip
                over = px == right
                px, py = tl.where(over, left, px + 1), tl.where(over, py + 1, py)
            # large ones, one after another
            waiting = tl.max(tl.where(seen & (count == 0), BLOCK - lane, 0), 0)
            while waiting > 0:
                one = lane == BLOCK - waiting
                wide, begin = _pick(across, one), _pick(left, one)
                rows = _pick(first, one)
                cells = wide * (_pick(last, one) - rows + 1)
                ax, ay, an = _pick(xa, one), _pick(ya, one), _pick(na, one)
                bx, by = _pick(xb, one) - ax, _pick(yb, one) - ay
                cx, cy = _pick(xc, one) - ax, _pick(yc, one) - ay
                sx, sy, nm = _pick(step_x, one), _pick(step_y, one), _pick(name, one)
                lo, hi = _pick(least, one), _pick(most, one)
                for i in range(0, cells, BLOCK):
                    k = i + lane
                    _sample(
                        begin + k % wide, rows + k // wide, k < cells, ax, ay, bx, by, cx, cy,
                        an, sx, sy, lo, hi, nm, target, middle, width, LIT, EVERY, True,
                    )  # fmt: skip
                waiting = tl.max(tl.where(seen & (count == 0) & (lane > BLOCK - waiting), BLOCK - lane, 0), 0)


@triton.jit
def _pick(values, one):
    """The value of one lane, for all."""
    return tl.sum(tl.where(one, values, 0), 0)


@triton.jit
def _quotient(a, b):
    """Rounded down, whatever the division of signed numbers does; b > 0."""
    q = a // b
    return tl.where(a - q * b < 0, q - 1, q)


@triton.jit
def _sample(
    px, py, wanted, xa, ya, bx, by, cx, cy, na, step_x, step_y, least, most, name, target, middle, width,
    LIT: tl.constexpr, EVERY: tl.constexpr, LONG: tl.constexpr,
):  # fmt: skip
    """Draw what a triangle shows at the samples of one pixel; b and c are offsets from a."""
    for k in tl.static_range(0 if EVERY else 4, 5):
        # FOUR, and then the centre
        sx = 96 if k == 0 else 224 if k == 1 else 32 if k == 2 else 160 if k == 3 else 128
        sy = 32 if k == 0 else 96 if k == 1 else 160 if k == 2 else 224 if k == 3 else 128
        x, y = px * 256 + sx - xa, py * 256 + sy - ya
        u, v = x, y
        if LONG:
            u, v = x.to(tl.int64), y.to(tl.int64)
        hit = wanted & (bx * v - by * u >= 0) & (cy * u - cx * v >= 0)
        hit = hit & ((cx - bx) * (v - by) - (cy - by) * (u - bx) >= 0)
        near = na + ((step_x * x + step_y * y) >> 8)
        near = tl.minimum(tl.maximum(near, least), most)
        if LIT:
            tl.atomic_max(target + py * width + px, near.to(tl.int32), hit, sem="relaxed")
        else:
            cell = (near << 32) | name
            pixel = py * width + px
            if k == 4:
                tl.atomic_max(middle + pixel, cell, hit, sem="relaxed")
            else:
                tl.atomic_max(target + pixel * 4 + k, cell, hit, sem="relaxed")
