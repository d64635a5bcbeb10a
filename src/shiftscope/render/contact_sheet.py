"""Sheet: pictures in a grid with their names, and the bytes of an image file."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]  # [height, width, rgb]

GAP = 4  # between two pictures
STEPS = (3, 5)  # of the colours in a file, both divide 255
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

    for step in STEPS:
        buffer = BytesIO()
        stepped = (np.asarray(sheet).astype(np.int16) + step // 2) // step * step
        Image.fromarray(stepped.astype(np.uint8)).save(buffer, "PNG", optimize=True)
        if buffer.getbuffer().nbytes <= MOST:
            break
    return buffer.getvalue()
