"""Linear maps of many tokens: the slope of a bias is a sum over tokens, which a kernel of our own reads once.

Torch's own sums of such tall tables took a seventh of a training step on an H200 (docs/log.md, 2026-11-20).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

# mypy: ignore-errors

TALL, WIDE, STEPS = 32, 128, 16  # rows and columns that a program reads at once, and how often
MOST_NUMBERS = 2**31 - 1  # of a table, whose places are told in 32 bits


def map_tokens(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """[…, out] a linear map of [token, in] or [row, token, in]; all three of one type of numbers."""
    found: Tensor = _Map.apply(states, weight, bias)
    return found


def sum_columns(table: Tensor) -> Tensor:
    """[column] in single precision, of [row, column]; added up in an order that differs from run to run."""
    rows, columns = table.shape
    sums = torch.zeros(columns, dtype=torch.float32, device=table.device)
    programs = triton.cdiv(columns, WIDE), triton.cdiv(rows, TALL * STEPS)
    _sum_columns[programs](table.contiguous(), sums, rows, columns, TALL, WIDE, STEPS)
    return sums


@triton.jit
def _sum_columns(table, sums, rows, columns, tall: tl.constexpr, wide: tl.constexpr, steps: tl.constexpr):
    column, first = tl.program_id(0) * wide + tl.arange(0, wide), tl.program_id(1) * tall * steps
    total = tl.zeros((wide,), tl.float32)
    for step in range(steps):
        row = first + step * tall + tl.arange(0, tall)
        there = (row < rows)[:, None] & (column < columns)[None, :]
        total += tl.sum(tl.load(table + row[:, None] * columns + column[None, :], there, 0.0).to(tl.float32), 0)
    tl.atomic_add(sums + column, total, column < columns)


class _Map(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(states, weight)
        return F.linear(states, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor | None, ...]:
        states, weight = ctx.saved_tensors
        flat, (seen, maps, shifts) = slopes.flatten(0, -2), ctx.needs_input_grad
        of_states = (flat @ weight).view_as(states) if seen else None
        of_weight = flat.T @ states.flatten(0, -2) if maps else None
        return of_states, of_weight, sum_columns(flat).to(slopes.dtype) if shifts else None
