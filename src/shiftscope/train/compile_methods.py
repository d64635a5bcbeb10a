"""Methods that torch compiles: where many small kernels would each read and write whole maps of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..c_compiler import find_compiler

if TYPE_CHECKING:
    from torch import nn


VERSIONS = 32  # of a method, which models of several widths in one process may share; beyond, it runs as it is


def compile_methods(module: nn.Module, names: Sequence[str]) -> None:
    """Have torch compile methods when they are first called: `draw`, or `body.encoder.forward` of a part.

    What is compiled second fits all shapes that follow.
    Where there is no C compiler, which torch needs for it, they stay as they are: slower, and the same.
    """
    import torch

    if not find_compiler():
        return
    from torch._dynamo import config

    config.recompile_limit = max(config.recompile_limit, VERSIONS)
    for name in names:
        owner, _, method = name.rpartition(".")
        part = module.get_submodule(owner)
        setattr(part, method, torch.compile(getattr(part, method)))
