"""How well a parser does: programs that are exactly right, and tokens that are right after true ones."""

from __future__ import annotations

import torch

from .decode import greedy
from .loss import Batch
from .network import QuestionParser
from .vocabulary import PAD

Counts = dict[str, tuple[int, int]]  # name -> right, of


@torch.inference_mode()
def measure(module: QuestionParser, batch: Batch) -> Counts:
    """Exact: every token is right, which means that the canonical programs are equal."""
    module.eval()
    true = batch.tokens[:, 1:]
    wide = max(true.shape[1], module.config.longest_program)
    made, meant = (
        torch.nn.functional.pad(t, (0, wide - t.shape[1]), value=PAD)
        for t in (greedy(module, batch.words), true)
    )
    exact = int((made == meant).all(1).sum())
    counted = true != PAD
    right = (module(batch.words, batch.tokens[:, :-1], batch.lengths[:, 0]).argmax(-1) == true) & counted
    return {"exact": (exact, len(true)), "token": (int(right.sum()), int(counted.sum()))}
