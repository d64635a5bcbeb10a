"""A network that reads captions of one image at a time: which words are hidden, what is true, what is spoken of."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..end_to_end.initial_weights import draw_weights
from ..end_to_end.questions import FIRST_WORD, UNKNOWN, UNSEEN
from .network import ImageSetAnswerer, ImageSetBatch, read_words

HIDDEN = 0.2  # share of a caption's words that are to be told
ASKED = 0.5  # share of the true captions in which words are hidden


@dataclass(frozen=True, slots=True, eq=False)
class CaptionBatch(ImageSetBatch):
    """Captions, their images and whether they are true, as `targets`; all on the device."""

    things: Tensor = field(kw_only=True)  # [caption, word] what its phrase is true of, as CaptionedImages has it
    shown: Tensor = field(kw_only=True)  # [caption, region] number of the thing that it shows, or UNSEEN


@dataclass(frozen=True, slots=True, eq=False)
class CaptionScores:
    """What a network thinks of captions, and what it is to think; UNSEEN where nothing is to be thought."""

    truth: Tensor  # [caption, 2] false and true
    words: Tensor  # [caption, token, word]
    points: Tensor  # [caption, token, region + 1] what a word speaks of; the last: nothing that is there
    is_true: Tensor  # [caption] whether it is; not where words are hidden, which only true ones have
    missing: Tensor  # [caption, token] the word that is hidden
    meant: Tensor  # [caption, token, region + 1] what it speaks of, in equal shares; none where nobody knows

    def count_found(self) -> tuple[Tensor, Tensor]:
        """How many words find one of the regions that they speak of, or that there is none, of how many."""
        best = self.points.argmax(-1, keepdim=True)
        return (self.meant.gather(-1, best) > 0).sum(), (self.meant > 0).any(-1).sum()


class CaptionReader(nn.Module):
    """Tells of some true captions which words are hidden; of all others whether they are true, and of what.

    A word points at the regions that its phrase is true of, or nowhere. In training captions and words are drawn at
    random, else it is every second caption and every fifth word.
    """

    def __init__(self, reader: ImageSetAnswerer) -> None:
        super().__init__()
        self.reader, self.config = reader, reader.config
        width = reader.size("width")
        self.tell = nn.Linear(width, reader.config.tokens)
        self.point, self.meet, self.nowhere = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1)
        for part in (self.tell, self.point, self.meet, self.nowhere):
            part.apply(draw_weights)

    def forward(self, batch: CaptionBatch) -> CaptionScores:
        words, true = read_words(batch), batch.taught
        hidden = self.choose(words) & (words >= FIRST_WORD) & (true[:, None] == 1)
        some, (seen, there) = hidden.any(1), self.reader.see_pairs(batch)
        found = self.reader.encode_pairs(words.masked_fill(hidden, UNKNOWN), seen, there, each=True)
        assert found.regions is not None
        points = self.point(found.words) @ self.meet(found.regions).transpose(1, 2) / self.reader.size("width") ** 0.5
        return CaptionScores(
            self.reader.answer_set(found.whole, batch.present),
            self.tell(found.words),
            torch.cat([points + there[:, 0], self.nowhere(found.words)], -1),
            true.masked_fill(some, UNSEEN),
            words.masked_fill(~hidden, UNSEEN),
            find_meant(batch, words.shape[1], points.shape[2]) * ~some[:, None, None],
        )

    def choose(self, words: Tensor) -> Tensor:
        """[caption, token] whether it is hidden if the caption is true."""
        row, column = (torch.arange(size, device=words.device) for size in words.shape)
        if self.training:
            asked, told = torch.rand(row.shape, device=words.device) < ASKED, torch.rand_like(words, dtype=torch.float)
            return asked[:, None] & (told < HIDDEN)
        every = (row[:, None] + column) % round(1 / HIDDEN) == 0
        return every & (row[:, None] // 2 % round(1 / ASKED) == 0)


def find_meant(batch: CaptionBatch, tokens: int, regions: int) -> Tensor:
    """[caption, token, region + 1] what each of so many tokens speaks of, in equal shares.

    All zeros where it is no word of a phrase, or nothing that its phrase is true of was found.
    """
    things = F.pad(batch.things, (1, 0), value=UNSEEN)[:, :tokens, None]  # behind the token that begins a text
    shown = F.pad(batch.shown, (0, regions - batch.shown.shape[1]), value=UNSEEN)[:, None]
    members = (things >= 0) & (shown >= 0) & ((things >> shown.clamp(min=0)) & 1 > 0)
    meant = torch.cat([members, things == 0], -1).float()
    return meant / meant.sum(-1, keepdim=True).clamp(min=1)
