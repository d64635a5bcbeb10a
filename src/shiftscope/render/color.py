"""From light to 8-bit sRGB and back."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from ..compiled import fast
from ..scene import Vector

STEPS = 4096  # of light between black and white in the table


@cache
def linear(color: tuple[int, int, int]) -> Vector:
    """The light an 8-bit sRGB colour stands for."""
    r, g, b = (c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color)
    return (r, g, b)


@cache
def encoding() -> npt.NDArray[np.uint8]:
    """The sRGB byte of each step of light."""
    light = np.arange(STEPS + 1) / STEPS
    curve = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * curve).astype(np.uint8)


@fast
def encode(light: npt.NDArray[np.float32], table: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]) -> None:
    """[rgb, height, width] light to [height, width, rgb] bytes; what is brighter than white is clipped.

    Steps are bounded once more as whole numbers: a light that is NaN is above and below all bounds.
    """
    top = np.float32(STEPS)
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for k in range(3):
                step = np.int32(min(max(light[k, y, x] * top + np.float32(0.5), np.float32(0)), top))
                out[y, x, k] = table[min(max(step, np.int32(0)), np.int32(STEPS))]
