"""Random over all answers: every answer that the data's vocabulary has is as likely, whatever is asked.

What CLEVR_HYP calls random (section 4.1): one of 27, yes or no, 0 to 9 and 15 values. `random` knows the question's
type and draws among the answers that it admits.
"""

from collections.abc import Sequence

from ..answer import Answer
from ..model import TEXT, ModelSetting, ModelTraits, Prompt, Response
from ..rng import derive
from ._baselines import TrainingAnswerCounts, read_training_answers

TRAITS = ModelTraits(reads=frozenset((TEXT,)), learns=True)
NUMBERS = 10  # 0 to 9, as in the paper


class UniformRandomModel:
    """The answer to a question depends on the seed and the question's id alone."""

    def __init__(self, setting: ModelSetting) -> None:
        self._setting = setting
        self._answers: tuple[Answer, ...] = ()  # read when first needed

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        answers = self._answers = self._answers or self._list_answers()
        seed, size = self._setting.options.seed, len(answers)
        drawn = (int(derive("random_uniform", seed, prompt.question.id).integers(size)) for prompt in batch)
        return [Response(answer=answers[k], confidence=1 / size) for k in drawn]

    def _list_answers(self) -> tuple[Answer, ...]:
        """Of a closed vocabulary all; of an open one those that training questions had."""
        schema = self._setting.schema
        if schema.closed:
            values = (value for a in (*schema.attributes, *schema.part_attributes) for value in a.values)
            return (False, True, *range(NUMBERS), *dict.fromkeys(values))
        answers = (answer for _, answer in read_training_answers(self._setting, "random_uniform"))
        return TrainingAnswerCounts(answers).list_answers()


def build(target: str, setting: ModelSetting) -> UniformRandomModel:
    return UniformRandomModel(setting)
