"""ViLBERT (Lu et al., 2019) over several images: per image two streams, words and regions, attend to each other."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..several_images.answering import ImageSetEntry
from ..several_images.training import SIZES, ImageSetStage

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


class TrainedVilbert(TrainedAnswerer):
    KIND: ClassVar[str] = "vilbert"


ENTRY = ImageSetEntry("vilbert", VilbertStage(), TrainedVilbert)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
