"""How VisualBERT is trained, and its text-only twin."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ...trainable import ANSWERS
from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.pretrained import PretrainedStage
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import NOTHING
from ..several_images.training import SIZES, ImageSetStage

if TYPE_CHECKING:
    from torch import nn


class VisualBertStage(ImageSetStage, PretrainedStage):
    architecture, title = "visual_bert", "VisualBERT"
    sizes_of: Mapping[str, str] = MappingProxyType(
        {"width": "hidden_size", "heads": "num_attention_heads", "inside": "intermediate_size"}
        | {"layers": "num_hidden_layers"}
    )

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import VisualBertAnswerer

        return VisualBertAnswerer(config)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        ImageSetStage.load_pretrained(self, module, config)
        PretrainedStage.load_pretrained(self, module, config)


class VisualBertTextStage(VisualBertStage):
    """The same network, which sees one image of zeros, whatever is asked about: not even how many images there are."""

    supervision = frozenset((ANSWERS,))
    backbone = NOTHING
    sizes: Mapping[str, float] = MappingProxyType({name: size for name, size in SIZES.items() if name != "patch"})

    def _describe_features(self, schema: Any) -> dict[str, Any]:
        return {}


class TrainedVisualBert(TrainedAnswerer):
    KIND: ClassVar[str] = "visualbert"


class TrainedVisualBertText(TrainedAnswerer):
    KIND: ClassVar[str] = "visualbert_text"
