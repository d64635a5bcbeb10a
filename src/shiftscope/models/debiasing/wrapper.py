"""What stands behind a plus: it makes of a model's entry another, with another objective or one side hidden."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import UserError
from ...model import PLUS, ModelTraits
from ...trainable import ANSWERS
from ..end_to_end.answering import AnswererEntry
from ..end_to_end.objective import Objective
from ..end_to_end.training import BOTH, LANGUAGE, NOTHING, AnswerStage


@dataclass(frozen=True, slots=True, eq=False)
class WrappedModel:
    """What the file of a model would define."""

    ENTRY: AnswererEntry

    @property
    def TRAITS(self) -> ModelTraits:
        return self.ENTRY.traits

    @property
    def build(self) -> Callable[..., Any]:
        return self.ENTRY.build

    @property
    def describe_run(self) -> Callable[..., Any]:
        return self.ENTRY.describe_run


class EntryWrapper:
    """A subclass says what it makes of a stage."""

    def wrap_stage(self, stage: AnswerStage, inner: str, name: str) -> AnswerStage:
        raise NotImplementedError

    def wrap(self, module: Any, inner: str, name: str) -> WrappedModel:
        """The model `inner+name` of what the file of `inner` defines."""
        entry = getattr(module, "ENTRY", None)
        if not isinstance(entry, AnswererEntry) or not entry.stage.debiasable:
            raise UserError(f"{inner}{PLUS}{name}: {inner} does not learn from answers alone, so nothing can wrap it")
        stage = self.wrap_stage(entry.stage, inner, name)
        kind = f"{inner}{PLUS}{name}"
        branch = stage.objective.branch if stage.objective else None
        parts = ({branch.name: branch.option} if branch else {}) | {stage.name: stage.option}
        folder: Any = type(entry.folder.__name__, (entry.folder,), {"KIND": kind, "PARTS": parts})
        return WrappedModel(AnswererEntry(kind, stage, folder))


@dataclass(frozen=True, slots=True, eq=False)
class ObjectiveWrapper(EntryWrapper):
    """Another objective; with `branch`, one side of the model is trained alone before, and its answers are the bias."""

    objective: Objective
    branch: str = ""

    def wrap_stage(self, stage: AnswerStage, inner: str, name: str) -> AnswerStage:
        if stage.objective is not None:
            raise UserError(f"{inner}{PLUS}{name}: one method at a time; {inner} has one already")
        if self.objective.needs_images and not stage.sees:
            raise UserError(f"{inner}{PLUS}{name}: {name} pairs questions with other images, and {inner} sees none")
        made = copy.copy(stage)
        made.objective, made.answer_loss = self.objective, self.objective.answer_loss
        if self.branch:
            branch = hide_side(made, self.branch, inner, name)
            branch.objective = None
            branch.name, branch.word = f"{self.branch}_branch", self.branch
            made.objective = self.objective.replace_branch(branch)
            made.needs = (branch.name,)
        return made


@dataclass(frozen=True, slots=True)
class SideWrapper(EntryWrapper):
    """The same network, trained and run with only the question, or only the image."""

    side: str

    def wrap_stage(self, stage: AnswerStage, inner: str, name: str) -> AnswerStage:
        return hide_side(stage, self.side, inner, name)


def hide_side(stage: AnswerStage, side: str, inner: str, name: str) -> AnswerStage:
    """The stage of one side; it needs no images where it reads the question alone."""
    if stage.reads != BOTH or (stage.sees and not stage.works_blind) or not (stage.sees or side == LANGUAGE):
        have = "its question" if not stage.sees or stage.reads == LANGUAGE else "its image"
        raise UserError(f"{inner}{PLUS}{name}: {inner} cannot do without {have}")
    made = copy.copy(stage)
    made.reads = side
    if side == LANGUAGE:
        made.supervision, made.backbone = frozenset((ANSWERS,)), NOTHING
    return made
