"""What training lowers: the cross entropy of each token, given the true ones before it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from .network import QuestionParser
from .vocabulary import PAD, Encoded


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Questions and their programs, BEGIN first and PAD behind."""

    words: Tensor  # [question, word] int64
    tokens: Tensor  # [question, token] int64

    @classmethod
    def of(cls, encoded: Encoded, device: str | torch.device = "cpu") -> Batch:
        """Everything as one batch, from which `take` makes smaller ones; lies on the device."""
        words, tokens = (torch.from_numpy(t).to(device) for t in (encoded.words, encoded.tokens))
        return cls(words, tokens)

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: Tensor) -> Batch:
        """Some of the questions, without columns that are empty for all of them."""
        return Batch(_trimmed(self.words[rows]), _trimmed(self.tokens[rows]))


def _trimmed(table: Tensor) -> Tensor:
    return table[:, : int((table != PAD).sum(1).max())].long()


def loss(module: QuestionParser, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
    """The mean over tokens, and the share of tokens whose likeliest value is right."""
    words, tokens = batch.words, batch.tokens
    if module.training:
        words, tokens = map(_trimmed, module.enrich(words, tokens, module.config.enriched))
    scores = module(words, tokens[:, :-1])
    true = tokens[:, 1:]
    mean = functional.cross_entropy(scores.flatten(0, 1).float(), true.flatten(), ignore_index=PAD)
    counted = true != PAD
    right = ((scores.detach().argmax(-1) == true) & counted).sum() / counted.sum()
    return mean, {"token accuracy": right}
