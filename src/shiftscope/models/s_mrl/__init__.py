"""S-MRL (Cadene et al., 2019): question and each region fused bilinearly, then the largest values."""

from types import MappingProxyType
from typing import Any, ClassVar

from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..region_vqa.training import RegionStage


class SMrlStage(RegionStage):
    compiled = ("features.forward", "join")
    sizes = MappingProxyType(
        {"words": 300, "hidden": 512, "visual": 512, "fusion": 512, "chunks": 16, "rank": 5, "dropout": 0.1}
    )

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import SMrl

        return SMrl(config)


class TrainedSMrl(TrainedAnswerer):
    KIND: ClassVar[str] = "s_mrl"


ENTRY = AnswererEntry("s_mrl", SMrlStage(), TrainedSMrl)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
