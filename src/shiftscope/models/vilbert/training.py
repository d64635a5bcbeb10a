"""How ViLBERT is trained, and its text-only twin."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..several_images.training import CAPTIONED, SIZES, ImageSetStage, TextOnlyStage

if TYPE_CHECKING:
    from torch import nn


class VilbertStage(ImageSetStage):
    """`layers` are those of words before the streams meet, `co_layers` those in which they do.

    transformers has no ViLBERT, so that there is none to begin from.
    """

    sizes: Mapping[str, float] = MappingProxyType({**SIZES, "layers": 1, "co_layers": 2})

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import VilbertAnswerer

        return VilbertAnswerer(config)


class VilbertTextStage(TextOnlyStage, VilbertStage):
    sizes: Mapping[str, float] = TextOnlyStage.drop_patch(VilbertStage.sizes)


class TrainedVilbert(TrainedAnswerer):
    KIND: ClassVar[str] = "vilbert"
    PARTS: ClassVar[Mapping[str, str]] = CAPTIONED


class TrainedVilbertText(TrainedAnswerer):
    KIND: ClassVar[str] = "vilbert_text"
