"""The question's last state, and a head over answers."""

from torch import nn

from ..end_to_end.network import AnswerBatch, Answerer, AnswerHead, AnswerStates, QuestionEncoder
from ..end_to_end.questions import AnswererConfig


class LstmAnswerer(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        self.question = QuestionEncoder(config.tokens, self.size("words"), self.size("hidden"), nn.LSTM)
        self.answer = AnswerHead(self.size("hidden"), self.size("answers"), len(config.answers))
        self.joint_size, self.question_size = self.size("answers"), self.size("hidden")

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        question = self.question(batch.words, batch.lengths)
        return self.answer.read_states(question, question)
