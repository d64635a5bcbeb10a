"""LMH (Clark et al., 2019): answer frequencies of question types are mixed in while learning, then left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import UserError
from ...trainable import Losses
from ..end_to_end.objective import BIAS, HEAD, BiasedExamples, Objective
from ..end_to_end.questions import SIGMOID
from .wrapper import ObjectiveWrapper

if TYPE_CHECKING:
    import torch
    from torch import nn

    from ..end_to_end.network import AnswerStates
    from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
    from ..end_to_end.training import AnswerExamples

COUNTED = 4096  # questions whose answers are counted at once


class LearnedMixin(Objective):
    """The learned mixin with its entropy penalty; the bias is a branch's answers, or else those of question types."""

    name, answer_loss = "lmh", SIGMOID
    settings: Mapping[str, float] = MappingProxyType({"penalty": 0.36})  # as its authors use for VQA

    def check(self, questions: AnsweredQuestions) -> None:
        if self.branch is None and questions.type_words == ("",):
            raise UserError("lmh needs the types of questions, and these data name none; lmh_l needs none")

    def build_head(self, network: Any, config: AnswererConfig) -> nn.Module:
        from .network import MixinHead

        return MixinHead(network.joint_size)

    def make_examples(
        self, examples: AnswerExamples, supervision: Mapping[str, Any], name: str, config: AnswererConfig
    ) -> BiasedExamples | AnswerExamples:
        import torch

        if self.branch is not None:
            if BIAS not in supervision:  # they are to be answered, not learned from
                return examples
            rows = torch.arange(len(examples), device=examples.device)
            return BiasedExamples(examples, supervision[BIAS], rows)
        questions: AnsweredQuestions = supervision[name]
        types = torch.from_numpy(questions.types).to(examples.device)
        return BiasedExamples(examples, average_by_type(examples, types, len(questions.type_words), config), types)

    def loss(
        self, module: Any, batch: Any, read: Callable[[Any], AnswerStates], form: str
    ) -> tuple[torch.Tensor, Losses]:
        from ..end_to_end.answer_loss import average_answer_loss, get_taught
        from .loss import compute_bias_entropy, compute_pair_entropy, mix_in_bias

        states, head, taught = read(batch), getattr(module, HEAD), get_taught(batch, form)
        factor = head(states.joint)
        if form == SIGMOID:
            added = factor[:, None] * head.compute_odds(batch.bias)
            mixed, entropy = states.scores.float() + added, compute_pair_entropy(added, taught)
        else:
            bias = head.smooth(batch.bias)
            mixed, entropy = mix_in_bias(states.scores, bias, factor), compute_bias_entropy(bias, factor, taught)
        answer = average_answer_loss(mixed, taught, form)
        return answer + self.settings["penalty"] * entropy, {"answer": answer, "entropy": entropy}


def average_by_type(examples: AnswerExamples, types: torch.Tensor, count: int, config: AnswererConfig) -> torch.Tensor:
    """[question type, answer] how right each answer is on average: of one true answer each, its frequency.

    With a softmax they sum to 1.
    """
    import torch

    table = torch.zeros(count, len(config.answers), device=examples.device)
    known = torch.zeros(count, device=examples.device)
    for rows in torch.split(torch.arange(len(examples), device=examples.device), COUNTED):
        right = examples.grade_answers(rows)
        table.index_add_(0, types[rows], right)
        known.index_add_(0, types[rows], right.any(1).float())
    whole = known if config.loss == SIGMOID else table.sum(1)
    return table / whole.clamp(min=1)[:, None]


WRAPPER = ObjectiveWrapper(LearnedMixin())
