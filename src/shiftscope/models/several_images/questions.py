"""Questions about several images each, as a model learns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...question import Question
from ...shortcuts.tokens import TokenizedTexts
from ..end_to_end.questions import AnsweredQuestions, Ints

NO_IMAGE = -1  # behind the last image of a question that has fewer than others


@dataclass(frozen=True, slots=True, eq=False)
class ImageSetQuestions(AnsweredQuestions):
    """The same, but `images` is [question, place], NO_IMAGE behind the last."""

    @classmethod
    def locate_images(cls, questions: Sequence[Question], place: Mapping[str, int]) -> Ints:
        for q in questions:
            if not q.scenes or q.action:
                what = "told an action" if q.action else "about no image"
                raise UserError(f"question {q.id} is {what}; this model learns from images as they are shown")
        found = np.full((len(questions), max((len(q.scenes) for q in questions), default=1)), NO_IMAGE, np.int64)
        for row, q in zip(found, questions, strict=True):
            row[: len(q.scenes)] = [place[name] for name in q.scenes]
        return found

    @classmethod
    def join_images(cls, images: Sequence[Ints], starts: Sequence[int]) -> Ints:
        widest = max(some.shape[1] for some in images)
        counted = [
            np.where(some == NO_IMAGE, NO_IMAGE, some + start) for some, start in zip(images, starts, strict=True)
        ]
        return np.concatenate(
            [np.pad(some, ((0, 0), (0, widest - some.shape[1])), constant_values=NO_IMAGE) for some in counted]
        )

    def take(self, rows: npt.NDArray[np.int64]) -> Self:
        """Some of the questions, about the same images, with the words and answers of these questions alone."""
        starts, lengths = self.texts.at[:-1][rows], np.diff(self.texts.at)[rows]
        at = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(starts - at[:-1], lengths) + np.arange(at[-1])
        words, codes = np.unique(self.texts.codes[places], return_inverse=True)
        answers, numbers = np.unique(self.answers[rows], return_inverse=True)
        return replace(
            self,
            texts=TokenizedTexts(tuple(self.texts.vocabulary[k] for k in words), codes.astype(np.int32), at),
            answer_words=tuple(self.answer_words[k] for k in answers),
            answers=numbers.astype(np.int64),
            images=self.images[rows],
            about_parts=self.about_parts[rows],
        )
