"""BAN (Kim et al., 2018): bilinear attention between every word and every region, in glimpses."""

from types import MappingProxyType
from typing import Any, ClassVar

from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import SIGMOID, AnswererConfig
from ..region_vqa.training import RegionStage


class BanStage(RegionStage):
    answer_loss = SIGMOID
    compiled = ("see", "join")
    sizes = MappingProxyType({"words": 300, "hidden": 512, "visual": 512, "glimpses": 4, "dropout": 0.1})

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import Ban

        return Ban(config)


class TrainedBan(TrainedAnswerer):
    KIND: ClassVar[str] = "ban"


ENTRY = AnswererEntry("ban", BanStage(), TrainedBan)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
