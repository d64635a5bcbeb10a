"""Images of scenes: a batched triangle rasteriser with soft shadows and reflections, on the CPU or a GPU.

A `Renderer` draws scenes one after another, a few at a time in memory; `open_renderer` chooses it by device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..geometry.layout import Layout
from ..geometry.visibility import Visibility
from ..scene import Scene

if TYPE_CHECKING:
    from .gpu.raster import GpuImages

LAYERS = ("rgb", "mask", "parts", "listed", "depth", "normal")
CPU = "cpu"  # the default device
BATCH_PIXELS = 16 * 480 * 320  # drawn at a time


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """One scene's image; a layer that was not requested is None."""

    rgb: npt.NDArray[np.uint8] | None  # [height, width, 3]
    mask: npt.NDArray[np.uint8] | None  # [height, width], object index + 1, 0 for the ground
    parts: npt.NDArray[np.uint8] | None  # [height, width], 1, 2, … for the parts of the object there, else 0
    listed: npt.NDArray[np.uint8] | None  # [height, width], 1, 2, … for the parts that the scene lists, else 0
    depth: npt.NDArray[np.float32] | None  # [height, width], along the view axis, in world units
    normal: npt.NDArray[np.float32] | None  # [height, width, 3], in the world's frame
    boxes: npt.NDArray[np.int32]  # [object, left top width height]; zeros if hidden
    visible: npt.NDArray[np.int32]  # [object], pixels at whose centre it is seen
    # Of every part of an object, in the order of `name_parts`; from a GPU only with the layer of parts.
    part_boxes: tuple[npt.NDArray[np.int32], ...] = ()  # per object [part, left top width height]
    part_visible: tuple[npt.NDArray[np.int32], ...] = ()  # per object [part]


class Renderer(Protocol):
    """What draws scenes."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Those of LAYERS that it can draw."""

    def render(self, scenes: Sequence[Scene], layers: Sequence[str], size: tuple[int, int]) -> Iterator[Rendered]:
        """The images of the scenes, in order; size is width and height in pixels."""

    def measure(self, layouts: Sequence[Layout]) -> Sequence[Visibility]:
        """What is seen of each layout: the same counts and boxes on every device; masks may be left out."""

    # For training, where many processes make scenes and one draws them.

    @property
    def batch(self) -> int:
        """Images that it draws best together."""

    def pack(self, scenes: Sequence[Scene], size: tuple[int, int]) -> Any:
        """Scenes made ready to be drawn, in any process; what comes back can be pickled."""

    def render_packs(self, packs: Sequence[Any], size: tuple[int, int]) -> GpuImages:
        """The images of what `pack` returned, as one batch of tensors on the device."""


def open_renderer(device: str = CPU, *, workers: int | None = None) -> Renderer:
    """The renderer for a device: `cpu` with a number of threads (default: one per core), `cuda` or `cuda:1`."""
    if device == CPU:
        from .raster import CpuRenderer

        return CpuRenderer(workers)
    from .gpu.raster import GpuRenderer

    return GpuRenderer(device)


def split_batches(
    scenes: Sequence[Scene], size: tuple[int, int], pixels: int = BATCH_PIXELS
) -> Iterator[Sequence[Scene]]:
    """As many scenes of that size at a time as are drawn together."""
    together = max(1, pixels // (size[0] * size[1]))
    for start in range(0, len(scenes), together):
        yield scenes[start : start + together]


def check_layers(renderer: Renderer, layers: Sequence[str]) -> None:
    """Refuse a layer that nothing, or not this renderer, draws."""
    for layer in layers:
        if layer not in LAYERS:
            raise unknown("layer", layer, LAYERS)
        if layer not in renderer.layers:
            raise UserError(f"the GPU draws {', '.join(renderer.layers)}; for {layer} use --device cpu")
