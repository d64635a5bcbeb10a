"""A network that reads captions of one image at a time: VisualBERT's two tasks, words and whether it is true."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ..end_to_end.initial_weights import draw_weights
from ..end_to_end.questions import FIRST_WORD, PAD, UNKNOWN, UNSEEN
from .network import ImageSetAnswerer, ImageSetBatch, mask_absent

HIDDEN = 0.2  # share of a caption's words that are to be told
ASKED = 0.5  # share of the true captions in which words are hidden


@dataclass(frozen=True, slots=True, eq=False)
class CaptionBatch(ImageSetBatch):
    """Captions, their images and whether they are true, as `targets`; all on the device."""

    exchanged: Tensor = field(kw_only=True)  # [caption, 2] first word and the first behind, as CaptionedImages has it


@dataclass(frozen=True, slots=True, eq=False)
class CaptionScores:
    """What a network thinks of captions, and what it is to think; UNSEEN where nothing is to be thought."""

    truth: Tensor  # [caption, 2] false and true
    words: Tensor  # [caption, token, word]
    fits: Tensor  # [caption, token, 2] whether it fits: no and yes
    is_true: Tensor  # [caption] whether it is; not where words are hidden, which only true ones have
    missing: Tensor  # [caption, token] the word that is hidden
    fitting: Tensor  # [caption, token] whether a word is as the image has it, where nothing is hidden

    def count_exchanged(self) -> tuple[Tensor, Tensor]:
        """In how many foils the word that fits least is exchanged, of how many."""
        fits = self.fits[..., 1] - self.fits[..., 0]
        least = fits.masked_fill(self.fitting == UNSEEN, float("inf")).argmin(1)
        foils = (self.fitting == 0).any(1)
        return (foils & (self.fitting.gather(1, least[:, None])[:, 0] == 0)).sum(), foils.sum()


class CaptionReader(nn.Module):
    """Tells of some true captions which words are hidden; of all others whether they are true, and which words fit.

    In training captions and words are drawn at random, else it is every second caption and every fifth word.
    """

    def __init__(self, reader: ImageSetAnswerer) -> None:
        super().__init__()
        self.reader, self.config = reader, reader.config
        width = reader.size("width")
        self.tell, self.judge = nn.Linear(width, reader.config.tokens), nn.Linear(width, 2)
        self.tell.apply(draw_weights)
        self.judge.apply(draw_weights)

    def forward(self, batch: CaptionBatch) -> CaptionScores:
        words, true = self.reader.pair_words(batch), batch.taught
        is_word = words >= FIRST_WORD
        hidden = self.choose(words) & is_word & (true[:, None] == 1)
        read, seen = mask_absent(words != PAD), self.reader.see_pairs(batch)
        found, states = self.reader.encode_pairs(words.masked_fill(hidden, UNKNOWN), read, *seen, each_word=True)
        some = hidden.any(1)
        start, end = (batch.exchanged + 1).unbind(1)  # behind the token that begins a text
        place = torch.arange(words.shape[1], device=words.device)
        fitting = ((place < start[:, None]) | (place >= end[:, None])).long()
        judged = is_word & ~some[:, None] & (start > 0)[:, None]
        return CaptionScores(
            self.reader.answer_set(found, batch.present),
            self.tell(states),
            self.judge(states),
            true.masked_fill(some, UNSEEN),
            words.masked_fill(~hidden, UNSEEN),
            fitting.masked_fill(~judged, UNSEEN),
        )

    def choose(self, words: Tensor) -> Tensor:
        """[caption, token] whether it is hidden if the caption is true."""
        row, column = (torch.arange(size, device=words.device) for size in words.shape)
        if self.training:
            asked, told = torch.rand(row.shape, device=words.device) < ASKED, torch.rand_like(words, dtype=torch.float)
            return asked[:, None] & (told < HIDDEN)
        every = (row[:, None] + column) % round(1 / HIDDEN) == 0
        return every & (row[:, None] // 2 % round(1 / ASKED) == 0)
