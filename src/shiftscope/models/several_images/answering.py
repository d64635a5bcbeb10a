"""A trained model over several images, and how it answers prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...model import IMAGES, ModelSetting, ModelTraits, Prompt
from ...trainable import load_stage
from ..end_to_end.answering import AnswererEntry, AnsweringModel
from ..end_to_end.training import AnswerTraining
from .caption_training import ImageSetTraining
from .training import ImageSetStage


class ImageSetModel(AnsweringModel):
    """Answers questions about one image or several, in batches."""

    def _explain_unsupported(self, prompt: Prompt) -> str:
        if prompt.question.action:
            return "an action is told, and this model sees only what is shown"
        return "no image" if IMAGES in self.reads and not prompt.pictures else ""

    def _score(self, prompts: Sequence[Prompt], words: Any, lengths: Any) -> Any:
        import torch

        from .network import ImageSetBatch

        if IMAGES not in self.reads:
            alone = torch.ones(len(prompts), 1, dtype=torch.bool, device=self.device)
            return self.module(ImageSetBatch(words, None, alone))
        order = {picture.id: picture for p in prompts for picture in p.pictures}
        place = {name: k for k, name in enumerate(order)}
        most = max(len(p.pictures) for p in prompts)
        rows = [[place[x.id] for x in p.pictures] + [-1] * (most - len(p.pictures)) for p in prompts]
        which = torch.tensor(rows, device=self.device)
        return self.module(ImageSetBatch(words, self._see(order)[which.clamp(min=0)], which >= 0))


@dataclass(frozen=True, slots=True)
class ImageSetEntry(AnswererEntry):
    """What the file of such a model gives the registry."""

    @property
    def training(self) -> AnswerTraining:
        assert isinstance(self.stage, ImageSetStage)
        return ImageSetTraining(self.stage) if self.stage.sees else AnswerTraining(self.stage)

    @property
    def traits(self) -> ModelTraits:
        return replace(super(ImageSetEntry, self).traits, most_images=None)

    def build(self, target: str, setting: ModelSetting) -> ImageSetModel:
        trained = self.folder.find(self.name, target, setting.schema)
        device = trained.choose_device(setting.options.device)
        module = load_stage(trained, self.stage, device)
        return ImageSetModel(trained, module, device, IMAGES in self.stage.supervision)
