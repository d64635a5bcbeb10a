"""Images: what rendering a batch of scenes returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CELLS: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {  # what each layer holds at a pixel
    "rgb": ((3,), np.uint8),
    "mask": ((), np.uint8),
    "parts": ((), np.uint8),
    "depth": ((), np.float32),
    "normal": ((3,), np.float32),
}
LAYERS = tuple(CELLS)


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """A batch of one size; a layer that was not asked for is None."""

    size: tuple[int, int]  # width, height
    rgb: npt.NDArray[np.uint8] | None  # [scene, height, width, 3]
    mask: npt.NDArray[np.uint8] | None  # [scene, height, width], object index + 1, 0 for the ground
    depth: npt.NDArray[np.float32] | None  # [scene, height, width], along the view axis, in world units
    normal: npt.NDArray[np.float32] | None  # [scene, height, width, 3], in the world's frame
    boxes: tuple[npt.NDArray[np.int32], ...]  # per scene [object, left top width height]; zeros if hidden
    visible: tuple[npt.NDArray[np.int32], ...]  # per scene [object], pixels at whose centre it is seen
    parts: npt.NDArray[np.uint8] | None = None  # [scene, height, width], 1, 2, … for the parts that the
    # scene's objects list, in its order; 0 for all else
