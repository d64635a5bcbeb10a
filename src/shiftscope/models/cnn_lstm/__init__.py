"""CNN+LSTM: image features as one vector beside the question's last state; it can hardly relate objects."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import AnswerStage


class CnnLstmStage(AnswerStage):
    recipe = replace(AnswerStage.recipe, epochs=20)
    debiasable = True
    sizes = MappingProxyType({"words": 256, "hidden": 512, "image": 512, "answers": 1024})

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import CnnLstmAnswerer

        return CnnLstmAnswerer(config)


class TrainedCnnLstm(TrainedAnswerer):
    KIND: ClassVar[str] = "cnn_lstm"


ENTRY = AnswererEntry("cnn_lstm", CnnLstmStage(), TrainedCnnLstm)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
