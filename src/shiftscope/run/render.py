"""Render the scenes of any scene file to image files; an interrupted rendering resumes."""

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from .. import json_files as _json
from ..errors import UserError
from ..files import write_whole
from ..folder import list_contents, lock_folder
from ..geometry.camera import check_size
from ..geometry.mesh import bodies_of
from ..geometry.visibility import name_parts
from ..records import content_id
from ..render import Rendered, check_layers, open_renderer
from ..render.image import encode_png
from ..scene import Scene

NAMES = {
    "rgb": "{}.png",
    "mask": "{}_mask.png",
    "parts": "{}_parts.png",
    "listed": "{}_listed.png",
    "depth": "{}_depth.npy",
    "normal": "{}_normal.npy",
}
PARTS_NAME = "{}_parts.json"  # what the numbers of parts stand for
RECORD = "render.json"


def render_files(
    scenes: Sequence[Scene],
    out: Path,
    size: tuple[int, int],
    layers: Sequence[str],
    progress: Callable[[int], None] = lambda done: None,
    device: str = "cpu",
) -> int:
    """Write one file per scene and layer into `out`; returns how many scenes were rendered now."""
    if not layers:
        raise UserError(f"name at least one layer of {', '.join(NAMES)}")
    check_size(size)
    renderer = open_renderer(device)
    check_layers(renderer, layers)
    for scene in scenes:
        bodies_of(scene)  # refuses what cannot be drawn, before anything is written
    record = {"scenes": content_id([s.to_json() for s in scenes]), "size": list(size), "layers": list(layers)}
    with lock_folder(out):
        record |= {"device": "cuda"} if device != "cpu" else {}
        if (out / RECORD).exists():
            if _json.load_json(out / RECORD) != record:
                raise UserError(f"{out} holds a rendering of other scenes, size or layers; choose another folder")
        elif list_contents(out):
            raise UserError(f"{out} is not empty; choose another folder")
        _json.write_json(out / RECORD, record)
        todo = [s for s in scenes if not all(_is_written(out / NAMES[layer].format(s.id)) for layer in layers)]
        done = len(scenes) - len(todo)
        progress(done)
        for k, (scene, image) in enumerate(zip(todo, renderer.render(todo, layers, size), strict=True), done + 1):
            if "parts" in layers:
                write_whole(out / PARTS_NAME.format(scene.id), _describe_parts(scene, image), durable=False)
            for layer in layers:
                write_whole(out / NAMES[layer].format(scene.id), _encode_layer(image, layer), durable=False)
            progress(k)
    return len(todo)


def _is_written(path: Path) -> bool:
    """Whether the file was written; a power cut may leave an empty one."""
    return path.exists() and path.stat().st_size > 0


def _describe_parts(scene: Scene, image: Rendered) -> bytes:
    """Of each object its parts in the order of their numbers, from 1: name, box and visible pixels."""
    rows = zip(name_parts(bodies_of(scene)), image.part_boxes, image.part_visible, strict=True)
    objects = [
        [
            {"name": name, "box": box, "visible_pixels": pixels}
            for name, box, pixels in zip(names, boxes.tolist(), visible.tolist(), strict=True)
        ]
        for names, boxes, visible in rows
    ]
    return json.dumps({"scene": scene.id, "objects": objects}).encode()


def _encode_layer(image: Rendered, layer: str) -> bytes:
    plane = getattr(image, layer)
    if plane.dtype == np.uint8:
        return encode_png(plane)
    buffer = BytesIO()
    np.save(buffer, plane)
    return buffer.getvalue()
