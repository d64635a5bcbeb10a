"""A network that reads captions of one image at a time: VisualBERT's two tasks, words and whether it is true."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..end_to_end.initial_weights import draw_weights
from ..end_to_end.questions import FIRST_WORD, PAD, UNKNOWN, UNSEEN
from .network import ImageSetAnswerer, ImageSetBatch, mask_absent

HIDDEN = 0.2  # share of a caption's words that are to be told
ASKED = 0.5  # share of the true captions in which words are hidden


@dataclass(frozen=True, slots=True, eq=False)
class CaptionScores:
    """What a network thinks of captions, and what it is to think."""

    truth: Tensor  # [caption, 2] false and true
    words: Tensor  # [caption, token, word]
    is_true: Tensor  # [caption] whether it is; UNSEEN where words are hidden, which only true ones have
    missing: Tensor  # [caption, token] the word that is hidden, UNSEEN where none is


class CaptionReader(nn.Module):
    """Tells of some true captions which words are hidden, and of all other captions whether they are true.

    In training captions and words are drawn at random, else it is every second caption and every fifth word.
    """

    def __init__(self, reader: ImageSetAnswerer) -> None:
        super().__init__()
        self.reader, self.config = reader, reader.config
        self.tell = nn.Linear(reader.size("width"), reader.config.tokens)
        draw_weights(self.tell)

    def forward(self, batch: ImageSetBatch) -> CaptionScores:
        words = self.reader.pair_words(batch)
        hidden = self.choose(words) & (words >= FIRST_WORD) & (batch.taught[:, None] == 1)
        read, seen = mask_absent(words != PAD), self.reader.see_pairs(batch)
        shown = words.masked_fill(hidden, UNKNOWN)
        found, states = self.reader.encode_pairs(shown, read, *seen, each_word=True)
        truth, words = self.reader.answer_set(found, batch.present), words.masked_fill(~hidden, UNSEEN)
        return CaptionScores(truth, self.tell(states), batch.taught.masked_fill(hidden.any(1), UNSEEN), words)

    def choose(self, words: Tensor) -> Tensor:
        """[caption, token] whether it is hidden if the caption is true."""
        row, column = (torch.arange(size, device=words.device) for size in words.shape)
        if self.training:
            asked, told = torch.rand(row.shape, device=words.device) < ASKED, torch.rand_like(words, dtype=torch.float)
            return asked[:, None] & (told < HIDDEN)
        every = (row[:, None] + column) % round(1 / HIDDEN) == 0
        return every & (row[:, None] // 2 % round(1 / ASKED) == 0)
