"""Average: a module's weights as they move, smoothed; they do better than those of any one step."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn


class Average:
    """An exponential moving average of a module, which stays where it is: its tensors are held."""

    def __init__(self, module: nn.Module) -> None:
        from torch import nn

        self.module = copy.deepcopy(module).requires_grad_(False).eval()
        for part in self.module.modules():
            if isinstance(part, nn.RNNBase):
                part.flatten_parameters()  # a copy's lie apart, which a GPU does not like
        mine, theirs = self.module.state_dict(), module.state_dict()
        floats = [name for name in mine if mine[name].is_floating_point()]
        self._smooth = [mine[n] for n in floats], [theirs[n] for n in floats]
        self._counts = [(mine[n], theirs[n]) for n in mine if n not in floats]

    def add(self, keep: float, step: int) -> None:
        """Take in the weights after a step. At first it forgets faster, not to drag its beginning along.

        Statistics of the data (batch norm) are averaged like weights; counts are copied.
        """
        import torch

        keep = min(keep, (1 + step) / (10 + step))
        with torch.no_grad():
            torch._foreach_lerp_(*self._smooth, 1 - keep)
            for mine, theirs in self._counts:
                mine.copy_(theirs)
