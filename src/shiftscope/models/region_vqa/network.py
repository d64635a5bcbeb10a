"""RegionAnswerer: a question read by a GRU, regions brought to one width; a model's own network joins the two."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..end_to_end.network import AnswerBatch, Answerer, AnswerStates, QuestionEncoder, pick_rows
from ..end_to_end.questions import AnswererConfig
from .regions import PLACE, RegionEncoder, RegionTable


class RegionAnswerer(Answerer):
    """`join` makes of words and regions the state that the classifier reads."""

    def __init__(self, config: AnswererConfig) -> None:
        nn.Module.__init__(self)
        self.config = config
        hidden, self.seen = self.size("hidden"), self.size("visual") + PLACE
        self.features = RegionEncoder(dict(config.features), self.size("visual"))
        self.question = QuestionEncoder(config.tokens, self.size("words"), hidden, nn.GRU)
        self.question_size = hidden

    def train(self, mode: bool = True) -> RegionAnswerer:
        nn.Module.train(self, mode)
        return self

    def encode_images(self, images: Tensor) -> Tensor:
        return self.features.encode_images(images)

    def see(self, batch: AnswerBatch) -> tuple[Tensor, Tensor]:
        """[question, region, visual + 5], and which regions there are; one that is nothing where there are none."""
        given: Any = batch.images
        if given is None:
            seen = torch.zeros(len(batch), 1, self.seen, device=batch.words.device)
        elif isinstance(given, RegionTable):
            seen = pick_rows(self.features(given), batch.rows)
        else:
            seen = pick_rows(self.encode_images(given) if given.dtype == torch.uint8 else given, batch.rows)
        there = seen[..., -1] > 0
        return seen, there | ~there.any(1, keepdim=True)  # attention needs something to attend to

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        seen, there = self.see(batch)
        states = self.question.scan(batch.words)
        question = self.question.pick_last(states, batch.lengths)
        scores, joint = self.join(states, question, batch, seen, there)
        return AnswerStates(scores, joint, question)

    def join(
        self, states: Tensor, question: Tensor, batch: AnswerBatch, seen: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Scores of answers, and what the last layer reads; `states` are the question's at each word."""
        raise NotImplementedError


class Perceptron(nn.Sequential):
    """A linear map and a ReLU, dropout before it."""

    def __init__(self, inside: int, outside: int, dropout: float = 0.0) -> None:
        super().__init__(nn.Dropout(dropout), nn.Linear(inside, outside), nn.ReLU())


class AnswerClassifier(nn.Module):
    """A hidden layer and the scores of answers."""

    def __init__(self, inside: int, hidden: int, answers: int, dropout: float) -> None:
        super().__init__()
        self.hidden, self.dropout = Perceptron(inside, hidden), nn.Dropout(dropout)
        self.last = nn.Linear(hidden, answers)

    def forward(self, known: Tensor) -> tuple[Tensor, Tensor]:
        joint = self.hidden(known)
        return self.last(self.dropout(joint)), joint
