"""Methods that torch compiles: where many small kernels would each read and write whole maps of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn


def compile_methods(module: nn.Module, names: Sequence[str]) -> None:
    """Have torch compile methods when they are first called: `draw`, or `body.encoder.forward` of a part."""
    import torch

    for name in names:
        owner, _, method = name.rpartition(".")
        part = module.get_submodule(owner)
        setattr(part, method, torch.compile(getattr(part, method)))
