"""PNG, as fast as the libraries here allow: rows as differences to the row above, then ISA-L's deflate or zlib's.

Neither step holds the GIL. Pixels never depend on the library, bytes do: a manifest names it.
"""

import struct
import zlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

LEVEL = 1  # ISA-L's; files are as large as those of zlib's level 2, which takes three times as long
ZLIB_LEVEL = 2
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KINDS = {1: 0, 3: 2}  # channels to PNG's colour type
_UP = 2  # the filter's name in a row


@cache
def load_deflate() -> tuple[str, Callable[[Any], bytes]]:
    """What compresses here, by name and version, and the function that does."""
    try:
        from isal import isal_zlib
    except ImportError:
        return f"zlib {zlib.ZLIB_RUNTIME_VERSION}", lambda data: zlib.compress(data, ZLIB_LEVEL)
    return f"isal {version('isal')}", lambda data: bytes(isal_zlib.compress(data, LEVEL))


def encode_png(image: npt.NDArray[np.uint8]) -> bytes:
    """[height, width] grey or [height, width, 3] colour to PNG; grey rows stay as they are, masks repeat values."""
    height, width = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    lines = np.ascontiguousarray(image).reshape(height, -1)
    rows = np.empty((height, 1 + width * channels), np.uint8)
    if channels == 3:
        rows[0, 0], rows[1:, 0] = 0, _UP
        rows[0, 1:] = lines[0]
        np.subtract(lines[1:], lines[:-1], out=rows[1:, 1:])
    else:
        rows[:, 0], rows[:, 1:] = 0, lines
    header = struct.pack(">IIBBBBB", width, height, 8, _KINDS[channels], 0, 0, 0)
    pixels = load_deflate()[1](rows.data)
    return _SIGNATURE + _build_chunk(b"IHDR", header) + _build_chunk(b"IDAT", pixels) + _build_chunk(b"IEND", b"")


def _build_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))
