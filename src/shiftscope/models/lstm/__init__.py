"""LSTM: reads the question and sees no image; what it scores is what questions give away."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from ...trainable import ANSWERS
from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import NOTHING, AnswerStage


class LstmStage(AnswerStage):
    supervision = frozenset((ANSWERS,))
    backbone = NOTHING
    recipe = replace(AnswerStage.recipe, epochs=15)
    debiasable = True
    sizes = MappingProxyType({"words": 256, "hidden": 512, "answers": 512})

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import LstmAnswerer

        return LstmAnswerer(config)


class TrainedLstm(TrainedAnswerer):
    KIND: ClassVar[str] = "lstm"


ENTRY = AnswererEntry("lstm", LstmStage(), TrainedLstm)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
