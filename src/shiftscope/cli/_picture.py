"""A picture in a terminal: two pixels a character, in true colour. Nothing where nobody watches."""

from __future__ import annotations

import sys
from io import BytesIO

WIDTH = 96  # characters, at most


def watched() -> bool:
    """Whether somebody could see a picture."""
    return sys.stdout.isatty()


def print_picture(png: bytes) -> None:
    """Print the picture if the output is a terminal."""
    if not watched():
        return
    from PIL import Image
    from rich.color import Color
    from rich.console import Console
    from rich.segment import Segment, Segments
    from rich.style import Style

    console = Console()
    picture = Image.open(BytesIO(png)).convert("RGB")
    width = min(WIDTH, console.width)
    height = max(1, picture.height * width // picture.width // 2)
    pixels = picture.resize((width, 2 * height), Image.Resampling.LANCZOS).load()
    assert pixels is not None
    for y in range(height):
        row = []
        for x in range(width):
            upper, lower = (Color.from_rgb(*pixels[x, 2 * y + k]) for k in (0, 1))  # type: ignore[misc]
            row.append(Segment("▀", Style(color=upper, bgcolor=lower)))
        console.print(Segments([*row, Segment.line()]), end="")
