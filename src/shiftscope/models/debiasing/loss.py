"""The losses of debiasing around scores of answers: each [question, answer], and each question's true answer.

Each reduces to the backbone's loss of the same form where it should. Targets are numbers of answers, or values
[question, answer] where several annotators answered; a mean is over the questions with an answer in the vocabulary, of
the whole batch where several processes have a part of it each. All is computed in float32. What each formula means and
where it is from: docs/decisions/046.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ...batch_mean import divide_by_batch
from ..end_to_end.answer_loss import compute_chances
from ..end_to_end.questions import SIGMOID, UNSEEN

LEAST = 1e-7  # of what a sure prior leaves: a root of 0 has no slope


def mix_in_bias(scores: Tensor, bias: Tensor, factor: Tensor) -> Tensor:
    """Scores of the learned mixin: log p + g log b, of probabilities [question, answer] and a factor g [question]."""
    return scores.float().log_softmax(-1) + factor.float()[:, None] * bias.float().log()


def compute_bias_entropy(bias: Tensor, factor: Tensor, targets: Tensor) -> Tensor:
    """The mean entropy of softmax(g log b): the larger, the less the mixin says."""
    logs = (factor.float()[:, None] * bias.float().log()).log_softmax(-1)
    return _average(-(logs.exp() * logs).sum(-1), targets)


def compute_pair_entropy(mixed: Tensor, targets: Tensor) -> Tensor:
    """The same with a sigmoid for each answer: the mean entropy of the pairs σ(u), 1 − σ(u), u what the bias adds."""
    return _average((F.softplus(mixed) - mixed * mixed.sigmoid()).mean(-1), targets)


def weigh_by_prior(scores: Tensor, prior: Tensor, targets: Tensor, gamma: float, form: str) -> Tensor:
    """The loss of LPF: each question's weighs (1 − α)^γ, α being what the prior gives the true answer.

    A surer prior makes it smaller, as in the authors' code: the prior learns from it too.
    """
    likely, logs = compute_chances(prior, form), scores.float()
    logs = logs if form == SIGMOID else logs.log_softmax(-1)
    if targets.is_floating_point():
        shares = targets / targets.sum(-1, keepdim=True).clamp(min=LEAST)
        sure, each = (shares * likely).sum(-1), -(targets * logs).sum(-1)
    else:
        known = targets.clamp(min=0)[:, None]
        sure, each = likely.gather(1, known)[:, 0], -logs.gather(1, known)[:, 0]
    each = each + F.softplus(logs).sum(-1) if form == SIGMOID else each
    return _average((1 - sure).clamp(min=LEAST) ** gamma * each, targets)


def mask_scores(scores: Tensor, mask: Tensor) -> Tensor:
    """The scores of RUBi: each is multiplied by the sigmoid of what the question alone says."""
    return scores * mask.sigmoid()


def compute_answer_confidence(scores: Tensor, targets: Tensor, counted: Tensor) -> Tensor:
    """The mean probability of the true answer in a softmax, over the questions that are counted: what SSL shrinks."""
    given = scores.float().softmax(-1).gather(1, targets.clamp(min=0)[:, None])[:, 0]
    return _average(given, torch.where(counted, targets, UNSEEN))


def _average(values: Tensor, targets: Tensor) -> Tensor:
    known = targets.sum(-1) > 0 if targets.is_floating_point() else targets != UNSEEN
    return divide_by_batch(torch.where(known, values, 0.0).sum(), known.sum())
