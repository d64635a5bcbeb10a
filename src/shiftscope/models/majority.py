"""Majority: the answer that training questions have most often, whatever is asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..model import ModelSetting, ModelTraits, Prompt, Response
from ._baselines import TrainingAnswerCounts, read_training_answers

TRAITS = ModelTraits(reads=frozenset(), learns=True)


@dataclass(frozen=True, slots=True)
class Majority:
    """One response for everything."""

    response: Response

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return [self.response] * len(batch)


def build(target: str, setting: ModelSetting) -> Majority:
    return Majority(TrainingAnswerCounts(a for _, a in read_training_answers(setting, "majority")).respond())
