"""The learned weights of a composing parser: a score of each rule among those of its category."""

from collections.abc import Sequence

import torch
from torch import nn

from ...lang.program import Program
from .composing import ComposingConfig, ComposingParser

SCALE = 100.0  # of scores to the weights that are learned, whose steps are as small as a network's


class RuleScores(nn.Module):
    """Scores, and the parser that uses them."""

    def __init__(self, config: ComposingConfig) -> None:
        super().__init__()
        self.config = config
        self.weights = nn.Parameter(torch.zeros(len(config.rules)))
        numbers = {name: k for k, name in enumerate(sorted({rule.category for rule in config.rules}))}
        self.categories = [numbers[rule.category] for rule in config.rules]
        self._parser: tuple[tuple[float, ...], ComposingParser] | None = None

    def forward(self, rules: torch.Tensor) -> torch.Tensor:
        """[use, rule] the score of each rule of the category of a rule that is used."""
        category = torch.tensor(self.categories, device=rules.device)
        apart = category[rules][:, None] != category[None]
        return (SCALE * self.weights)[None].expand(len(rules), -1).masked_fill(apart, float("-inf"))

    def parse(self, texts: Sequence[str]) -> list[Program | None]:
        """The program of each question; None where it cannot be read."""
        weights = tuple((SCALE * self.weights.detach().float().cpu()).exp().tolist())
        if self._parser is None or self._parser[0] != weights:
            self._parser = weights, ComposingParser(self.config, weights)
        return [self._parser[1].parse(text) for text in texts]
