"""Counting answers: the commonest of some, with ties broken by spelling so that order does not matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..answer import Answer, spell
from ..errors import UserError
from ..question import Question
from ._model import Setting


class Tally:
    """How often each answer was given."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._typed: dict[str, Answer] = {}

    def add(self, answer: Answer) -> None:
        said = spell(answer)
        self._counts[said] += 1
        self._typed.setdefault(said, answer)

    def commonest(self) -> tuple[Answer, float]:
        """The answer given most often, and its share."""
        said, count = min(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return self._typed[said], count / self._counts.total()

    def answers(self) -> tuple[Answer, ...]:
        """Every answer once, by spelling."""
        return tuple(self._typed[said] for said in sorted(self._typed))


def answered(setting: Setting, model: str) -> Iterable[tuple[Question, Answer]]:
    """The training questions with their answers; none at all is an error."""
    found = False
    for question in setting.train():
        if question.answer is not None:
            found = True
            yield question, question.answer
    if not found:
        raise UserError(
            f"model {model!r} learns from answered questions and there are none; "
            "name a dataset with a train split: --learn-from DIR"
        )


def chosen_by(setting: Setting) -> Iterable[tuple[Question, Answer]]:
    """The questions that a model may be chosen by, with their answers; there need not be any."""
    for question in setting.choosing():
        if question.answer is not None:
            yield question, question.answer
