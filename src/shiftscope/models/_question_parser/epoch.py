"""Epoch: the batches that a training shows once, with more or less in them than the questions have.

A GPU takes as long to vary a thousand questions as to vary many thousands, so it varies some batches
together. What a batch holds does not depend on those before it: a training can begin with any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from .loss import Batch
from .recipe import Rows
from .vary import Vary

TOGETHER = 32  # batches that a GPU varies at once; a processor gains nothing by it
SEEDS = 1 << 62


class Epoch:
    """Some rows of a table of questions for each batch, all of them as many."""

    def __init__(self, table: Batch, rows: Sequence[Rows], vary: Vary, random: np.random.Generator) -> None:
        self.table, self.rows, self.vary = table, rows, vary
        self._seeds = random.integers(SEEDS, size=len(rows)).tolist()
        self._number = {int(some[0]): k for k, some in enumerate(rows)}  # a row is in one batch at most
        self._together = 1 if table.words.device.type == "cpu" else TOGETHER
        self._start, self._made = 0, list[Batch]()

    def batch(self, rows: Tensor) -> Batch | None:
        """The batch that has these rows, varied; None if none has."""
        k = self._number.get(int(rows[0]))
        if k is None or not np.array_equal(self.rows[k], rows.numpy()):
            return None
        start = k - k % self._together
        if start != self._start or not self._made:
            self._start, self._made = start, self._varied(start)
        return self._made[k - start]

    def _varied(self, start: int) -> list[Batch]:
        some = self.rows[start : start + self._together]
        random = torch.Generator(self.table.words.device).manual_seed(self._seeds[start])
        questions = self.table.take(torch.from_numpy(np.concatenate(some)))
        return questions.varied(self.vary, random).split(len(some[0]))
