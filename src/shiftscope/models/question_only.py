"""Question only: softmax regression over the question's words, fitted on the train split; sees no image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..audit.words import words_of
from ._bag import Bag, BagRegression, fit
from ._counts import answered, chosen_by
from ._model import Prompt, Reply, Setting

LOOKS = False  # at no picture


@dataclass(frozen=True, slots=True, eq=False)
class QuestionOnly:
    """A regression on words and neighbouring pairs of words."""

    fitted: BagRegression

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return self.fitted.replies([_bag(p.question.text) for p in batch])


def build(target: str, setting: Setting) -> QuestionOnly:
    learned = ((q.text, answer) for q, answer in answered(setting, "question_only"))
    choosing = ((q.text, answer) for q, answer in chosen_by(setting))
    return QuestionOnly(fit(learned, choosing, bag=_bag, name="question_only", seed=setting.options.seed))


def _bag(text: str) -> Bag:
    words = words_of(text)
    return frozenset((*words, *map(" ".join, pairwise(words))))
