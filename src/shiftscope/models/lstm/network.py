"""The question's last state, and a head over answers."""

from torch import Tensor, nn

from ..end_to_end.network import AnswerBatch, Answerer, AnswerHead, QuestionEncoder
from ..end_to_end.questions import AnswererConfig


class LstmAnswerer(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        self.question = QuestionEncoder(config.tokens, self.size("words"), self.size("hidden"), nn.LSTM)
        self.answer = AnswerHead(self.size("hidden"), self.size("answers"), len(config.answers))

    def forward(self, batch: AnswerBatch) -> Tensor:
        found: Tensor = self.answer(self.question(batch.words, batch.lengths))
        return found
