"""Attention among few tokens on a GPU: one kernel forth and one back, a program for each row and head.

A question and an image are some forty tokens, and torch's kernels are made for thousands. All that a row and a head
need lies in registers, so weights are computed again on the way back, and nothing is kept but what was given.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

# mypy: ignore-errors

LONGEST = 64  # tokens that a program holds
MOST_NUMBERS = 2**31 - 1  # of a table, whose places are told in 32 bits
LEAST = 16  # rows and columns that tensor cores multiply
HEADS = (16, 32, 64)  # widths of a head that it is made for


def fits(width: int, *places: int) -> bool:
    """Whether a head is of such a width, and tokens are few enough."""
    return width in HEADS and max(places) <= LONGEST


def attend_short(asked: Tensor, known: Tensor | None, absent: Tensor, heads: int, drop: float) -> Tensor:
    """[row, asking, width] what is found, of queries [row, asking, width] and [row, place, 2 · width] keys and values.

    With `known` None all three stand in `asked`, [row, place, 3 · width]. To the scores of a row's places [row, place]
    of `absent` are added, and of the weights a share is dropped.
    """
    found: Tensor = _ShortAttention.apply(asked, known, absent.contiguous(), heads, drop)
    return found


@triton.jit
def _weigh(q, k, absent, row, i, j, there, seeds, scale, drop, tall, wide, drops: tl.constexpr):
    """Weights, and by what dropping multiplies each of them."""
    near = tl.load(absent + row * there + j, j < there, -float("inf"))
    scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale + near[None, :]
    raised = tl.exp(scores - tl.max(scores, 1)[:, None])
    weights = raised / tl.sum(raised, 1)[:, None]
    kept = tl.full(weights.shape, 1.0, tl.float32)
    if drops:
        program = row * tl.num_programs(1) + tl.program_id(1)
        drawn = tl.rand(tl.load(seeds), (program * tall + i[:, None]) * wide + j[None, :])
        kept = tl.where(drawn < drop, 0.0, 1 / (1 - drop))
    return weights, kept


@triton.jit
def _go_forth(
    asked, keys, values, absent, seeds, found, asked_step, known_step, asking, there, scale, drop,
    width: tl.constexpr, tall: tl.constexpr, wide: tl.constexpr, drops: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    i, j, d = tl.arange(0, tall), tl.arange(0, wide), head * width + tl.arange(0, width)
    some, near = (i < asking)[:, None], (j < there)[:, None]
    places = (row * there + j)[:, None] * known_step + d[None, :]
    q = tl.load(asked + (row * asking + i)[:, None] * asked_step + d[None, :], some, 0.0)
    k, v = tl.load(keys + places, near, 0.0), tl.load(values + places, near, 0.0)
    weights, kept = _weigh(q, k, absent, row, i, j, there, seeds, scale, drop, tall, wide, drops)
    made = tl.dot((weights * kept).to(v.dtype), v, input_precision="ieee")
    out = (row * asking + i)[:, None] * (tl.num_programs(1) * width) + d[None, :]
    tl.store(found + out, made.to(found.dtype.element_ty), some)


@triton.jit
def _go_back(
    asked, keys, values, absent, seeds, slopes, of_asked, of_keys, of_values, asked_step, known_step, asking, there,
    scale, drop, width: tl.constexpr, tall: tl.constexpr, wide: tl.constexpr, drops: tl.constexpr,
):  # fmt: skip
    row, head = tl.program_id(0), tl.program_id(1)
    i, j, d = tl.arange(0, tall), tl.arange(0, wide), head * width + tl.arange(0, width)
    some, near = (i < asking)[:, None], (j < there)[:, None]
    asks = (row * asking + i)[:, None] * asked_step + d[None, :]
    places = (row * there + j)[:, None] * known_step + d[None, :]
    q = tl.load(asked + asks, some, 0.0)
    k, v = tl.load(keys + places, near, 0.0), tl.load(values + places, near, 0.0)
    out = (row * asking + i)[:, None] * (tl.num_programs(1) * width) + d[None, :]
    slope = tl.load(slopes + out, some, 0.0)
    weights, kept = _weigh(q, k, absent, row, i, j, there, seeds, scale, drop, tall, wide, drops)
    of_v = tl.dot(tl.trans((weights * kept).to(slope.dtype)), slope, input_precision="ieee")
    of_weights = tl.dot(slope, tl.trans(v), input_precision="ieee") * kept
    of_scores = weights * (of_weights - tl.sum(of_weights * weights, 1)[:, None]) * scale
    of_scores = of_scores.to(q.dtype)
    of_q = tl.dot(of_scores, k, input_precision="ieee")
    of_k = tl.dot(tl.trans(of_scores), q, input_precision="ieee")
    tl.store(of_asked + asks, of_q.to(of_asked.dtype.element_ty), some)
    tl.store(of_keys + places, of_k.to(of_keys.dtype.element_ty), near)
    tl.store(of_values + places, of_v.to(of_values.dtype.element_ty), near)


class _ShortAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, asked: Tensor, known: Tensor | None, absent: Tensor, heads: int, drop: float) -> Tensor:
        asked, known = asked.contiguous(), None if known is None else known.contiguous()
        width = asked.shape[-1] // (3 if known is None else 1)
        seeds = torch.randint(2**31 - 1, (1,), device=asked.device) if drop else absent
        found = asked.new_empty(*asked.shape[:2], width)
        ctx.save_for_backward(asked, known, absent, seeds)
        ctx.heads, ctx.drop = heads, drop
        _go_forth[(len(asked), heads)](
            asked, *_split(asked, known, width), absent, seeds, found, *_measure(asked, known, absent, heads, drop)
        )
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor | None, ...]:
        asked, known, absent, seeds = ctx.saved_tensors
        slopes = slopes.contiguous()
        width, of_asked = slopes.shape[-1], torch.empty_like(asked)
        of_known = None if known is None else torch.empty_like(known)
        _go_back[(len(asked), ctx.heads)](
            *(asked, *_split(asked, known, width), absent, seeds, slopes, of_asked),
            *_split(of_asked, of_known, width),
            *_measure(asked, known, absent, ctx.heads, ctx.drop),
        )
        return of_asked, of_known, None, None, None


def _split(asked: Tensor, known: Tensor | None, width: int) -> tuple[Tensor, Tensor]:
    """Where keys and values begin."""
    if known is None:
        return asked[..., width:], asked[..., 2 * width :]
    return known, known[..., width:]


def _measure(asked: Tensor, known: Tensor | None, absent: Tensor, heads: int, drop: float) -> tuple[Any, ...]:
    """What both kernels are told of their tables: steps, lengths, scale and share; then what they are compiled for."""
    table = asked if known is None else known
    asking, there = asked.shape[1], absent.shape[1]
    width = asked.shape[-1] // (3 if known is None else 1) // heads
    tall, wide = (max(LEAST, triton.next_power_of_2(n)) for n in (asking, there))
    return asked.shape[-1], table.shape[-1], asking, there, width**-0.5, drop, width, tall, wide, drop > 0
