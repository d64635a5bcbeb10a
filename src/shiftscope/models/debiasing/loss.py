"""The losses of debiasing, of scores [question, answer]: plain functions, so that each can be computed by hand.

Targets are numbers of answers, or where annotators differ the share [question, answer] of each answer. A target of
UNSEEN, an answer outside the vocabulary, teaches nothing. Means are over the whole batch, also where
several processes have a part of it each. What each formula means and where it is from: docs/decisions/046.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...batch_mean import average_cross_entropy, divide_by_batch
from ..end_to_end.questions import UNSEEN

LEAST = 1e-7  # of what a sure prior leaves: a root of 0 has no slope


def mix_in_bias(scores: Tensor, bias: Tensor, factor: Tensor) -> Tensor:
    """Scores of the learned mixin: log p + g log b, of probabilities [question, answer] and a factor g [question]."""
    return scores.float().log_softmax(-1) + factor.float()[:, None] * bias.float().log()


def compute_bias_entropy(bias: Tensor, factor: Tensor, targets: Tensor) -> Tensor:
    """The mean entropy of softmax(g log b): the larger, the less the mixin says."""
    logs = (factor.float()[:, None] * bias.float().log()).log_softmax(-1)
    return _average(-(logs.exp() * logs).sum(-1), targets)


def weigh_by_prior(scores: Tensor, prior: Tensor, targets: Tensor, gamma: float) -> Tensor:
    """The cross entropy of LPF: each question's weighs (1 − α)^γ, α being what the prior gives the true answer.

    A surer prior makes it smaller, as in the authors' code: the prior learns from it too.
    """
    likely, logs = prior.float().softmax(-1), scores.float().log_softmax(-1)
    if targets.is_floating_point():
        sure, each = (targets * likely).sum(-1), -(targets * logs).sum(-1)
    else:
        known = targets.clamp(min=0)[:, None]
        sure, each = likely.gather(1, known)[:, 0], -logs.gather(1, known)[:, 0]
    return _average((1 - sure).clamp(min=LEAST) ** gamma * each, targets)


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores of RUBi: each is multiplied by the sigmoid of what the question alone says."""
    return scores * mask.sigmoid()


def compute_answer_confidence(scores: Tensor, targets: Tensor, counted: Tensor) -> Tensor:
    """The mean probability of the true answer, over the questions that are counted: what SSL shrinks."""
    given = scores.float().softmax(-1).gather(1, targets.clamp(min=0)[:, None])[:, 0]
    return _average(given, torch.where(counted, targets, UNSEEN))


def compute_cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """What a model without debiasing learns from."""
    return average_cross_entropy(scores.float(), targets, UNSEEN)


def _average(values: Tensor, targets: Tensor) -> Tensor:
    known = targets.sum(-1) > 0 if targets.is_floating_point() else targets != UNSEEN
    return divide_by_batch(torch.where(known, values, 0.0).sum(), known.sum())
