# mypy: ignore-errors
"""Masks off the samples at pixel centres, and of all that they name the boxes and visible pixels."""

from __future__ import annotations

import triton
import triton.language as tl

from .tile import tile


@triton.jit
def measure(
    centre,  # [image, pixel], see draw.py
    part_of,  # [mesh triangle]
    bodies,  # [body, 8], see shelf.py
    first,  # [image + 1]
    labels,  # [surface], the label of a part that its scene lists, else 0
    mask,  # out: [image, pixel]
    parts,  # out: [image, pixel]
    seen,  # out: [image, label, pixels left top right bottom]; parts follow the objects
    width,
    height,
    OBJECTS: tl.constexpr,
    LABELS: tl.constexpr,  # of objects and parts together
    ACROSS: tl.constexpr,
    DOWN: tl.constexpr,
):
    """One program: one tile of one image."""
    image = tl.program_id(0)
    _, _, x, y, inside = tile(width, height, ACROSS, DOWN)
    place = image.to(tl.int64) * width * height + y * width + x
    cell = tl.load(centre + place, inside, 0)
    there = cell > 0
    slot = ((cell >> 24) & 255).to(tl.int32)
    row = bodies + (tl.load(first + image) + slot) * 8
    face = tl.load(row + 2, there, 0) + (cell & 0xFFFFFF).to(tl.int32)
    surface = tl.load(row + 7, there, 0) + tl.load(part_of + face, there, 0)
    part = tl.load(labels + surface, there, 0).to(tl.int32)
    thing = tl.where(there, slot + 1, 0)
    tl.store(mask + place, thing.to(tl.uint8), inside)
    tl.store(parts + place, part.to(tl.uint8), inside)
    out = seen + image * LABELS * 5
    _count(thing, x, y, out)
    if LABELS > OBJECTS:
        _count(part, x, y, out + OBJECTS * 5)


@triton.jit
def _count(label, x, y, out):
    """Add the tile's share of every label in it, from the lowest on."""
    current = tl.min(tl.where(label > 0, label, 256), 0)
    while current < 256:
        own = label == current
        row = out + (current - 1) * 5
        tl.atomic_add(row, tl.sum(own.to(tl.int32), 0), sem="relaxed")
        tl.atomic_min(row + 1, tl.min(tl.where(own, x, 1 << 20), 0), sem="relaxed")
        tl.atomic_min(row + 2, tl.min(tl.where(own, y, 1 << 20), 0), sem="relaxed")
        tl.atomic_max(row + 3, tl.max(tl.where(own, x, -1), 0), sem="relaxed")
        tl.atomic_max(row + 4, tl.max(tl.where(own, y, -1), 0), sem="relaxed")
        current = tl.min(tl.where(label > current, label, 256), 0)
