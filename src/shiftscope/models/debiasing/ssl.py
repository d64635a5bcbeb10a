"""SSL (Zhu et al., 2020): with an image that is not the question's, the true answer should not seem likely."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...trainable import Losses, Rows
from ..end_to_end.objective import Objective
from ..end_to_end.questions import SIGMOID
from .wrapper import ObjectiveWrapper

if TYPE_CHECKING:
    import torch

    from ..end_to_end.network import AnswerStates
    from ..end_to_end.questions import AnswererConfig
    from ..end_to_end.training import AnswerExamples


class IrrelevantPairs(Objective):
    name, answer_loss = "ssl", SIGMOID
    needs_images = True
    # The weight beside sigmoids (beside one softmax its authors take 1.2), and the share of the training after which
    # pairs are used (12 of 30 epochs).
    settings: Mapping[str, float] = MappingProxyType({"weight": 3.0, "begin": 0.4})

    def make_examples(
        self, examples: AnswerExamples, supervision: Mapping[str, Any], name: str, config: AnswererConfig
    ) -> PairedExamples:
        return PairedExamples(examples, self.settings["begin"])

    def loss(
        self, module: Any, batch: Any, read: Callable[[Any], AnswerStates], form: str
    ) -> tuple[torch.Tensor, Losses]:
        from ..end_to_end.answer_loss import average_answer_loss, get_taught
        from .loss import compute_answer_confidence

        answer = average_answer_loss(read(batch).scores, get_taught(batch, form), form)
        if batch.image_of is None:
            return answer, {"answer": answer, "irrelevant": answer.new_zeros(())}
        other, differs = shuffle_images(batch)
        irrelevant = compute_answer_confidence(read(other).scores, batch.targets, differs)
        return answer + self.settings["weight"] * irrelevant, {"answer": answer, "irrelevant": irrelevant}


def shuffle_images(batch: Any) -> tuple[Any, torch.Tensor]:
    """The questions, each with the image of another of the batch, and [question] whether that is another image."""
    import torch

    order = torch.rand(len(batch), device=batch.words.device).argsort()
    differs = batch.image_of != batch.image_of[order]
    if batch.rows is not None:
        return replace(batch, rows=batch.rows[order], most=len(batch)), differs
    images = batch.images
    picked = images.index_select(0, order) if isinstance(images, torch.Tensor) else images.take(order)
    return replace(batch, images=picked), differs


class PairedExamples:
    """Examples that are used without pairs until the share of the training is done after which these begin."""

    def __init__(self, examples: AnswerExamples, begin: float) -> None:
        self.examples, self.begin, self.paired = examples, begin, True

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def lengths(self) -> torch.Tensor:
        return self.examples.lengths

    def lesson(self, done: float) -> Self:
        made = copy.copy(self)
        made.paired = done >= self.begin
        return made

    def epoch(self, batch: int, random: np.random.Generator) -> Sequence[Rows]:
        return self.examples.epoch(batch, random)

    def batch(self, rows: torch.Tensor) -> Any:
        plain = self.examples.batch(rows)
        return plain if self.paired else replace(plain, image_of=None)


WRAPPER = ObjectiveWrapper(IrrelevantPairs())
