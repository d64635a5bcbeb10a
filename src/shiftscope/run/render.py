"""Render the scenes of any scene file to image files; an interrupted rendering resumes."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .. import json_files as _json
from ..errors import UserError
from ..files import write_whole
from ..folder import list_contents, lock_folder
from ..geometry.camera import SIZE, CameraFit, camera_of, can_fit, check_size, fit_camera
from ..geometry.mesh import bodies_of
from ..geometry.visibility import name_parts
from ..records import content_id
from ..render import Rendered, check_layers, open_renderer
from ..render.png import encode_png
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


@dataclass(frozen=True, slots=True)
class RenderReport:
    """How many scenes were rendered now, how large, and where their cameras come from."""

    rendered: int
    size: tuple[int, int]
    noted: int  # scenes whose camera their maker noted
    fits: tuple[CameraFit, ...]  # of the scenes whose camera was fitted to their pixels
    default: int  # scenes with neither: seen by CLEVR's own camera

    @property
    def pixels_off(self) -> float:
        return max((fit.pixels_off for fit in self.fits), default=0.0)

    @property
    def loose(self) -> int:
        return sum(not fit.good for fit in self.fits)

    def count_sizes(self) -> dict[str, int]:
        """How many scenes fit an image of that size, commonest first."""
        return dict(Counter(_spell_size(fit.size) for fit in self.fits).most_common())

    def to_json(self) -> dict[str, Any]:
        cameras = {"noted": self.noted, "fitted": self.count_sizes(), "default": self.default}
        off = {"pixels_off": round(self.pixels_off, 2), "loosely_fitted": self.loose}
        return {"rendered": self.rendered, "size": list(self.size), "cameras": cameras | off}


def render_files(
    scenes: Sequence[Scene],
    out: Path,
    size: tuple[int, int] | None,
    layers: Sequence[str],
    progress: Callable[[int], None] = lambda done: None,
    device: str = "cpu",
) -> RenderReport:
    """Write one file per scene and layer into `out`; without a size, at that of the scenes' own images."""
    if not layers:
        raise UserError(f"name at least one layer of {', '.join(NAMES)}")
    if size:
        check_size(size)
    renderer = open_renderer(device)
    check_layers(renderer, layers)
    for scene in scenes:
        _check_scene(scene)
    fits = _fit_cameras(scenes, size)
    sized = [replace(s, size=fits[k].size) if k in fits else s for k, s in enumerate(scenes)]
    chosen = size or _find_common_size(sized)
    check_size(chosen)
    record: dict[str, Any] = {"scenes": content_id([s.to_json() for s in sized])}
    record |= {"size": list(chosen), "layers": list(layers)} | ({"device": "cuda"} if device != "cpu" else {})
    with lock_folder(out):
        if (out / RECORD).exists():
            if _json.load_json(out / RECORD) != record:
                raise UserError(f"{out} holds a rendering of other scenes, size or layers; choose another folder")
        elif list_contents(out):
            raise UserError(f"{out} is not empty; choose another folder")
        _json.write_json(out / RECORD, record)
        todo = [s for s in sized if not all(_is_written(out / NAMES[layer].format(s.id)) for layer in layers)]
        done = len(scenes) - len(todo)
        progress(done)
        for k, (scene, image) in enumerate(zip(todo, renderer.render(todo, layers, chosen), strict=True), done + 1):
            if "parts" in layers:
                write_whole(out / PARTS_NAME.format(scene.id), _describe_parts(scene, image), durable=False)
            for layer in layers:
                write_whole(out / NAMES[layer].format(scene.id), _encode_layer(image, layer), durable=False)
            progress(k)
    noted = sum(s.note("camera") is not None for s in scenes)
    return RenderReport(len(todo), chosen, noted, tuple(fits.values()), len(scenes) - noted - len(fits))


def _check_scene(scene: Scene) -> None:
    """Refuse what cannot be drawn before anything is written."""
    if Path(scene.id).name != scene.id:
        raise UserError(f"scene {scene.id!r}: its name cannot be that of a file in a folder of images")
    bodies_of(scene)
    if scene.note("camera") is not None:
        camera_of(scene)


def _fit_cameras(scenes: Sequence[Scene], size: tuple[int, int] | None) -> dict[int, CameraFit]:
    """By number, the cameras of the scenes that note none; a lone object takes the size of the other scenes."""
    todo = {k: s for k, s in enumerate(scenes) if s.note("camera") is None and can_fit(s)}
    fits = {k: fit_camera(s, (size,) if size else ()) for k, s in todo.items() if len(s.objects) > 1}
    usual = Counter(fit.size for fit in fits.values()).most_common(1)
    for k, scene in todo.items():
        if k not in fits:
            known = scene.size or (usual[0][0] if usual else None)
            fits[k] = fit_camera(replace(scene, size=known), (size,) if size else ())
    return dict(sorted(fits.items()))


def _find_common_size(scenes: Sequence[Scene]) -> tuple[int, int]:
    sizes = sorted({s.size for s in scenes if s.size})
    if len(sizes) > 1:
        listed = ", ".join(map(_spell_size, sizes))
        raise UserError(f"the scenes are of images of several sizes ({listed}); say how large to draw them with --size")
    return sizes[0] if sizes else SIZE


def _spell_size(size: tuple[int, int]) -> str:
    return f"{size[0]}×{size[1]}"


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
