"""LPF (Liang et al., 2021): what the question alone answers surely weighs less; γ says how much less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...trainable import Losses
from ..end_to_end.objective import HEAD, Objective
from .wrapper import ObjectiveWrapper

if TYPE_CHECKING:
    import torch
    from torch import nn

    from ..end_to_end.network import AnswerStates
    from ..end_to_end.questions import AnswererConfig


class PriorFeedback(Objective):
    name = "lpf"
    settings: Mapping[str, float] = MappingProxyType({"gamma": 1.0})

    def build_head(self, network: Any, config: AnswererConfig) -> nn.Module:
        from .network import QuestionBranch

        return QuestionBranch(network.question_size, network.question_size, len(config.answers))

    def loss(
        self, module: Any, batch: Any, read: Callable[[Any], AnswerStates], form: str
    ) -> tuple[torch.Tensor, Losses]:
        from ..end_to_end.answer_loss import average_answer_loss, get_taught
        from .loss import weigh_by_prior

        states, taught = read(batch), get_taught(batch, form)
        prior = getattr(module, HEAD)(states.question)
        answer = weigh_by_prior(states.scores, prior, taught, self.settings["gamma"], form)
        question = average_answer_loss(prior, taught, form)
        return answer + question, {"answer": answer, "question": question}


WRAPPER = ObjectiveWrapper(PriorFeedback())
