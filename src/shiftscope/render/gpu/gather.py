# mypy: ignore-errors
"""Which samples are shaded: gather.py, pixel by pixel. What is to be done becomes one list an image, without
gaps, so that all lanes of a program that shades have work.
"""

from __future__ import annotations

import triton
import triton.language as tl

from .tile import tile


@triton.jit
def gather(
    fine,  # [image, pixel, sample], see draw.py; a sample that another stands for becomes −1
    bodies, facets, part_of, traits, first,
    todo,  # out: [image, 4 · pixels], `pixel << 4 | sample << 2 | quarters − 1`
    counts,  # out: [image], how long its list is
    width, height,
    ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """One program: one tile of one image."""
    image = tl.program_id(0)
    _, _, x, y, inside = tile(width, height, ACROSS, DOWN)
    pixel = y * width + x
    pixels = width * height
    cells = fine + (image.to(tl.int64) * pixels + pixel) * 4
    c0, c1 = tl.load(cells, inside, 0), tl.load(cells + 1, inside, 0)
    c2, c3 = tl.load(cells + 2, inside, 0), tl.load(cells + 3, inside, 0)
    some = (c0 | c1 | c2 | c3) != 0
    if tl.max(some.to(tl.int32), 0) > 0:
        w0, w1, w2, w3 = _weights(c0, c1, c2, c3, bodies, facets, part_of, traits, tl.load(first + image))
        w0 = tl.where(some, w0, 0.0)
        n0, n1 = (w0 > 0).to(tl.int32), (w1 > 0).to(tl.int32)
        n2, n3 = (w2 > 0).to(tl.int32), (w3 > 0).to(tl.int32)
        own = n0 + n1 + n2 + n3
        start = tl.atomic_add(counts + image, tl.sum(own, 0), sem="relaxed")
        at = todo + image.to(tl.int64) * pixels * 4 + start + tl.cumsum(own, 0) - own
        _list(at, pixel, 0, w0, cells, c0)
        _list(at + n0, pixel, 1, w1, cells, c1)
        _list(at + n0 + n1, pixel, 2, w2, cells, c2)
        _list(at + n0 + n1 + n2, pixel, 3, w3, cells, c3)


@triton.jit
def _list(at, pixel, K: tl.constexpr, quarters, cells, cell):
    """Put a sample on the list, or mark it as one that another stands for."""
    shaded = quarters > 0
    tl.store(at, (pixel << 4) | (K << 2) | (quarters.to(tl.int32) - 1), shaded)
    tl.store(cells + K, tl.full(pixel.shape, -1, tl.int64), (cell > 0) & (shaded == 0))


@triton.jit
def _facet(cell, bodies, facets, part_of, traits, first):
    """Of what a sample sees: whether it is there, its face, normal, group, edge, and whether it is joined."""
    there = cell > 0
    row = bodies + (first + ((cell >> 24) & 255).to(tl.int32)) * 8
    face = tl.load(row + 2, there, 0) + (cell & 0xFFFFFF).to(tl.int32)
    surface = tl.load(row + 7, there, 0) + tl.load(part_of + face, there, 0)
    facet, trait = facets + face * 4, traits + surface * 4
    nx, ny = tl.load(facet, there, 0.0), tl.load(facet + 1, there, 0.0)
    nz, square = tl.load(facet + 2, there, 0.0), tl.load(facet + 3, there, 0.0)
    group, edge = tl.load(trait, there, 0.0), tl.load(trait + 1, there, 0.0)
    bends = square < tl.load(trait + 2, there, 0.0)
    joins = (tl.load(trait + 3, there, 0.0) != 0) & (bends == 0)
    return there, nx, ny, nz, group, edge, bends, joins


@triton.jit
def _alike(s, sx, sy, sz, s_group, s_edge, t, tx, ty, tz, t_group):
    """Whether two samples look the same, and no edge lies between them; s and t are their cells."""
    smooth = (s_edge == 0) | (sx * tx + sy * ty + sz * tz >= s_edge)
    return ((s & 0xFFFFFFFF) == (t & 0xFFFFFFFF)) | ((s_group == t_group) & smooth)


@triton.jit
def _weights(c0, c1, c2, c3, bodies, facets, part_of, traits, first):
    """How many quarters of its pixel each sample stands for; 0 where another does, or the ground."""
    h0, x0, y0, z0, g0, _, bends, _ = _facet(c0, bodies, facets, part_of, traits, first)
    h1, x1, y1, z1, g1, e1, _, j1 = _facet(c1, bodies, facets, part_of, traits, first)
    h2, x2, y2, z2, g2, e2, _, j2 = _facet(c2, bodies, facets, part_of, traits, first)
    h3, x3, y3, z3, g3, e3, _, j3 = _facet(c3, bodies, facets, part_of, traits, first)
    a10 = h1 & h0 & _alike(c1, x1, y1, z1, g1, e1, c0, x0, y0, z0, g0)
    a20 = h2 & h0 & _alike(c2, x2, y2, z2, g2, e2, c0, x0, y0, z0, g0)
    a30 = h3 & h0 & _alike(c3, x3, y3, z3, g3, e3, c0, x0, y0, z0, g0)
    a21 = h2 & h1 & _alike(c2, x2, y2, z2, g2, e2, c1, x1, y1, z1, g1)
    a31 = h3 & h1 & _alike(c3, x3, y3, z3, g3, e3, c1, x1, y1, z1, g1)
    a32 = h3 & h2 & _alike(c3, x3, y3, z3, g3, e3, c2, x2, y2, z2, g2)
    mixed = bends | ((a10 & a20 & a30) == 0)
    # the first earlier sample that stands for itself takes a later one in
    p1 = h1 & ((j1 & a10) == 0)
    p2 = h2 & ((j2 & (a20 | (a21 & p1))) == 0)
    p3 = h3 & ((j3 & (a30 | (a31 & p1) | (a32 & p2))) == 0)
    t20, t30 = j2 & a20, j3 & a30
    t21 = h2 & (p2 == 0) & (t20 == 0)
    t31 = j3 & a31 & p1 & (t30 == 0)
    t32 = h3 & (p3 == 0) & (t30 == 0) & (t31 == 0)
    w0 = h0.to(tl.float32) + (j1 & a10).to(tl.float32) + t20.to(tl.float32) + t30.to(tl.float32)
    w1 = p1.to(tl.float32) + t21.to(tl.float32) + t31.to(tl.float32)
    w1 = tl.where(p1, w1, 0.0)
    w2 = tl.where(p2, 1.0 + t32.to(tl.float32), 0.0)
    w3 = p3.to(tl.float32)
    w0 = tl.where(mixed, w0, 4.0)
    return w0, tl.where(mixed, w1, 0.0), tl.where(mixed, w2, 0.0), tl.where(mixed, w3, 0.0)
