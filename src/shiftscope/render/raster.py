"""The default renderer: triangles, on the CPU, one scene per thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import unknown
from ..geometry.camera import SIZE, Camera, camera_of, check_size
from ..geometry.layout import Layout, measure_layouts
from ..geometry.mesh import SceneMesh, bodies_of, build_scene_mesh
from ..geometry.visibility import (
    CENTRE,
    NEARNESS,
    Buffer,
    Visibility,
    draw_buffer,
    measure_visibility,
    number_parts,
    part_labels,
)
from ..kernels import Doubles, Floats, exact
from ..scene import Scene
from . import LAYERS, Rendered, split_batches
from .image import CELLS, RenderedImages
from .lighting import lamps_of
from .paint import FACET, Canvas, describe_scenes, gather_samples, list_vertices, locate_samples, paint_image

if TYPE_CHECKING:
    from .gpu.raster import GpuImages


@exact
def read_depths(buffer: Buffer, camera: Doubles, out: Floats) -> None:
    """Depth along the view axis; where no object is, that of the ground, and infinity above the horizon."""
    for y in range(out.shape[0]):
        fall = camera[11] - camera[8] * (camera[14] - y - 0.5) / camera[12]
        ground = camera[2] / fall if fall > 0 else np.inf
        for x in range(out.shape[1]):
            near = buffer[y, x] >> 32
            out[y, x] = NEARNESS / near if near > 0 else ground


COUNTED = ("boxes", "visible", "part_boxes", "part_visible")  # of what is visible, besides the masks
_own = threading.local()  # each thread's canvas, of the last size


def render(
    scenes: Sequence[Scene],
    size: tuple[int, int] = SIZE,
    layers: Sequence[str] = ("rgb", "mask"),
    workers: int | None = None,
) -> RenderedImages:
    """Images of the scenes, in order; `workers` threads, by default one per core.

    The camera and lamps are those the scene's notes tell of, else fitted (`camera_of`) and CLEVR's own. All
    images are held in memory, colour and mask at 4 bytes per pixel. To make these, each thread works in 27
    bytes per pixel, 48 per pixel of a band of rows, and 3 MB: 14 MB at 480×320, 73 MB at 1920×1080.
    """
    for layer in layers:
        if layer not in CELLS:
            raise unknown("layer", layer, CELLS)
    check_size(size)
    count, (width, height) = len(scenes), size
    planes = {
        layer: np.empty((count, height, width, *tail), kind) for layer, (tail, kind) in CELLS.items() if layer in layers
    }
    seen: list[Visibility | None] = [None] * count

    bodies, cameras = [bodies_of(scene) for scene in scenes], [camera_of(scene) for scene in scenes]
    looks = describe_scenes(bodies, cameras, [lamps_of(scene) for scene in scenes], size) if "rgb" in planes else []

    def render_scene(i: int) -> None:
        stage, camera = build_scene_mesh(bodies[i]), cameras[i]
        labels = part_labels(scenes[i], stage.bodies) if "listed" in planes else None
        numbers = number_parts(stage.bodies) if "parts" in planes else None
        seen[i] = found = measure_visibility(stage, camera, size, labels, numbers)
        if "mask" in planes:
            planes["mask"][i] = found.mask
        if found.parts is not None:
            planes["listed"][i] = found.parts
        if found.numbers is not None:
            planes["parts"][i] = found.numbers
        if "rgb" in planes:
            canvas, _own.canvas = getattr(_own, "canvas", None), None
            if canvas is None or canvas.size != size:
                canvas = Canvas(size)
            paint_image(stage, looks[i], canvas, planes["rgb"][i])
            _own.canvas = canvas
        if "depth" in planes or "normal" in planes:
            _render_geometry(stage, camera, size, planes.get("depth"), planes.get("normal"), i)

    threads = min(workers or os.cpu_count() or 1, count)
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(render_scene, range(count)))
    else:
        for i in range(count):
            render_scene(i)
    found: dict[str, Any] = {name: tuple(getattr(s, name) for s in seen) for name in COUNTED}
    return RenderedImages(size=size, **found | {layer: planes.get(layer) for layer in CELLS})


@dataclass(frozen=True, slots=True)
class CpuRenderer:
    """The default renderer."""

    workers: int | None = None
    layers: tuple[str, ...] = LAYERS
    batch: int = 16

    def render(self, scenes: Sequence[Scene], layers: Sequence[str], size: tuple[int, int]) -> Iterator[Rendered]:
        for some in split_batches(scenes, size):
            batch = render(some, size, layers, self.workers)
            planes = {layer: getattr(batch, layer) for layer in LAYERS}
            for i in range(len(some)):
                drawn: dict[str, Any] = {
                    layer: plane[i] if plane is not None else None for layer, plane in planes.items()
                }
                yield Rendered(**drawn | {name: getattr(batch, name)[i] for name in COUNTED})

    def measure(self, layouts: Sequence[Layout]) -> Sequence[Visibility]:
        return measure_layouts(layouts)

    def pack(self, scenes: Sequence[Scene], size: tuple[int, int]) -> Sequence[Scene]:
        return scenes

    def render_packs(self, packs: Sequence[Sequence[Scene]], size: tuple[int, int]) -> GpuImages:
        from .gpu.raster import render_batch_on_cpu

        return render_batch_on_cpu([scene for pack in packs for scene in pack], size, workers=self.workers)


def _render_geometry(
    stage: SceneMesh, camera: Camera, size: tuple[int, int], depth: Floats | None, normal: Floats | None, index: int
) -> None:
    """Depth and normals at pixel centres, into row `index` of the batch."""
    view = camera.pack(size)
    buffer = draw_buffer(stage, camera, size, CENTRE)
    if depth is not None:
        read_depths(buffer, view, depth[index])
    if normal is not None:
        cells = size[0] * size[1]
        pixel, triangle = np.empty((2, cells), np.int32)
        numbers = np.empty((10, cells), np.float32)
        bare = np.empty((size[1], size[0]), np.float32)
        facets = np.zeros((len(stage.triangles), FACET), np.float32)  # one sample per pixel: no edges to find
        n, _ = gather_samples(buffer, CENTRE, 0, facets, pixel, triangle, numbers[9], numbers[:3], bare, 0)
        locate_samples(n, view, stage, list_vertices(stage), triangle, numbers[:3], numbers[3:9])
        normal[index] = (0, 0, 1)  # the ground's
        normal[index].reshape(-1, 3)[pixel[:n]] = numbers[6:9, :n].T
