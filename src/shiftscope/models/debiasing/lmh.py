"""LMH (Clark et al., 2019): answer frequencies of question types are mixed in while learning, then left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...errors import UserError
from ...trainable import Losses
from ..end_to_end.objective import BIAS, HEAD, BiasedExamples, Objective
from .wrapper import ObjectiveWrapper

if TYPE_CHECKING:
    import torch
    from torch import nn

    from ..end_to_end.network import AnswerStates
    from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
    from ..end_to_end.training import AnswerExamples


class LearnedMixin(Objective):
    """The learned mixin with its entropy penalty; the bias is a branch's answers, or else those of question types."""

    name = "lmh"
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
        counts = torch.from_numpy(config.count_answers_by_type(questions)).float()
        table = counts / counts.sum(1, keepdim=True).clamp(min=1)
        return BiasedExamples(
            examples, table.to(examples.device), torch.from_numpy(questions.types).to(examples.device)
        )

    def loss(self, module: Any, batch: Any, read: Callable[[Any], AnswerStates]) -> tuple[torch.Tensor, Losses]:
        from .loss import compute_bias_entropy, compute_cross_entropy, mix_in_bias

        states, head = read(batch), getattr(module, HEAD)
        bias, factor = head.smooth(batch.bias), head(states.joint)
        answer = compute_cross_entropy(mix_in_bias(states.scores, bias, factor), batch.taught)
        entropy = compute_bias_entropy(bias, factor, batch.taught)
        return answer + self.settings["penalty"] * entropy, {"answer": answer, "entropy": entropy}


WRAPPER = ObjectiveWrapper(LearnedMixin())
