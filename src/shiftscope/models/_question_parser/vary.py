"""Vary: training questions with more in them, with less in them, or as they are."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import Config
from .described import Random
from .enrich import Enrich
from .strip import Strip


class Vary(nn.Module):
    """The shares of a config, and what enriches and strips questions of its vocabulary."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.enriched, self.stripped = config.enriched, config.stripped
        self.enrich, self.strip = Enrich(config.vocabulary), Strip(config.vocabulary)

    def forward(self, words: Tensor, tokens: Tensor, random: Random = None) -> tuple[Tensor, Tensor]:
        """Words and tokens; the chance decides for each question."""
        drawn = torch.rand(len(words), device=words.device, generator=random)
        if self.stripped:
            words, tokens = self.strip(words, tokens, drawn >= 1 - self.stripped, random)
        if self.enriched:
            words, tokens = self.enrich(words, tokens, drawn < self.enriched, random)
        return words, tokens
