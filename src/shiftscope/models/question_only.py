"""Question only: softmax regression over the question's words, fitted on the train split; sees no image."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..model import TEXT, ModelSetting, ModelTraits, Prompt, Response
from ..shortcuts.question_types import tokenize
from ._baselines import Bag, BagRegression, fit_bag_regression, read_training_answers, read_validation_answers

TRAITS = ModelTraits(reads=frozenset((TEXT,)), learns=True)


@dataclass(frozen=True, slots=True, eq=False)
class QuestionOnly:
    """A regression on words and neighbouring pairs of words."""

    fitted: BagRegression

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return self.fitted.predict_bags([_make_bag(p.question.text) for p in batch])


def build(target: str, setting: ModelSetting) -> QuestionOnly:
    learned = ((q.text, answer) for q, answer in read_training_answers(setting, "question_only"))
    choosing = ((q.text, answer) for q, answer in read_validation_answers(setting))
    return QuestionOnly(
        fit_bag_regression(learned, choosing, bag=_make_bag, name="question_only", seed=setting.options.seed)
    )


def _make_bag(text: str) -> Bag:
    words = tokenize(text)
    return frozenset((*words, *map(" ".join, pairwise(words))))
