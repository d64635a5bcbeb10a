"""The question's last state, and a head over answers."""

from torch import nn

from ..end_to_end.network import AnswerBatch, Answerer, AnswerHead, AnswerStates, QuestionEncoder
from ..end_to_end.questions import AnswererConfig


class LstmAnswerer(Answerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        hidden, dropouts = self.size("hidden"), (self.share("word_dropout"), self.share("dropout"))
        self.question = QuestionEncoder(config.tokens, self.size("words"), hidden, nn.LSTM, dropouts[0])
        self.answer = AnswerHead(hidden, self.size("answers"), len(config.answers), dropouts[1])
        self.joint_size, self.question_size = hidden, hidden

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        question = self.question(batch.words, batch.lengths)
        return self.answer.read_states(question, question)
