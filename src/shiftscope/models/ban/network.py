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
        self.regions = Perceptron(self.seen, glimpses * hidden, dropout)  # of all glimpses: one large product is faster
        self.words = nn.ModuleList(Perceptron(hidden, hidden, dropout) for _ in range(glimpses))
        self.back = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(glimpses))
        self.answer = AnswerClassifier(hidden, 2 * hidden, len(config.answers), dropout)
        self.joint_size = hidden

    def join(
        self, states: Tensor, question: Tensor, batch: AnswerBatch, seen: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        known = batch.words != PAD  # [question, word]
        if torch.is_autocast_enabled(seen.device.type):
            kind = torch.get_autocast_dtype(seen.device.type)
            seen, states = seen.to(kind), states.to(kind)  # once, not for each map over them
        weights = self._attend(states, seen, known[:, :, None] & there[:, None])
        regions = self.regions(seen).unflatten(-1, (len(self.glimpses), -1))  # [question, region, glimpse, hidden]
        added = torch.zeros_like(question)  # what the glimpses so far add to each word
        for k, (ask, back) in enumerate(zip(self.words, self.back, strict=True)):
            seen_by_words = weights[:, k].to(regions.dtype) @ regions[:, :, k]  # [question, word, hidden]
            asked = ask((states + added[:, None]).to(states.dtype))
            added = added + back((asked * seen_by_words).sum(1))
        joint = (states * known[..., None]).sum(1) + added * known.sum(1, keepdim=True)
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
