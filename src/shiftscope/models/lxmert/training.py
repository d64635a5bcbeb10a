"""How LXMERT is trained: regions of a trained scene parser, found once per image; action and question as one text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...trainable import SplitData, TrainRecipe
from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.pretrained import PretrainedStage
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import AnswerExamples
from ..region_vqa.training import TabledQuestions

if TYPE_CHECKING:
    from torch import nn

# Half of the original's width and about half of its layers: 5,000 images would not fill more.
SIZES = MappingProxyType(
    {"width": 384, "heads": 6, "inside": 1536, "text_layers": 4, "image_layers": 2, "layers": 4, "visual": 512}
    | {"dropout": 0.1}
)


class LxmertStage(PretrainedStage):
    """From regions and a text to an answer."""

    takes_actions = True
    sizes: Mapping[str, float] = SIZES
    debiasable = works_blind = True
    recipe = TrainRecipe(epochs=24, batch=512, lr=3e-4, weight_decay=0.01, warmup=0.1, clip=1.0)
    architecture, title = "lxmert", "LXMERT"
    sizes_of: Mapping[str, str] = MappingProxyType(
        {"width": "hidden_size", "heads": "num_attention_heads", "inside": "intermediate_size"}
        | {"text_layers": "l_layers", "image_layers": "r_layers", "layers": "x_layers", "visual": "visual_feat_dim"}
    )

    def configure(self, settings: Mapping[str, str]) -> Self:
        from ..end_to_end.image_features import refuse_backbone_without_regions

        refuse_backbone_without_regions("lxmert", settings.get("backbone", self.backbone))
        return super().configure(settings)

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import Lxmert

        return Lxmert(config)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        from ..end_to_end.image_features import load_scene_parser

        if module.features is not None:
            module.features.load_state_dict(load_scene_parser(config.features, self.backbone).state_dict())
        super().load_pretrained(module, config)

    def draw_body(self, body: Any) -> None:
        from ..end_to_end.initial_weights import centre_places

        super().draw_body(body)
        centre_places(body.encoder.visn_fc.box_fc)

    def make_questions(self, data: SplitData, config: AnswererConfig, device: str) -> AnswerExamples:
        from ..end_to_end.image_features import load_scene_parser
        from ..region_vqa.network import find_region_table

        if data.pixels is None or not self.sees:
            return super().make_questions(data, config, device)
        parser, origin = load_scene_parser(config.features, self.backbone), str(config.features["from"])
        table = find_region_table(parser, origin, data, device)
        return TabledQuestions(data.supervision[self.name], config, table, device)


class TrainedLxmert(TrainedAnswerer):
    KIND: ClassVar[str] = "lxmert"
