"""Pictures: scenes rendered and encoded as a dataset keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..render.png import png
from ..render.raster import render
from ..scene import Scene
from ..store.image import StoredImage
from ..store.masks import encode

BATCH_PIXELS = 16 * 480 * 320  # drawn at a time


def pictures(scenes: Sequence[Scene], size: tuple[int, int], *, parts: bool = False) -> Iterator[StoredImage]:
    """The scenes rendered and encoded, a few at a time; with the masks of parts where these are asked for."""
    together = max(1, BATCH_PIXELS // (size[0] * size[1]))
    layers = ("rgb", "mask", "parts") if parts else ("rgb", "mask")
    for start in range(0, len(scenes), together):
        batch = scenes[start : start + together]
        images = render(batch, size, layers, workers=1)
        assert images.rgb is not None and images.mask is not None
        for i, scene in enumerate(batch):
            yield StoredImage(
                scene=scene,
                png=png(images.rgb[i]),
                mask=encode(images.mask[i]),
                boxes=tuple((a, b, c, d) for a, b, c, d in images.boxes[i].tolist()),
                visible=tuple(images.visible[i].tolist()),
                part_mask=encode(images.parts[i]) if images.parts is not None else None,
            )
