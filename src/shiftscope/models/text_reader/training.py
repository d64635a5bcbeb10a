"""How text_reader is trained: from true scenes in words; the scene parser, for images, is a trained model's."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self

from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import ANSWERS, SCENES, SplitData, Trainable, TrainRecipe, TrainStage
from ..end_to_end.pretrained import PretrainedStage
from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
from ..end_to_end.training import NOTHING
from ..nsvqa.trained_model import PARSERS, SCENE_PARSER, TrainedModel
from ..nsvqa.training import NeuroSymbolicTraining, SceneParserStage
from .passage import write_passage, write_reading

if TYPE_CHECKING:
    from torch import nn

READER = "reader"


class ReaderStage(PretrainedStage):
    """From a passage and a question to an answer."""

    name = READER
    supervision = frozenset((ANSWERS, SCENES))
    backbone = NOTHING
    takes_actions = True
    captured = False  # transformers may look at its masks
    recipe = TrainRecipe(epochs=12, batch=256, lr=3e-4, weight_decay=0.01, warmup=0.1, ema=0.998, clip=1.0)
    sizes: Mapping[str, float] = MappingProxyType(
        {"width": 384, "layers": 6, "heads": 6, "inside": 1536, "dropout": 0.1}
    )
    architecture, title = "roberta", "RoBERTa"
    sizes_of: Mapping[str, str] = MappingProxyType(
        {"width": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads"}
        | {"inside": "intermediate_size"}
    )
    before_word = " "
    first_place = (1, 1)  # behind the padding token's, which is theirs to number and our 0

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> AnsweredQuestions:
        passages = {scene.id: write_passage(scene) for scene in scenes}
        return AnsweredQuestions.collect(scenes, [write_reading(passages[q.scenes[0]], q) for q in questions])

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> AnswererConfig:
        assert train is not None
        return super().fit_vocabulary(schema, replace(train, pixels=None))

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import TextReader

        return TextReader(config)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTextReader(TrainedModel):
    """A reader; with a scene parser it also reads what images show."""

    KIND: ClassVar[str] = "text_reader"
    TAKES: ClassVar[tuple[str, ...]] = (TrainedModel.KIND,)
    PARTS: ClassVar[Mapping[str, str]] = {SCENE_PARSER: PARSERS[SCENE_PARSER], READER: READER}
    SHIPPED: ClassVar[Path | None] = None


class TextReaderTraining(Trainable):
    stages: tuple[TrainStage, ...] = (SceneParserStage(), ReaderStage())
    folder = TrainedTextReader
    requires = NeuroSymbolicTraining.requires

    def configure(self, settings: Mapping[str, str]) -> Self:
        made = copy.copy(self)
        made.stages = (self.stages[0], ReaderStage().configure(settings))
        return made
