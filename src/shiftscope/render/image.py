"""A batch of images, and how light becomes bytes: layers, sRGB; and many images as one contact sheet."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Bytes, Floats, Ints, fast
from ..scene import Vector

CELLS: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {  # what each layer holds at a pixel
    "rgb": ((3,), np.uint8),
    "mask": ((), np.uint8),
    "parts": ((), np.uint8),
    "listed": ((), np.uint8),
    "depth": ((), np.float32),
    "normal": ((3,), np.float32),
}


@dataclass(frozen=True, slots=True, eq=False)
class RenderedImages:
    """A batch of one size: what `Rendered` holds, scene by scene."""

    size: tuple[int, int]  # width, height
    rgb: Bytes | None  # [scene, height, width, 3]
    mask: Bytes | None  # [scene, height, width]
    depth: Floats | None  # [scene, height, width]
    normal: Floats | None  # [scene, height, width, 3]
    boxes: tuple[Ints, ...]
    visible: tuple[Ints, ...]
    part_boxes: tuple[tuple[Ints, ...], ...]
    part_visible: tuple[tuple[Ints, ...], ...]
    parts: Bytes | None = None  # [scene, height, width]
    listed: Bytes | None = None  # [scene, height, width]


STEPS = 4096  # of light between black and white in the table


@cache
def srgb_to_linear(color: tuple[int, int, int]) -> Vector:
    """The light an 8-bit sRGB colour stands for."""
    r, g, b = (c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color)
    return (r, g, b)


@cache
def srgb_table() -> Bytes:
    """The sRGB byte of each step of light."""
    light = np.arange(STEPS + 1) / STEPS
    curve = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * curve).astype(np.uint8)


@fast
def encode_srgb(light: Floats, table: Bytes, out: Bytes) -> None:
    """[rgb, height, width] light to [height, width, rgb] bytes; what is brighter than white is clipped.

    Steps are bounded once more as whole numbers: a light that is NaN is above and below all bounds.
    """
    top = np.float32(STEPS)
    height, width = out.shape[:2]
    step = np.empty(width, np.int32)
    for y in range(height):
        for k in range(3):
            for x in range(width):
                value = np.int32(min(max(light[k, y, x] * top + np.float32(0.5), np.float32(0)), top))
                step[x] = min(max(value, np.int32(0)), np.int32(STEPS))
            for x in range(width):
                out[y, x, k] = table[np.uint32(step[x])]


Picture = NDArray[np.uint8]  # [height, width, rgb]

GAP = 4  # between two pictures
SHEET_STEPS = (3, 5)  # of the colours in a file, both divide 255
MOST = 2_000_000  # bytes of a file in the finer steps
PALE = (110, 110, 110)  # what explains a name


def draw_grid(cells: Sequence[Picture], columns: int, rows: Sequence[str], heads: Sequence[str]) -> Any:
    """Rows are named at the left, columns at the top; a second line of a name is pale.

    Cells are of one height; a column is as wide as its first cell.
    """
    from PIL import Image, ImageDraw

    height, widths = cells[0].shape[0], [cell.shape[1] for cell in cells[:columns]]
    lines = [line for name in rows for line in name.split("\n")]
    margin = max((int(load_font(15).getlength(line)) for line in lines), default=-20) + 20
    top = 8 + 18 * max((head.count("\n") + 1 for head in heads), default=0) if heads else 0
    count = -(-len(cells) // columns)
    lefts = [margin + sum(widths[:k]) + k * GAP for k in range(columns)]
    size = (lefts[-1] + widths[-1], top + count * (height + GAP) - GAP)
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    for k, head in enumerate(heads):
        write_label(draw, (lefts[k] + widths[k] / 2, top / 2), head, "m")
    for r, name in enumerate(rows):
        write_label(draw, (margin - 10, top + r * (height + GAP) + height / 2), name, "r")
    for i, cell in enumerate(cells):
        row, column = divmod(i, columns)
        sheet.paste(Image.fromarray(cell), (lefts[column], top + row * (height + GAP)))
    return sheet


def write_label(draw: Any, at: tuple[float, float], text: str, side: str) -> None:
    """Lines around a place: ending there ("r") or with their middle there ("m")."""
    lines = text.split("\n")
    for k, line in enumerate(lines):
        place = (at[0], at[1] + 17 * (k - (len(lines) - 1) / 2))
        draw.text(place, line, PALE if k else "black", load_font(15 - 2 * bool(k)), anchor=f"{side}m")


def load_font(size: int) -> Any:
    """Pillow's own, so that every machine writes alike."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def encode_sheet(sheet: Any) -> bytes:
    """As a PNG whose colours are in steps of 3: two thirds of the size, and no difference to see.

    The steps are 5 where the file would be over 2 MB: such sheets have many small cells, which hide it.
    """
    from PIL import Image

    for step in SHEET_STEPS:
        buffer = BytesIO()
        stepped = (np.asarray(sheet).astype(np.int16) + step // 2) // step * step
        Image.fromarray(stepped.astype(np.uint8)).save(buffer, "PNG", optimize=True)
        if buffer.getbuffer().nbytes <= MOST:
            break
    return buffer.getvalue()
