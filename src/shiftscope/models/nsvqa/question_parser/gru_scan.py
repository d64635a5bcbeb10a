"""A GRU on a GPU, step by step: one matrix product and one kernel a step, for several ways of reading at once.

cuDNN's kernels for float32 take two to three times as long on tables of a thousand questions, and learn one way after
the other. Where steps are captured (`train/captured_steps.py`) launching so many kernels costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor, nn
from torch.nn import functional

# mypy: ignore-errors

BLOCK = 512


GRU_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def scan_layer(gru: nn.GRU, layer: int, given: Sequence[Tensor], start: Tensor) -> Sequence[Tensor]:
    """A layer's states [question, step, width] for tables given, forth and, where there are two, back.

    The state to start from is [way, question, width].
    """
    ways = ("", "_reverse")[: len(given)]
    weights = [[getattr(gru, f"{kind}_l{layer}{way}") for kind in GRU_WEIGHTS] for way in ways]
    # Steps first before the projection: what it gives is three states wide and would be copied to be turned round.
    turned = [table.transpose(0, 1).contiguous() for table in given]
    sums = [functional.linear(table, own[0], own[2]) for table, own in zip(turned, weights, strict=True)]
    inner, bias = (torch.stack([own[k] for own in weights]) for k in (1, 3))
    inputs = sums[0][:, None] if len(sums) == 1 else torch.stack(sums, 1)
    states = scan_gru(inputs, inner, bias, start)
    return states.permute(1, 2, 0, 3).unbind()


def scan_gru(inputs: Tensor, weight: Tensor, bias: Tensor, start: Tensor) -> Tensor:
    """States [step, way, question, width] after each step.

    Inputs are projected already, [step, way, question, 3 · width]; the recurrent weight is [way, 3 · width, width], its
    bias [way, 3 · width], the state to start from [way, question, width].
    """
    found: Tensor = _GruScan.apply(inputs.contiguous(), weight.transpose(1, 2), bias, start.contiguous())
    return found


@triton.jit
def _read_gates(inputs, gates, states, at, inside, width):
    base = at // width * 3 * width + at % width
    reset = tl.sigmoid(tl.load(inputs + base, inside) + tl.load(gates + base, inside))
    update = tl.sigmoid(tl.load(inputs + base + width, inside) + tl.load(gates + base + width, inside))
    told = tl.load(gates + base + 2 * width, inside)
    new = 2 * tl.sigmoid(2 * (tl.load(inputs + base + 2 * width, inside) + reset * told)) - 1  # tanh
    return base, reset, update, told, new, tl.load(states + at, inside)


@triton.jit
def _advance(inputs, gates, states, found, size, width: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < size
    _, _, update, _, new, state = _read_gates(inputs, gates, states, at, inside, width)
    tl.store(found + at, new + update * (state - new), inside)


@triton.jit
def _go_back(
    inputs, gates, states, slopes, carried, of_inputs, of_gates, kept, size, width: tl.constexpr, block: tl.constexpr
):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < size
    base, reset, update, told, new, state = _read_gates(inputs, gates, states, at, inside, width)
    slope = tl.load(slopes + at, inside) + tl.load(carried + at, inside)
    of_new = slope * (1 - update) * (1 - new * new)
    of_update = slope * (state - new) * update * (1 - update)
    of_reset = of_new * told * reset * (1 - reset)
    tl.store(of_inputs + base, of_reset, inside)
    tl.store(of_inputs + base + width, of_update, inside)
    tl.store(of_inputs + base + 2 * width, of_new, inside)
    tl.store(of_gates + base, of_reset, inside)
    tl.store(of_gates + base + width, of_update, inside)
    tl.store(of_gates + base + 2 * width, of_new * reset, inside)
    tl.store(kept + at, slope * update, inside)


class _GruScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor, start: Tensor) -> Tensor:
        gates = torch.empty_like(inputs)  # what the state adds to them
        states = inputs.new_empty(len(inputs), *start.shape)
        size, state = start.numel(), start
        wide = bias[:, None].expand_as(gates[0])
        for step in range(len(inputs)):
            torch.baddbmm(wide, state, weight, out=gates[step])
            _advance[(-(-size // BLOCK),)](inputs[step], gates[step], state, states[step], size, start.shape[-1], BLOCK)
            state = states[step]
        ctx.save_for_backward(inputs, gates, states, weight, start)
        return states

    @staticmethod
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor | None, ...]:
        inputs, gates, states, weight, start = ctx.saved_tensors
        slopes = slopes.contiguous()
        of_inputs, of_gates = torch.empty_like(inputs), torch.empty_like(gates)
        size, way_back = start.numel(), weight.transpose(1, 2)
        carried, kept = torch.zeros_like(start), torch.empty_like(start)
        for step in reversed(range(len(inputs))):
            state = states[step - 1] if step else start
            tables = (inputs[step], gates[step], state, slopes[step], carried, of_inputs[step], of_gates[step], kept)
            _go_back[(-(-size // BLOCK),)](*tables, size, start.shape[-1], BLOCK)
            carried = torch.baddbmm(kept, of_gates[step], way_back)
        before = torch.cat([start[None], states[:-1]])  # [step, way, question, width]
        ways = before.transpose(0, 1).flatten(1, 2), of_gates.transpose(0, 1).flatten(1, 2)
        return of_inputs, torch.bmm(ways[0].transpose(1, 2), ways[1]), of_gates.sum((0, 2)), carried
