"""The same batch without a GPU: drawn by the CPU renderer, in the tensors that a GPU would fill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...geometry.camera import SIZE
from ...scene import Scene
from ..raster import render
from .images import GpuImages

Ints = npt.NDArray[np.int32]


def host_batch(
    scenes: Sequence[Scene], size: tuple[int, int] = SIZE, *, workers: int | None = None
) -> GpuImages:
    """What `render_batch` returns, its tensors in main memory."""
    import torch

    images = render(scenes, size, ("rgb", "mask", "parts"), workers)
    assert images.rgb is not None and images.mask is not None and images.parts is not None
    listed = [sum(len(o.parts) for o in s.objects) for s in scenes]
    parts = [measured(plane, count) for plane, count in zip(images.parts, listed, strict=True)]
    return GpuImages(
        size,
        torch.from_numpy(images.rgb),
        torch.from_numpy(images.mask),
        torch.from_numpy(images.parts),
        *(torch.from_numpy(_padded(rows)) for rows in (images.boxes, images.visible)),
        *(torch.from_numpy(_padded([p[k] for p in parts])) for k in (0, 1)),
    )


def measured(plane: npt.NDArray[np.uint8], count: int) -> tuple[Ints, Ints]:
    """[label, left top width height] and [label] pixels of the labels 1 to `count` of a mask."""
    boxes, visible = np.zeros((count, 4), np.int32), np.zeros(count, np.int32)
    for k in range(count):
        rows, columns = np.nonzero(plane == k + 1)
        if len(rows):
            left, top = columns.min(), rows.min()
            boxes[k] = (left, top, columns.max() + 1 - left, rows.max() + 1 - top)
            visible[k] = len(rows)
    return boxes, visible


def _padded(rows: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Rows of different lengths as one array, zeros at their ends."""
    out = np.zeros((len(rows), max(map(len, rows)), *rows[0].shape[1:]), rows[0].dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out
