"""The parameters that debiasing adds to a network while it learns; answers do not depend on them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SMOOTHED = -1.0  # where the learned smoothing begins, as a logit: as in the authors' code


class MixinHead(nn.Module):
    """How much of the bias each question is to be explained by, at least 0."""

    def __init__(self, joint: int) -> None:
        super().__init__()
        self.factor = nn.Linear(joint, 1)
        self.smoothing = nn.Parameter(torch.full((1,), SMOOTHED))

    def smooth(self, bias: Tensor) -> Tensor:
        """Probabilities of which none is 0: something learned is added to each."""
        raised = bias.float() + self.smoothing.sigmoid()
        return raised / raised.sum(-1, keepdim=True)

    def compute_odds(self, bias: Tensor) -> Tensor:
        """[question, answer] the log odds of each answer by itself, the same added to b and to 1 − b."""
        added = self.smoothing.sigmoid()
        return (bias.float() + added).log() - (1 - bias.float() + added).log()

    def forward(self, joint: Tensor) -> Tensor:
        return F.softplus(self.factor(joint)[:, 0].float())


class QuestionBranch(nn.Module):
    """Scores of answers from the question's state alone, which learns nothing from it."""

    def __init__(self, question: int, hidden: int, answers: int) -> None:
        super().__init__()
        layers = [nn.Linear(question, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
        self.scores = nn.Sequential(*layers, nn.Linear(hidden, answers))

    def forward(self, question: Tensor) -> Tensor:
        found: Tensor = self.scores(question.detach())
        return found


class MaskBranch(QuestionBranch):
    """The same, whose scores mask the model's; a last map makes answers of the mask's scores."""

    def __init__(self, question: int, hidden: int, answers: int) -> None:
        super().__init__(question, hidden, answers)
        self.answer = nn.Linear(answers, answers)
