"""Boxes (left top width height) and points, in pixels; and looking at feature maps through them."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def centres(boxes: torch.Tensor) -> torch.Tensor:
    """[…, x y] the middles."""
    return boxes[..., :2] + boxes[..., 2:] / 2


def far_corners(boxes: torch.Tensor) -> torch.Tensor:
    """[…, x y] right and bottom."""
    return boxes[..., :2] + boxes[..., 2:]


def widened(boxes: torch.Tensor, times: float, least: float) -> torch.Tensor:
    """Boxes with the same middle, so many times as large and of at least that side."""
    sides = (boxes[..., 2:] * times).clamp(min=least)
    return torch.cat([centres(boxes) - sides / 2, sides], -1)


def inside(boxes: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """What of the boxes lies in an image of that width and height."""
    corners = torch.cat([boxes[..., :2], far_corners(boxes)], -1).clamp(min=0)
    left, right = corners[..., 0::2].clamp(max=size[0]).unbind(-1)
    top, bottom = corners[..., 1::2].clamp(max=size[1]).unbind(-1)
    return torch.stack([left, top, right - left, bottom - top], -1)


def shares(points: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Points, or pairs of sides, as shares of the width and height of an image."""
    return torch.stack([points[..., 0] / size[0], points[..., 1] / size[1]], -1)


def overlap(boxes: torch.Tensor, others: torch.Tensor, *, general: bool = False) -> torch.Tensor:
    """Intersection over union; `general` goes below 0 as boxes part, so that those apart attract."""
    near = torch.maximum(boxes[..., :2], others[..., :2])
    far = torch.minimum(far_corners(boxes), far_corners(others))
    both = (far - near).clamp(min=0).prod(-1)
    either = (boxes[..., 2:].prod(-1) + others[..., 2:].prod(-1) - both).clamp(min=1e-6)
    if not general:
        return both / either
    low = torch.minimum(boxes[..., :2], others[..., :2])
    high = torch.maximum(far_corners(boxes), far_corners(others))
    hull = (high - low).prod(-1).clamp(min=1e-6)
    return both / either - (hull - either) / hull


def spread(boxes: torch.Tensor, count: int) -> torch.Tensor:
    """[…, box, count, count, x y] points spread evenly over boxes, row by row."""
    steps = (torch.arange(count, device=boxes.device, dtype=boxes.dtype) + 0.5) / count
    x = boxes[..., 0, None] + boxes[..., 2, None] * steps
    y = boxes[..., 1, None] + boxes[..., 3, None] * steps
    shape = (*boxes.shape[:-1], count, count)
    return torch.stack([x[..., None, :].expand(shape), y[..., :, None].expand(shape)], -1)


def look(features: torch.Tensor, points: torch.Tensor, stride: int) -> torch.Tensor:
    """[image, channel, …] what lies at [image, …, x y] of a map of that stride, between cells by nearness.

    Both are float32: halves of it could not tell neighbouring pixels apart.
    """
    height, width = features.shape[-2:]
    flat = (shares(points, (width * stride, height * stride)) * 2 - 1).reshape(len(points), -1, 1, 2)
    found = F.grid_sample(features, flat, align_corners=False, padding_mode="border")
    return found.reshape(*found.shape[:2], *points.shape[1:-1])
