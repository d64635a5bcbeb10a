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
    def backward(context: Any, slope: Tensor) -> Tensor:
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
        wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
        count = wide.new_tensor([wide.numel() / wide.shape[1]], dtype=torch.float64)
        sums = sum_over_processes(torch.cat([wide.sum(dims, dtype=torch.float64), count]))
        total = sums[-1]
        mean = sums[:-1] / total
        away = wide - mean.to(wide.dtype).view(shape)
        variance = sum_over_processes(away.square().sum(dims, dtype=torch.float64)) / total
        self._update_statistics(mean.to(wide.dtype), (variance * total / (total - 1).clamp(min=1)).to(wide.dtype))
        normed = away * (variance + self.eps).rsqrt().to(wide.dtype).view(shape)
        if self.affine:
            normed = normed * self.weight.view(shape) + self.bias.view(shape)
        return normed.to(input.dtype)

    @torch.no_grad()
    def _update_statistics(self, mean: Tensor, unbiased: Tensor) -> None:
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked += 1
        rate = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean, rate)
        self.running_var.lerp_(unbiased, rate)

    def _check_input_dim(self, input: Tensor) -> None:
        pass


def sum_over_processes(part: Tensor) -> Tensor:
    whole: Tensor = SumOverProcesses.apply(part)  # type: ignore[no-untyped-call]
    return whole


def share_batch_norms(module: nn.Module, device: torch.device) -> nn.Module:
    """The module with batch norms over the whole batch; its weights stay the ones they are."""
    if device.type != "cpu":
        found: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(module)  # type: ignore[no-untyped-call]
        return found
    for part in module.modules():
        if isinstance(part, _BatchNorm):
            part.__class__ = SharedBatchNorm
    return module
