# mypy: ignore-errors
"""Tile: the pixels, or cells, that one program of an image's grid works on."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def tile(width, height, ACROSS: tl.constexpr, DOWN: tl.constexpr):
    """Where the tile of this program begins, its columns and rows, and which of them the image has."""
    tiles = tl.cdiv(width, ACROSS)
    left, top = tl.program_id(1) % tiles * ACROSS, tl.program_id(1) // tiles * DOWN
    lane = tl.arange(0, ACROSS * DOWN)
    x, y = left + lane % ACROSS, top + lane // ACROSS
    return left, top, x, y, (x < width) & (y < height)
