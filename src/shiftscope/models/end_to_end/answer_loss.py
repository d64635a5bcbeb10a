"""The loss of answers, in two forms: one softmax over all answers, or a sigmoid for each.

With a softmax an answer is likely at the cost of the others. With sigmoids (UpDn's form, for VQA's ten annotators)
each answer is right or wrong by itself, and the cross entropies of all of them are summed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...batch_mean import average_binary_cross_entropy, average_cross_entropy
from .questions import SIGMOID, UNSEEN

if TYPE_CHECKING:
    from torch import Tensor


def compute_chances(scores: Tensor, form: str) -> Tensor:
    """[question, answer] the probabilities that scores stand for in a form of the loss."""
    return scores.float().sigmoid() if form == SIGMOID else scores.float().softmax(-1)


def get_taught(batch: Any, form: str) -> Tensor:
    """The number of the answer, or where several annotators were asked [question, answer]: with a softmax each
    answer's share of their agreement, with sigmoids the agreement itself."""
    taught: Tensor = batch.agreement if form == SIGMOID and batch.agreement is not None else batch.taught
    return taught


def average_answer_loss(scores: Tensor, taught: Tensor, form: str) -> Tensor:
    """The mean over the batch; what has no answer in the vocabulary teaches nothing."""
    average = average_binary_cross_entropy if form == SIGMOID else average_cross_entropy
    return average(scores.float(), taught, UNSEEN)
