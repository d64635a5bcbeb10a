"""Pictures as arrays: decoded in one place, and brought to the size that a parser was trained on."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt

from ..errors import UserError

Pixels = npt.NDArray[np.uint8]  # [height, width, 3]


def decoded(png: bytes, name: str) -> Pixels:
    """The pixels of an image; one that is broken is refused by its name."""
    from PIL import Image, UnidentifiedImageError

    broken = (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError)
    try:
        with Image.open(io.BytesIO(png)) as opened:
            return np.array(opened.convert("RGB"))
    except broken as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"image {name!r} can not be read ({why})") from None


def fitted(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """The image at that width and height, whole and undistorted.

    One of another aspect stands in the middle, and its outermost pixels go on to the edge. What a parser
    finds is then told in pixels of the fitted image; relations do not change by it.
    """
    from PIL import Image

    height, width = pixels.shape[:2]
    scale = min(size[0] / width, size[1] / height)
    inner = max(1, round(width * scale)), max(1, round(height * scale))
    if inner != (width, height):
        pixels = np.array(Image.fromarray(pixels).resize(inner, Image.Resampling.BILINEAR))
    if inner == size:
        return pixels
    left, top = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    rest = (top, size[1] - inner[1] - top), (left, size[0] - inner[0] - left), (0, 0)
    return np.pad(pixels, rest, mode="edge")
