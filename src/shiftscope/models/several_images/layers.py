"""Transformer layers of transformers, run as a GPU likes: few kernels, and these over the tokens of all rows at once.

Attention is one kernel, and so is what follows each half of a layer: dropout, sum and norm, compiled for any number of
tokens. BERT's layers and LXMERT's have the same parts by the same names. A norm's numbers are as wide as those of the
product before it: under autocast half as wide as what torch's own norm gives, and half as much to read and write.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...c_compiler import find_compiler

ABSENT = -10_000.0  # added to the attention to what is not there
TENSOR_CORES = 8  # the first generation of GPUs that multiplies bfloat16


class LayerRunner(nn.Module):
    """Runs layers that have states [row, token, width]; `absent` is as `mask_absent` has it."""

    def run_layer(self, layer: Any, asking: Tensor, states: Tensor, absent: Tensor) -> Tensor:
        """What a layer makes of those that ask, which may be the states themselves."""
        parts = layer.attention
        return self.feed(layer, self.attend(parts.self, parts.output, asking, states, absent))

    def attend(self, attention: Any, output: Any, asking: Tensor, states: Tensor, absent: Tensor) -> Tensor:
        """The first half of a layer: those that ask attend to the states."""
        query, *others = attention.query, attention.key, attention.value
        if asking is states:
            asked, known = apply_together([query, *others], states), None
        else:
            asked, known = apply_together([query], asking), apply_together(others, states)
        heads, drop = attention.num_attention_heads, attention.dropout.p if attention.training else 0.0
        return self.finish(output, attend_to(asked, known, absent, heads, drop), asking)

    def feed(self, layer: Any, states: Tensor) -> Tensor:
        """The second half of a layer: each token by itself."""
        between = layer.intermediate
        found = between.intermediate_act_fn(apply_together([between.dense], states))
        return self.finish(layer.output, found, states)

    def finish(self, output: Any, found: Tensor, before: Tensor) -> Tensor:
        """What was found, mapped, and settled with what was there before."""
        made = apply_together([output.dense], found)
        flat = made.flatten(0, 1), before.flatten(0, 1).to(made.dtype)
        settled: Tensor = self.settle(output.dropout, output.LayerNorm, *flat)
        return settled.reshape(made.shape)

    @staticmethod
    def settle(dropout: nn.Dropout, norm: nn.LayerNorm, made: Tensor, before: Tensor) -> Tensor:
        """What is compiled: [token, width] of all rows summed and normed, and no module of a model's own."""
        whole: Tensor = norm(dropout(made) + before)
        return whole.to(made.dtype)


def apply_together(maps: Sequence[nn.Linear], states: Tensor) -> Tensor:
    """What linear maps give, side by side, in one product."""
    first, *others = maps
    weight = torch.cat([one.weight for one in maps]) if others else first.weight
    bias = torch.cat([one.bias for one in maps]) if others else first.bias
    if states.is_cuda and torch.is_grad_enabled() and runs_triton(states.device):
        narrow = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled("cuda") else states.dtype
        from .column_sums import MOST_NUMBERS, map_tokens

        if narrow == torch.bfloat16 and states.numel() // states.shape[-1] * len(weight) <= MOST_NUMBERS:
            return map_tokens(states.to(narrow), weight.to(narrow), bias.to(narrow))
    return F.linear(states, weight, bias)


def attend_to(asked: Tensor, known: Tensor | None, absent: Tensor, heads: int, drop: float) -> Tensor:
    """[row, asking, width] of queries, and keys beside values; or of all three side by side."""
    width = asked.shape[-1] // (3 if known is None else 1)
    # It is for training, and where a GPU cannot run it torch's own is slower and the same.
    if asked.is_cuda and asked.dtype == torch.bfloat16 and torch.is_grad_enabled() and runs_triton(asked.device):
        from .short_attention import MOST_NUMBERS, attend_short, fits

        largest = max(table.numel() for table in (asked, known) if table is not None)
        if largest <= MOST_NUMBERS and fits(width // heads, asked.shape[1], absent.shape[-1]):
            return attend_short(asked, known, absent[:, 0, 0], heads, drop)
    tables = asked.chunk(3, -1) if known is None else (asked, *known.chunk(2, -1))
    query, keys, values = (table.reshape(*table.shape[:2], heads, -1).transpose(1, 2) for table in tables)
    found = F.scaled_dot_product_attention(query, keys, values, absent.to(asked.dtype), drop)
    return found.transpose(1, 2).flatten(2)


@cache
def runs_triton(device: torch.device) -> bool:
    """Whether kernels of our own can be built here, and multiply bfloat16."""
    built = find_spec("triton") is not None and find_compiler() is not None
    return built and torch.cuda.get_device_capability(device)[0] >= TENSOR_CORES


def mask_absent(there: Tensor) -> Tensor:
    """[row, 1, 1, place] what is added to attention scores, as layers of transformers take it."""
    return (~there).float()[:, None, None] * ABSENT
