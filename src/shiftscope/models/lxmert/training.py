"""How LXMERT is trained: regions of a trained scene parser, found once per image; action and question as one text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...errors import UserError
from ...trainable import Rows, SplitData, TrainRecipe
from ...trained_folder import LONGEST_ERROR
from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.questions import AnsweredQuestions, AnswererConfig
from ..end_to_end.training import AnswerExamples, AnswerStage, group_by_image
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.trained_model import SCENE_PARSER

if TYPE_CHECKING:
    import torch
    from torch import nn

PRETRAINED = "pretrained"
# Half of the original's width and about half of its layers: 5,000 images would not fill more.
SIZES = MappingProxyType(
    {"width": 384, "heads": 6, "inside": 1536, "text_layers": 4, "image_layers": 2, "layers": 4, "visual": 512}
    | {"dropout": 0.1}
)


class LxmertStage(AnswerStage):
    """From regions and a text to an answer."""

    takes_actions = True
    sizes: Mapping[str, float] = SIZES
    debiasable = works_blind = True
    captured = False  # the number of images of a batch differs
    recipe = TrainRecipe(epochs=24, batch=512, lr=3e-4, weight_decay=0.01, warmup=0.1, clip=1.0)
    pretrained = ""  # a folder or name of an LXMERT of transformers, to begin from

    def list_settings(self) -> list[str]:
        return [*super().list_settings(), PRETRAINED]

    def configure(self, settings: Mapping[str, str]) -> Self:
        from ..end_to_end.image_features import HUB, SCRATCH

        backbone = settings.get("backbone", self.backbone)
        if backbone == SCRATCH or backbone.startswith(HUB):
            raise UserError(
                f"lxmert looks at a detector's regions; name a trained scene parser's folder, not {backbone!r}"
            )
        made = super().configure({k: v for k, v in settings.items() if k != PRETRAINED})
        if PRETRAINED in settings:
            made.pretrained = settings[PRETRAINED]
            config = load_pretrained_config(made.pretrained)
            named = {"width": config.hidden_size, "heads": config.num_attention_heads}
            named |= {"inside": config.intermediate_size, "visual": config.visual_feat_dim}
            named |= {"text_layers": config.l_layers, "image_layers": config.r_layers, "layers": config.x_layers}
            made.sizes = {**made.sizes, **named}
        return made

    def describe(self, schema: Any) -> dict[str, Any]:
        return super().describe(schema) | ({PRETRAINED: self.pretrained} if self.pretrained else {})

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import Lxmert

        return Lxmert(config)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if module.features is not None:
            module.features.load_state_dict(self._load_parser(config).state_dict())
        if self.pretrained:
            load_lxmert(module, config, self.pretrained)

    def make_questions(self, data: SplitData, config: AnswererConfig, device: str) -> AnswerExamples:
        from ..nsvqa.scene_parser.regions import find_all_regions

        if data.pixels is None or not self.sees:
            return super().make_questions(data, config, device)
        regions = find_all_regions(self._load_parser(config), data.pixels, device)
        return RegionQuestions(data.supervision[self.name], config, regions, device)

    def _load_parser(self, config: AnswererConfig) -> Any:
        from ..end_to_end.image_features import find_scene_parser
        from ..nsvqa.scene_parser.network import SceneParser

        parser = SceneParserConfig.from_json(config.features["scene_parser"])
        return find_scene_parser(self.backbone, parser.schema).load(SCENE_PARSER, SceneParser(parser))


class RegionQuestions(AnswerExamples):
    """Questions, and the regions of their images; all questions about an image come in one batch, or in two."""

    def __init__(self, questions: AnsweredQuestions, config: AnswererConfig, regions: Any, device: str) -> None:
        super().__init__(questions, config, None, device)
        self.regions = regions

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        return group_by_image(self.image_of.numpy(), batch, random)

    def batch(self, rows: torch.Tensor) -> Any:
        import torch

        from ..end_to_end.network import AnswerBatch

        plain = super().batch(rows)
        which, inverse, counts = torch.unique(self.image_of[rows], return_inverse=True, return_counts=True)
        held: dict[str, Any] = {f.name: getattr(plain, f.name) for f in fields(plain)}
        held |= {"images": self.regions.take(which.to(self.device)), "rows": inverse.to(self.device)}
        return AnswerBatch(**held | {"most": int(counts.max())})


def load_pretrained_config(name: str) -> Any:
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(name)
        if config.model_type != "lxmert":
            raise ValueError(f"it is a {config.model_type}")
    except Exception as error:  # whatever transformers says of a name, a network or a kind of model
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
        raise UserError(f"{PRETRAINED}={name}: no LXMERT can be loaded there ({why})") from None
    return config


def load_lxmert(module: Any, config: AnswererConfig, name: str) -> None:
    """The layers of a pretrained LXMERT; a word begins as the mean of the pieces that its tokenizer makes of it."""
    import torch
    from transformers import AutoTokenizer, LxmertModel

    from ..end_to_end.questions import FIRST_WORD

    given: Any = LxmertModel.from_pretrained(name)
    pieces: Any = AutoTokenizer.from_pretrained(name)
    known, mine = given.state_dict(), module.body.state_dict()
    with torch.no_grad():
        for key, tensor in mine.items():
            if key in known and known[key].shape == tensor.shape:
                tensor.copy_(known[key])
        theirs, words = known["embeddings.word_embeddings.weight"], mine["embeddings.word_embeddings.weight"]
        for k, word in enumerate(config.words):
            words[FIRST_WORD + k] = theirs[pieces(word, add_special_tokens=False).input_ids].mean(0)
        places, own = known["embeddings.position_embeddings.weight"], mine["embeddings.position_embeddings.weight"]
        many = min(len(places), len(own))
        own[:many] = places[:many]


class TrainedLxmert(TrainedAnswerer):
    KIND: ClassVar[str] = "lxmert"
