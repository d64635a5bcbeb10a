"""Scenes on their way into a dataset: spooled for other processes, rendered and encoded."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from ..geometry.mesh import bodies_of
from ..geometry.visibility import name_parts
from ..kernels import Ints
from ..render import CPU, Rendered, open_renderer
from ..render.png import encode_png
from ..scene import Scene
from ..store.image import ImageBox, StoredImage, StoredParts, encode_mask


def render_stored_images(
    scenes: Sequence[Scene], size: tuple[int, int], *, parts: bool = False, device: str = CPU
) -> Iterator[StoredImage]:
    """The scenes rendered and encoded, a few at a time; with the masks of parts if wanted."""
    layers = ("rgb", "mask", "parts", "listed") if parts else ("rgb", "mask")
    renderer = open_renderer(device, workers=1)
    for scene, image in zip(scenes, renderer.render(scenes, layers, size), strict=True):
        assert image.rgb is not None and image.mask is not None
        yield StoredImage(
            scene=scene,
            png=encode_png(image.rgb),
            mask=encode_mask(image.mask),
            boxes=_list_boxes(image.boxes),
            visible=tuple(image.visible.tolist()),
            part_mask=encode_mask(image.listed) if image.listed is not None else None,
            parts=_store_parts(scene, image),
        )


def _store_parts(scene: Scene, image: Rendered) -> StoredParts | None:
    """What the image shows of every part, if it was rendered with that layer."""
    if image.parts is None:
        return None
    return StoredParts(
        encode_mask(image.parts),
        name_parts(bodies_of(scene)),
        tuple(map(_list_boxes, image.part_boxes)),
        tuple(tuple(own.tolist()) for own in image.part_visible),
    )


def _list_boxes(boxes: Ints) -> tuple[ImageBox, ...]:
    return tuple((a, b, c, d) for a, b, c, d in boxes.tolist())


# Spool: scenes on their way to other processes, one file per shard, as plain JSON.


def write_spool(path: Path, scenes: Sequence[Scene]) -> None:
    path.write_text(json.dumps([scene.to_json() for scene in scenes]), "utf-8")


@lru_cache(maxsize=2)  # a shard's scenes are asked for a few at a time
def read_spool(path: Path) -> list[Scene]:
    return [Scene.from_json(one) for one in json.loads(path.read_bytes())]
