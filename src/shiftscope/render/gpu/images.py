"""GpuImages: a rendered batch that stays on its device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, eq=False)
class GpuImages:
    """Tensors; rows of `boxes` and `visible` beyond an image's objects or listed parts are zero."""

    size: tuple[int, int]  # width, height
    rgb: torch.Tensor | None  # [image, height, width, 3] uint8
    mask: torch.Tensor  # [image, height, width] uint8, object index + 1, 0 for the ground
    parts: torch.Tensor  # [image, height, width] uint8, 1, 2, … for the parts that the scene lists, else 0
    boxes: torch.Tensor  # [image, object, left top width height] int32; zeros if hidden
    visible: torch.Tensor  # [image, object] int32, pixels at whose centre it is seen
    part_boxes: torch.Tensor  # [image, listed part, left top width height] int32
    part_visible: torch.Tensor  # [image, listed part] int32
