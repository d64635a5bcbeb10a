"""Batch norm over the whole batch, where several processes have a part of it each.

A GPU has torch's SyncBatchNorm. A CPU has none there, and takes the one below, which computes the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.modules.batchnorm import _BatchNorm


class SumOverProcesses(torch.autograd.Function):
    """A sum that all processes go on with, so that the gradients of all of them come back through it."""

    @staticmethod
    def forward(context: Any, part: Tensor) -> Tensor:
        whole = part.clone()
        distributed.all_reduce(whole)
        return whole

    @staticmethod
    def backward(context: Any, slope: Tensor) -> Tensor:  # type: ignore[override]
        whole = slope.contiguous().clone()
        distributed.all_reduce(whole)
        return whole


class SharedBatchNorm(_BatchNorm):
    """The sums of all parts, and through them the gradients of all parts, go into mean and variance."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            found: Tensor = super().forward(input)
            return found
        dims = [0, *range(2, input.ndim)]
        shape = [1, -1, *(1 for _ in dims[1:])]
        shift = 0.0 if self.running_mean is None else self.running_mean.clone().view(shape)
        away = input.float() - shift  # near the mean, so that squares lose nothing
        count = away.new_tensor([away.numel() / away.shape[1]])
        parts = torch.cat([away.sum(dims), away.square().sum(dims), count])
        whole: Tensor = SumOverProcesses.apply(parts)  # type: ignore[no-untyped-call]
        sums, squares, total = whole.split([self.num_features, self.num_features, 1])
        mean = sums / total
        variance = squares / total - mean.square()
        self._update_statistics(mean, variance, total)
        normed = (away - mean.view(shape)) * (variance + self.eps).rsqrt().view(shape)
        if self.affine:
            normed = normed * self.weight.view(shape) + self.bias.view(shape)
        return normed.to(input.dtype)

    @torch.no_grad()
    def _update_statistics(self, mean: Tensor, variance: Tensor, total: Tensor) -> None:
        """As torch does: the variance that is kept is the unbiased one."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked += 1
        rate = 1 / self.num_batches_tracked if self.momentum is None else self.momentum
        self.running_mean += rate * mean  # which is counted from it
        self.running_var += rate * (variance * total / (total - 1).clamp(min=1) - self.running_var)

    def _check_input_dim(self, input: Tensor) -> None:
        pass


def share_batch_norms(module: nn.Module, device: torch.device) -> nn.Module:
    """The module with batch norms over the whole batch; its weights stay the ones they are."""
    if device.type != "cpu":
        found: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(module)
        return found
    for part in module.modules():
        if isinstance(part, _BatchNorm):
            part.__class__ = SharedBatchNorm
    return module
