"""Packing: texts of different lengths as the one run of words that a recurrent network reads.

The same as torch's own packing, which takes a kernel for each length, and many more to learn through it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


class Packing(NamedTuple):
    """Where each word of the run stands in a table of texts."""

    shape: torch.Size  # [text, word]
    places: Tensor  # [packed word] in the table, counted row by row
    sizes: Tensor  # [word] how many texts are so long; on the host

    @classmethod
    def of(cls, seen: Tensor, lengths: Tensor | None = None) -> Packing:
        """From where there are words, [text, word]. Lengths on the host spare it a wait for the device."""
        many, wide = seen.shape
        counts = seen.sum(1)
        lengths = counts.cpu() if lengths is None else lengths
        sizes = many - lengths.bincount().cumsum(0)[:-1]
        order = counts.argsort(descending=True, stable=True)
        held = seen[order].T.flatten()
        place = (order * wide + torch.arange(wide, device=seen.device)[:, None]).flatten()
        # What is not held goes to one more slot, the first, which is then left out.
        slots = place.new_empty(int(sizes.sum()) + 1)
        return cls(seen.shape, slots.scatter_(0, held.cumsum(0) * held, place)[1:], sizes)

    def pack(self, table: Tensor) -> PackedSequence:
        """[text, word, width] as one run."""
        return PackedSequence(table.flatten(0, 1).index_select(0, self.places), self.sizes)

    def unpack(self, run: PackedSequence) -> Tensor:
        """The run as [text, word, width], 0 where there are no words."""
        empty = run.data.new_zeros(self.shape.numel(), run.data.shape[-1])
        return empty.index_copy(0, self.places, run.data).view(*self.shape, -1)
