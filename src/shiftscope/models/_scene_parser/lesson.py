"""Lesson: what a training step makes small, images mirrored at random; on a GPU it can be compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import torch
from torch import nn

from .config import Config
from .labels import Batch, Labels
from .loss import loss
from .mirror import Names, mirror, names_on
from .recipe import Recipe

Lesson = Callable[[nn.Module, Batch], tuple[torch.Tensor, dict[str, torch.Tensor]]]


def lesson(config: Config, recipe: Recipe, *, compiled: bool = False) -> Lesson:
    """The loss of a module on a batch, whose images are varied as the recipe says.

    Compiled, the operations of a step are fused and launched together. That takes minutes when it is done
    first, and then serves all modules of that config and all batches of that size.
    """
    run = _compiled() if compiled else _lesson

    def taught(module: nn.Module, batch: Batch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        names = names_on(config.schema, batch.images.device) if recipe.flip else None
        arrays = (getattr(batch.labels, f.name) for f in fields(batch.labels))
        found: tuple[torch.Tensor, dict[str, torch.Tensor]] = run(module, names, batch.images, *arrays)
        return found

    return taught


def _lesson(
    module: nn.Module, names: Names | None, images: torch.Tensor, *labels: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    batch = Batch(images, Labels(*labels))
    if names is not None:
        batch = mirror(batch, names, torch.rand(len(images), device=images.device) < 0.5)
    return loss(module, batch)


@cache
def _compiled() -> Any:
    warnings.filterwarnings("ignore", "\\s*Online softmax is disabled", UserWarning)
    return torch.compile(_lesson, dynamic=False, mode="reduce-overhead")
