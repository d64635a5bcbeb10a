"""Picture: an image small enough to be part of the page."""

from __future__ import annotations

import io
from base64 import b64encode

from .markup import Html, tag

WIDTH = 440  # pixels: sharp enough at the size of a card
QUALITY = 72


def picture(png: bytes, said: str) -> Html:
    """An inline WebP; `said` stands for it where pictures are not seen."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGB")
    if image.width > WIDTH:
        image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "WEBP", quality=QUALITY, method=4)
    data = b64encode(file.getvalue()).decode("ascii")
    return tag(
        "img",
        src=f"data:image/webp;base64,{data}",
        width=image.width,
        height=image.height,
        alt=said,
        loading="lazy",
    )
