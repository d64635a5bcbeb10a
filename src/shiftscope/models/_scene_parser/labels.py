"""Batch: images with their labels on a device; and the labels themselves, which need no torch."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .._labels import Labels, labels_of

__all__ = ["Batch", "Labels", "labels_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What a step learns from, or is measured on: images and labels on one device."""

    images: torch.Tensor  # [image, height, width, 3] uint8
    labels: Labels  # of tensors

    def __len__(self) -> int:
        return len(self.images)
