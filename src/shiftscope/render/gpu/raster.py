"""The renderer on a GPU: the CPU's maths for a whole batch at once; nothing comes back to the host."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...errors import UserError
from ...geometry.camera import SIZE
from ...scene import Scene
from .batch import TUNING, Batch, Tuning
from .images import GpuImages
from .pack import Packed, pack


def render_batch(
    scenes: Sequence[Scene] | Packed,
    size: tuple[int, int] = SIZE,
    device: str = "cuda",
    *,
    rgb: bool = True,
    tuning: Tuning = TUNING,
) -> GpuImages:
    """Images, masks and boxes of the scenes, on the device; without `rgb` masks and boxes alone.

    A packed batch has its own size. Working memory is about 90 bytes a pixel: 4 GB for 256 images.
    """
    check_device(device)
    packed = scenes if isinstance(scenes, Packed) else pack(scenes, size)
    return Batch(packed, device, tuning).render(rgb)


def check_device(device: str) -> None:
    """Refuse a device that Triton can not run on, saying what is missing."""
    missing = _missing(device.partition(":")[0])
    if missing:
        raise UserError(
            f"can not render on {device!r}: {missing}; the CPU renderer needs no GPU (--device cpu)"
        )


@cache
def _missing(kind: str) -> str:
    try:
        import torch
    except ImportError:
        return "torch is not installed (pip install 'shiftscope[models]')"
    try:
        import triton  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return "Triton is not installed (it comes with torch for CUDA)"
    if kind == "cpu" and triton.knobs.runtime.interpret:
        return ""  # slow, for tests
    if kind != "cuda":
        return "only CUDA devices are known"
    return "" if torch.cuda.is_available() else "torch finds no GPU here"
