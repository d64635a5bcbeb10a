"""BAN's network: bilinear attention between all words and all regions, several glimpses, each added to the words."""

import torch
from torch import Tensor, nn

from ..end_to_end.network import AnswerBatch
from ..end_to_end.questions import PAD, AnswererConfig
from ..region_vqa.network import AnswerClassifier, Perceptron, RegionAnswerer

FACTOR = 3  # how much wider the attention's space is than the words'


class Ban(RegionAnswerer):
    def __init__(self, config: AnswererConfig) -> None:
        super().__init__(config)
        hidden, glimpses, dropout = self.size("hidden"), self.size("glimpses"), float(config.sizes["dropout"])
        wide = FACTOR * hidden
        self.word_keys, self.region_keys = Perceptron(hidden, wide), Perceptron(self.seen, wide)
        self.glimpses = nn.Parameter(torch.randn(glimpses, wide) / wide**0.5)
        self.regions = nn.ModuleList(Perceptron(self.seen, hidden, dropout) for _ in range(glimpses))
        self.words = nn.ModuleList(Perceptron(hidden, hidden, dropout) for _ in range(glimpses))
        self.back = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(glimpses))
        self.answer = AnswerClassifier(hidden, 2 * hidden, len(config.answers), dropout)
        self.joint_size = hidden

    def join(
        self, states: Tensor, question: Tensor, batch: AnswerBatch, seen: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        known = batch.words != PAD  # [question, word]
        if torch.is_autocast_enabled(seen.device.type):
            seen = seen.to(torch.get_autocast_dtype(seen.device.type))  # once, not for each map over it
        weights = self._attend(states, seen, known[:, :, None] & there[:, None])
        words = states
        for k, (look, ask, back) in enumerate(zip(self.regions, self.words, self.back, strict=True)):
            regions = look(seen)
            seen_by_words = weights[:, k].to(regions.dtype) @ regions  # [question, word, hidden]
            words = words + back((ask(words) * seen_by_words).sum(1))[:, None]
        joint = (words * known[..., None]).sum(1)
        return self.answer(joint), joint

    def _attend(self, states: Tensor, seen: Tensor, known: Tensor) -> Tensor:
        """[question, glimpse, word, region], which sum to 1 over words and regions."""
        words, regions = self.word_keys(states), self.region_keys(seen)
        each = (words[:, None] * self.glimpses.to(words.dtype)[:, None]).flatten(
            1, 2
        )  # [question, glimpse · word, wide]
        asked = (each @ regions.transpose(1, 2)).unflatten(1, (len(self.glimpses), -1))  # regions are not copied
        masked = asked.float().masked_fill(~known[:, None], -1e9)
        weights: Tensor = masked.flatten(2).softmax(-1).view_as(masked)
        return weights
