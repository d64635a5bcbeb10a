"""Lesson: what a training step makes small, images mirrored at random."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from .config import Config
from .labels import Batch
from .loss import loss
from .mirror import mirror, names_on
from .recipe import Recipe

Lesson = Callable[[nn.Module, Batch], tuple[torch.Tensor, dict[str, torch.Tensor]]]


def lesson(config: Config, recipe: Recipe) -> Lesson:
    """The loss of a module on a batch, whose images are varied as the recipe says."""

    def taught(module: nn.Module, batch: Batch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        if recipe.flip:
            device = batch.images.device
            which = torch.rand(len(batch.images), device=device) < 0.5
            batch = mirror(batch, names_on(config.schema, device), which)
        return loss(module, batch)

    return taught
