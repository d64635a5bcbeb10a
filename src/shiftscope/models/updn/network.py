"""UpDn's network: the question looks at the regions once, and is multiplied with what it saw."""

from torch import Tensor, nn

from ..end_to_end.network import AnswerBatch
from ..end_to_end.questions import AnswererConfig
from ..region_vqa.network import AnswerClassifier, Perceptron, RegionAnswerer


class UpDn(RegionAnswerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        hidden, dropout = self.size("hidden"), float(config.sizes["dropout"])
        self.look_for, self.look_at = Perceptron(hidden, hidden), Perceptron(self.seen, hidden)
        self.attend = nn.Linear(hidden, 1)
        self.asked, self.found = Perceptron(hidden, hidden, dropout), Perceptron(self.seen, hidden, dropout)
        self.answer = AnswerClassifier(hidden, 2 * hidden, len(config.answers), dropout)
        self.joint_size = hidden

    def join(
        self, states: Tensor, question: Tensor, batch: AnswerBatch, seen: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        asked = self.attend(self.look_at(seen) * self.look_for(question)[:, None])[..., 0].float()
        weights = asked.masked_fill(~there, -1e9).softmax(1)
        attended = (weights[..., None] * seen).sum(1)
        found = self.found(attended)
        joint = self.asked(question) * (found if batch.images is not None else 1 + found)  # nothing to see is no zero
        return self.answer(joint), joint
