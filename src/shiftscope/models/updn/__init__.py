"""UpDn (Anderson et al., 2018): the question attends to regions once, from the top down."""

from types import MappingProxyType
from typing import Any, ClassVar

from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import SIGMOID, AnswererConfig
from ..region_vqa.training import RegionStage


class UpDnStage(RegionStage):
    answer_loss = SIGMOID
    sizes = MappingProxyType({"words": 300, "hidden": 512, "visual": 512, "dropout": 0.1})

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import UpDn

        return UpDn(config)


class TrainedUpDn(TrainedAnswerer):
    KIND: ClassVar[str] = "updn"


ENTRY = AnswererEntry("updn", UpDnStage(), TrainedUpDn)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
