"""Objective: what a model learns from in place of the plain cross entropy of its answers.

Debiasing is one: a loss around a model's scores, with parameters of its own where it has any, which are trained with
the model and not used to answer. It holds no state, so that it travels to the processes that make data.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...trainable import Losses, Rows
from .questions import SOFTMAX

if TYPE_CHECKING:
    import torch
    from torch import nn

    from .network import AnswerStates
    from .questions import AnsweredQuestions, AnswererConfig
    from .training import AnswerExamples, AnswerStage

HEAD = "objective"  # the submodule with its parameters
BIAS = "bias"  # beside the supervision of stages: [question, answer] what the bias says


class Objective:
    """A loss around a network's scores; a subclass fills in what it needs."""

    name: str
    settings: Mapping[str, float] = MappingProxyType({})  # its weights, each a setting of the model
    answer_loss: str = SOFTMAX  # the form of the loss that it was published with
    needs_images: bool = False
    branch: AnswerStage | None = None  # the stage that is trained before: what it answers is the bias

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, **self.settings}

    def change(self, name: str, value: float) -> Self:
        made = copy.copy(self)
        made.settings = {**self.settings, name: value}
        return made

    def replace_branch(self, branch: AnswerStage) -> Self:
        made = copy.copy(self)
        made.branch = branch
        return made

    def check(self, questions: AnsweredQuestions) -> None:
        """Refuse training data that it cannot learn from."""

    def build_head(self, network: Any, config: AnswererConfig) -> nn.Module | None:
        """Its parameters, where it has any."""
        return None

    def make_examples(
        self, examples: AnswerExamples, supervision: Mapping[str, Any], name: str, config: AnswererConfig
    ) -> Any:
        """The stage's examples, with what the loss wants besides."""
        return examples

    def loss(
        self, module: Any, batch: Any, read: Callable[[Any], AnswerStates], form: str
    ) -> tuple[torch.Tensor, Losses]:
        """What a step makes small, and its terms; `read` gives the network's states of a batch."""
        raise NotImplementedError


class BiasedExamples:
    """Examples with their bias: a row of a table [row, answer] each."""

    def __init__(self, examples: AnswerExamples, table: torch.Tensor, rows: torch.Tensor) -> None:
        self.examples, self.table, self.rows = examples, table, rows

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def lengths(self) -> torch.Tensor:
        return self.examples.lengths

    def epoch(self, batch: int, random: np.random.Generator) -> Sequence[Rows]:
        return self.examples.epoch(batch, random)

    def batch(self, rows: torch.Tensor) -> Any:
        from dataclasses import replace

        here = self.rows[rows.to(self.rows.device)]
        return replace(self.examples.batch(rows), bias=self.table.index_select(0, here))
