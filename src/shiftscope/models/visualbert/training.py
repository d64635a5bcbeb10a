"""How VisualBERT is trained, and its text-only twin."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...errors import UserError
from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.pretrained import DEEPNET, PretrainedStage
from ..end_to_end.questions import AnswererConfig
from ..several_images.training import CAPTIONED, ImageSetStage, TextOnlyStage

if TYPE_CHECKING:
    from torch import nn


PRODUCT = "product"  # 1: an image's vector is the product of the first word and the mean region, the text-only twin's
# too; 0: the first word


class VisualBertStage(ImageSetStage, PretrainedStage):
    architecture, title = "visual_bert", "VisualBERT"
    starts = (*PretrainedStage.starts, DEEPNET)
    sizes_of: Mapping[str, str] = MappingProxyType(
        {"width": "hidden_size", "heads": "num_attention_heads", "inside": "intermediate_size"}
        | {"layers": "num_hidden_layers"}
    )

    def list_settings(self) -> list[str]:
        return [*super().list_settings(), PRODUCT]

    def configure(self, settings: Mapping[str, str]) -> Self:
        made = super().configure({name: value for name, value in settings.items() if name != PRODUCT})
        if PRODUCT in settings:
            if settings[PRODUCT] not in ("0", "1"):
                raise UserError(f"setting {PRODUCT} must be 0 or 1, not {settings[PRODUCT]!r}")
            made.sizes = {name: size for name, size in made.sizes.items() if name != PRODUCT}
            made.sizes |= {PRODUCT: 1} if settings[PRODUCT] == "1" else {}  # without it, as it is by default
        return made

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import VisualBertAnswerer

        return VisualBertAnswerer(config)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if not self.needs:
            PretrainedStage.load_pretrained(self, module, config)
        ImageSetStage.load_pretrained(self, module, config)


class VisualBertTextStage(TextOnlyStage, VisualBertStage):
    sizes: Mapping[str, float] = TextOnlyStage.drop_patch(VisualBertStage.sizes)


class TrainedVisualBert(TrainedAnswerer):
    KIND: ClassVar[str] = "visualbert"
    PARTS: ClassVar[Mapping[str, str]] = CAPTIONED


class TrainedVisualBertText(TrainedAnswerer):
    KIND: ClassVar[str] = "visualbert_text"
