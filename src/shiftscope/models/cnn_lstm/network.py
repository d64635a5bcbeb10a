"""A convolution over the image's features, pooled over all cells, joined with the question's last state."""

import torch
from torch import nn

from ..end_to_end.network import AnswerBatch, Answerer, AnswerHead, AnswerStates, QuestionEncoder, pick_rows
from ..end_to_end.questions import AnswererConfig


class CnnLstmAnswerer(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        image, hidden = self.size("image"), self.size("hidden")
        words, dropouts = self.size("words"), (self.share("word_dropout"), self.share("dropout"))
        self.question = QuestionEncoder(config.tokens, words, hidden, nn.LSTM, dropouts[0])
        self.see = nn.Sequential(nn.Conv2d(self.features.channels, image, 1), nn.BatchNorm2d(image), nn.ReLU())
        self.answer = AnswerHead(2 * image + hidden, self.size("answers"), len(config.answers), dropouts[1])
        self.joint_size, self.question_size = 2 * image + hidden, hidden

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        assert batch.images is not None
        cells = self.see(self.encode_images(batch.images).permute(0, 3, 1, 2))
        pooled = torch.cat([cells.amax((2, 3)), cells.mean((2, 3))], 1)
        question = self.question(batch.words, batch.lengths)
        return self.answer.read_states(torch.cat([pick_rows(pooled, batch.rows), question], 1), question)
