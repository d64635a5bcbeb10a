"""The default renderer: triangles, on the CPU, one scene per thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from ..errors import unknown
from ..geometry.body import bodies_of
from ..geometry.camera import SIZE, Camera, camera_of, check_size
from ..geometry.seen import Seen, buffer_of, part_labels, see
from ..geometry.stage import Stage, stage_of
from ..geometry.visibility import CENTRE
from ..scene import Scene
from .gather import FACET, gather, locate
from .images import CELLS, Images
from .lamps import lamps_of
from .layers import depths, ground_normals, put_normals
from .paint import Canvas, paint

_own = threading.local()


def render(
    scenes: Sequence[Scene],
    size: tuple[int, int] = SIZE,
    layers: Sequence[str] = ("rgb", "mask"),
    workers: int | None = None,
) -> Images:
    """Images of the scenes, in order; `workers` threads, by default one per core.

    The camera and lamps are those the scene's notes tell of, else fitted (`camera_of`) and CLEVR's own. All
    images are held in memory, colour and mask at 4 bytes a pixel. To make these, each thread works in at most
    31 MB for a band of rows and in 45 bytes a pixel of the image: 37 MB at 480×320.
    """
    for layer in layers:
        if layer not in CELLS:
            raise unknown("layer", layer, CELLS)
    check_size(size)
    count, (width, height) = len(scenes), size
    planes = {
        layer: np.empty((count, height, width, *tail), kind)
        for layer, (tail, kind) in CELLS.items()
        if layer in layers
    }
    seen: list[Seen | None] = [None] * count

    def draw(i: int) -> None:
        stage, camera = stage_of(bodies_of(scenes[i])), camera_of(scenes[i])
        labels = part_labels(scenes[i], stage) if "parts" in planes else None
        seen[i] = found = see(stage, camera, size, labels)
        if "mask" in planes:
            planes["mask"][i] = found.mask
        if found.parts is not None:
            planes["parts"][i] = found.parts
        if "rgb" in planes:
            paint(stage, camera, lamps_of(scenes[i]), _canvas(size), planes["rgb"][i])
        if "depth" in planes or "normal" in planes:
            _measure(stage, camera, size, planes.get("depth"), planes.get("normal"), i)

    threads = min(workers or os.cpu_count() or 1, count)
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(draw, range(count)))
    else:
        for i in range(count):
            draw(i)
    return Images(
        size=size,
        rgb=planes.get("rgb"),
        mask=planes.get("mask"),
        depth=planes.get("depth"),
        normal=planes.get("normal"),
        boxes=tuple(s.boxes for s in seen if s),
        visible=tuple(s.visible for s in seen if s),
        parts=planes.get("parts"),
    )


def _canvas(size: tuple[int, int]) -> Canvas:
    """This thread's working memory for images of one size; the last size is kept."""
    canvas: Canvas | None = getattr(_own, "canvas", None)
    if canvas is None or canvas.size != size:
        canvas = _own.canvas = Canvas.of(size)
    return canvas


def _measure(
    stage: Stage,
    camera: Camera,
    size: tuple[int, int],
    depth: npt.NDArray[np.float32] | None,
    normal: npt.NDArray[np.float32] | None,
    index: int,
) -> None:
    """Depth and normals at pixel centres, into row `index` of the batch."""
    view = camera.packed(size)
    buffer = buffer_of(stage, camera, size, CENTRE)
    if depth is not None:
        depths(buffer, view, depth[index])
    if normal is not None:
        cells = size[0] * size[1]
        pixel, triangle = np.empty((2, cells), np.int32)
        numbers = np.empty((10, cells), np.float32)
        bare = np.empty((size[1], size[0]), np.float32)
        facets = np.zeros((len(stage.triangles), FACET), np.float32)  # one sample a pixel: no edges to find
        n = gather(buffer, CENTRE, 0, facets, pixel, triangle, numbers[9], numbers[:3], bare)
        locate(n, view, stage.vertices, stage.normals, stage.triangles, triangle, numbers[:3], numbers[3:9])
        ground_normals(normal[index])
        put_normals(n, pixel, numbers[3:9], normal[index].reshape(-1, 3))
