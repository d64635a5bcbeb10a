"""Render the scenes of any scene file to image files; goes on where an earlier run stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..canonical import content_id
from ..errors import UserError, unknown
from ..formats import _json
from ..geometry.body import bodies_of
from ..geometry.camera import check_size
from ..render.gpu.raster import check_device
from ..render.images import Images
from ..render.png import png
from ..render.raster import render
from ..scene import Scene
from ..store.lock import contents, locked
from ..whole import write_whole

BATCH_PIXELS = 16 * 480 * 320  # drawn at a time
NAMES = {
    "rgb": "{}.png",
    "mask": "{}_mask.png",
    "parts": "{}_parts.png",
    "depth": "{}_depth.npy",
    "normal": "{}_normal.npy",
}
ON_GPU = ("rgb", "mask", "parts")
RECORD = "render.json"


def render_files(
    scenes: Sequence[Scene],
    out: Path,
    size: tuple[int, int],
    layers: Sequence[str],
    progress: Callable[[int], None] = lambda done: None,
    device: str = "cpu",
) -> int:
    """Write a file a scene and layer into `out`; how many scenes were rendered now, not before."""
    for layer in layers:
        if layer not in NAMES:
            raise unknown("layer", layer, NAMES)
    if not layers:
        raise UserError(f"name at least one layer of {', '.join(NAMES)}")
    check_size(size)
    if device != "cpu":
        check_device(device)
        for layer in layers:
            if layer not in ON_GPU:
                raise UserError(f"the GPU draws {', '.join(ON_GPU)}; for {layer} use --device cpu")
    for scene in scenes:
        bodies_of(scene)  # refuses what can not be drawn, before anything is written
    record = {"scenes": content_id([s.to_json() for s in scenes]), "size": list(size), "layers": list(layers)}
    with locked(out):
        _claim(out, record | ({"device": "cuda"} if device != "cpu" else {}))
        return _render(scenes, out, size, layers, progress, device)


def _render(
    scenes: Sequence[Scene],
    out: Path,
    size: tuple[int, int],
    layers: Sequence[str],
    progress: Callable[[int], None],
    device: str,
) -> int:
    todo = [s for s in scenes if not all(_there(out / NAMES[layer].format(s.id)) for layer in layers)]
    progress(len(scenes) - len(todo))
    together = max(1, BATCH_PIXELS // (size[0] * size[1]))
    for start in range(0, len(todo), together):
        batch = todo[start : start + together]
        images = render(batch, size, layers) if device == "cpu" else _drawn_on(device, batch, size)
        for i, scene in enumerate(batch):
            for layer in layers:
                write_whole(out / NAMES[layer].format(scene.id), _encoded(images, layer, i), durable=False)
        progress(len(scenes) - len(todo) + start + len(batch))
    return len(todo)


def _drawn_on(device: str, scenes: Sequence[Scene], size: tuple[int, int]) -> Images:
    """The images of a GPU, brought back."""
    from ..render.gpu.raster import render_batch

    made = render_batch(scenes, size, device)
    assert made.rgb is not None
    planes = (plane.cpu().numpy() for plane in (made.rgb, made.mask, made.parts))
    rgb, mask, parts = planes
    return Images(size, rgb, mask, None, None, (), (), parts)


def _there(path: Path) -> bool:
    """Whether the file was written; a power cut may leave an empty one."""
    return path.exists() and path.stat().st_size > 0


def _claim(out: Path, record: dict[str, Any]) -> None:
    """Refuse a folder that holds something else than this very rendering."""
    if (out / RECORD).exists():
        if _json.load(out / RECORD) != record:
            raise UserError(f"{out} holds a rendering of other scenes, size or layers; choose another folder")
    elif contents(out):
        raise UserError(f"{out} is not empty; choose another folder")
    _json.write(out / RECORD, record)


def _encoded(images: Images, layer: str, i: int) -> bytes:
    plane = getattr(images, layer)[i]
    return png(plane) if plane.dtype == np.uint8 else _npy(plane)


def _npy(plane: Any) -> bytes:
    from io import BytesIO

    buffer = BytesIO()
    np.save(buffer, plane)
    return buffer.getvalue()
