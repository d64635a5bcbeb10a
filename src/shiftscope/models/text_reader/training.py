"""How text_reader is trained: from true scenes in words; the scene parser, for images, is a trained model's."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...errors import UserError
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import ANSWERS, SCENES, SplitData, Trainable, TrainRecipe, TrainStage
from ...trained_folder import LONGEST_ERROR
from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
from ..end_to_end.training import NOTHING, AnswerStage
from ..nsvqa.trained_model import PARSERS, SCENE_PARSER, TrainedModel
from ..nsvqa.training import NeuroSymbolicTraining, SceneParserStage
from .passage import write_passage, write_reading

if TYPE_CHECKING:
    from torch import nn

READER = "reader"
PRETRAINED = "pretrained"


class ReaderStage(AnswerStage):
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
    pretrained = ""  # a folder or name of a RoBERTa of transformers, to begin from

    def configure(self, settings: Mapping[str, str]) -> Self:
        made = super().configure({k: v for k, v in settings.items() if k != PRETRAINED})
        if PRETRAINED in settings:
            made.pretrained = settings[PRETRAINED]
            config = load_pretrained_config(made.pretrained)
            shape = (config.hidden_size, config.num_hidden_layers, config.num_attention_heads, config.intermediate_size)
            named = dict(zip(("width", "layers", "heads", "inside"), shape, strict=True))
            made.sizes = {**made.sizes, **named}
        return made

    def describe(self, schema: Schema) -> dict[str, Any]:
        return super().describe(schema) | ({"pretrained": self.pretrained} if self.pretrained else {})

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> AnsweredQuestions:
        passages = {scene.id: write_passage(scene) for scene in scenes}
        return AnsweredQuestions.collect(scenes, [write_reading(passages[q.scenes[0]], q) for q in questions])

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> AnswererConfig:
        assert train is not None
        return super().fit_vocabulary(schema, replace(train, pixels=None))

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import TextReader

        return TextReader(config)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if self.pretrained:
            load_roberta(module, config, self.pretrained)


def load_pretrained_config(name: str) -> Any:
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(name)
        if config.model_type != "roberta":
            raise ValueError(f"it is a {config.model_type}")
    except Exception as error:  # whatever transformers says of a name, a network or a kind of model
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
        raise UserError(f"{PRETRAINED}={name}: no RoBERTa can be loaded there ({why})") from None
    return config


def load_roberta(module: Any, config: AnswererConfig, name: str) -> None:
    """The layers of a pretrained RoBERTa; a word begins as the mean of the pieces that its tokenizer makes of it."""
    import torch
    from transformers import AutoTokenizer, RobertaModel

    from ..end_to_end.questions import FIRST_WORD

    given: Any = RobertaModel.from_pretrained(name, add_pooling_layer=False)
    pieces: Any = AutoTokenizer.from_pretrained(name)
    known = given.state_dict()
    mine = module.body.state_dict()
    with torch.no_grad():
        for key, tensor in mine.items():
            if key in known and known[key].shape == tensor.shape:
                tensor.copy_(known[key])
        theirs, words = known["embeddings.word_embeddings.weight"], mine["embeddings.word_embeddings.weight"]
        for k, word in enumerate(config.words):
            numbers = pieces(f" {word}", add_special_tokens=False).input_ids
            words[FIRST_WORD + k] = theirs[numbers].mean(0)
        offset = given.config.pad_token_id + 1  # their first position
        places, own = known["embeddings.position_embeddings.weight"], mine["embeddings.position_embeddings.weight"]
        many = min(len(places) - offset, len(own) - 1)
        own[1 : 1 + many] = places[offset : offset + many]


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
