"""Question only: softmax regression over the question's words, fitted on the train split; sees no image."""

from itertools import pairwise

from ..model import TEXT, ModelSetting, ModelTraits
from ..shortcuts.tokens import tokenize
from ._baselines import Bag, BagModel, fit_bag_regression, read_training_answers, read_validation_answers

TRAITS = ModelTraits(reads=frozenset((TEXT,)), learns=True)


def build(target: str, setting: ModelSetting) -> BagModel:
    learned = ((q.text, answer) for q, answer in read_training_answers(setting, "question_only"))
    choosing = ((q.text, answer) for q, answer in read_validation_answers(setting))
    fitted = fit_bag_regression(learned, choosing, bag=_make_bag, name="question_only", seed=setting.options.seed)
    return BagModel(fitted, lambda prompt: _make_bag(prompt.question.text))


def _make_bag(text: str) -> Bag:
    """Words and neighbouring pairs of words."""
    words = tokenize(text)
    return frozenset((*words, *map(" ".join, pairwise(words))))
