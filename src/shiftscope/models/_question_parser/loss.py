"""What training lowers: the cross entropy of each token, given the true ones before it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from .described import Random
from .network import QuestionParser
from .vary import Vary
from .vocabulary import PAD, Encoded


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Questions and their programs, BEGIN first and PAD behind."""

    words: Tensor  # [question, word] int64
    tokens: Tensor  # [question, token] int64
    lengths: Tensor  # [question, 2] of words and tokens; on the host, which would else wait for the device

    @classmethod
    def of(cls, encoded: Encoded, device: str | torch.device = "cpu") -> Batch:
        """Everything as one batch, from which `take` makes smaller ones; lies on the device."""
        both = [torch.from_numpy(t) for t in (encoded.words, encoded.tokens)]
        lengths = torch.stack([(t != PAD).sum(1) for t in both], 1)
        words, tokens = (t.to(device) for t in both)
        return cls(words, tokens, lengths)

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: Tensor) -> Batch:
        """Some of the questions, by numbers on the host; without columns that are empty for all of them."""
        here = rows.to(self.words.device, non_blocking=True)
        return Batch(self.words[here], self.tokens[here], self.lengths[rows]).trimmed()

    def trimmed(self) -> Batch:
        words, tokens = self.lengths.amax(0).tolist()
        return Batch(self.words[:, :words].long(), self.tokens[:, :tokens].long(), self.lengths)

    def split(self, size: int) -> list[Batch]:
        """Batches of so many questions each, one after another."""
        tables = (self.words, self.tokens, self.lengths)
        parts = zip(*(torch.split(t, size) for t in tables), strict=True)
        return [Batch(*some).trimmed() for some in parts]

    def varied(self, vary: Vary, random: Random = None) -> Batch:
        """The same questions, some with more in them and some with less."""
        words, tokens = vary(self.words, self.tokens, random)
        lengths = torch.stack([(t != PAD).sum(1) for t in (words, tokens)], 1).cpu()
        return Batch(words, tokens, lengths).trimmed()


def loss(module: QuestionParser, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
    """The mean over tokens, and the share of tokens whose likeliest value is right."""
    scores = module(batch.words, batch.tokens[:, :-1], batch.lengths[:, 0])
    true = batch.tokens[:, 1:]
    mean = functional.cross_entropy(scores.flatten(0, 1).float(), true.flatten(), ignore_index=PAD)
    counted = true != PAD
    right = ((scores.detach().argmax(-1) == true) & counted).sum() / counted.sum()
    return mean, {"token accuracy": right}
