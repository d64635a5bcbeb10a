"""FiLM's network: a stem, blocks whose norms the question sets, and a head over pooled cells.

As published, with a GRU for the question, coordinates beside the channels and batch norms in the blocks. Cells are
pooled by their mean besides their maximum, since a mean can count. Norms of each question by itself were tried: they
leave what all images have in common, of which what differs between images is then a small part (docs/decisions/037).
"""

import torch
from torch import Tensor, nn

from ..end_to_end.network import AnswerBatch, Answerer, AnswerHead, AnswerStates, PlacedConv, QuestionEncoder, pick_rows
from ..end_to_end.questions import AnswererConfig


class FilmBlock(nn.Module):
    """A residual block whose normalised channels are scaled and shifted."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = PlacedConv(width, width, even=True)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width, affine=False)  # the question scales and shifts

    def forward(self, cells: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        cells = self.first(cells).relu()
        found = self.norm(self.second(cells))
        return cells + torch.addcmul(shift[:, :, None, None], found, scale[:, :, None, None]).relu()


class FilmTrunk(nn.Module):
    """All blocks, and the pooled cells of the last."""

    def __init__(self, width: int, blocks: int, pooled: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(FilmBlock(width) for _ in range(blocks))
        self.last, self.norm = PlacedConv(width, pooled, even=True), nn.BatchNorm2d(pooled)

    def forward(self, cells: Tensor, scales: Tensor, shifts: Tensor) -> Tensor:
        """[question, …] of cells [question, channel, y, x] and what [question, block, channel] does to them."""
        for k, block in enumerate(self.blocks):
            cells = block(cells, scales[:, k], shifts[:, k])
        cells = self.norm(self.last(cells)).relu()
        return torch.cat([cells.amax((2, 3)), cells.mean((2, 3))], 1)


class FilmAnswerer(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        width, pooled, hidden = self.size("width"), self.size("pooled"), self.size("hidden")
        words, dropout = self.size("words"), self.share("dropout")
        self.question = QuestionEncoder(config.tokens, words, hidden, nn.GRU, self.share("word_dropout"))
        self.drop = nn.Dropout(dropout)
        self.film = nn.Linear(hidden, 2 * self.size("blocks") * width)
        self.stem = nn.Sequential(
            *(PlacedConv(self.features.channels, width, even=True), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, width, 3, self.size("stride"), 1), nn.BatchNorm2d(width), nn.ReLU()),
        )
        self.trunk = FilmTrunk(width, self.size("blocks"), pooled)
        self.direct = bool(config.sizes.get("direct", 0))  # a model that was trained before says nothing of it
        self.joint_size, self.question_size = 2 * pooled + self.direct * hidden, hidden
        self.answer = AnswerHead(self.joint_size, self.size("answers"), len(config.answers), dropout)

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        assert batch.images is not None
        cells = pick_rows(self.stem(self.encode_images(batch.images).permute(0, 3, 1, 2)), batch.rows)
        question = self.question(batch.words, batch.lengths)
        set_by = self.film(self.drop(question)).to(cells.dtype)
        scales, shifts = set_by.view(len(batch), 2, self.size("blocks"), -1).unbind(1)
        known = self.trunk(cells, 1 + scales, shifts)
        return self.answer.read_states(torch.cat([known, question], 1) if self.direct else known, question)
