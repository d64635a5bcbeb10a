"""RUBi (Cadene et al., 2019): what the question alone says masks the model's scores while it learns."""

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


class QuestionMask(Objective):
    name = "rubi"
    settings: Mapping[str, float] = MappingProxyType({"question": 1.0})  # the weight of the question branch's loss

    def build_head(self, network: Any, config: AnswererConfig) -> nn.Module:
        from .network import MaskBranch

        return MaskBranch(network.question_size, network.question_size, len(config.answers))

    def loss(
        self, module: Any, batch: Any, read: Callable[[Any], AnswerStates], form: str
    ) -> tuple[torch.Tensor, Losses]:
        from ..end_to_end.answer_loss import average_answer_loss, get_taught
        from .loss import mask_scores

        states, head, taught = read(batch), getattr(module, HEAD), get_taught(batch, form)
        mask = head(states.question)
        answer = average_answer_loss(mask_scores(states.scores, mask), taught, form)
        question = average_answer_loss(head.answer(mask), taught, form)
        return answer + self.settings["question"] * question, {"answer": answer, "question": question}


WRAPPER = ObjectiveWrapper(QuestionMask())
