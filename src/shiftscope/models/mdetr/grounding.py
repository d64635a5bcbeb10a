"""Grounding as arrays: which words of a question speak of which things of its image, and where these are.

It is collected in the processes that make the data, without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ...question import Question
from ...scene import Scene
from ...shortcuts.tokens import tokenize_texts
from ..end_to_end.questions import AnsweredQuestions
from ..nsvqa.labels import SceneLabels, join_labels, label_scenes

Ints = npt.NDArray[np.int64]
BITS = 62  # things of an image that a mask can name


@dataclass(frozen=True, slots=True, eq=False)
class GroundedQuestions:
    """Questions with their answers, the phrases in them, and the true boxes of all images.

    A phrase names objects, or parts, of its image by a mask: bit i for the i-th; parts are numbered through the image.
    """

    questions: AnsweredQuestions
    labels: SceneLabels
    question: Ints  # [phrase] number of its question
    first: Ints  # [phrase] its first word
    words: Ints  # [phrase] how many words it has
    objects: Ints  # [phrase] mask
    parts: Ints  # [phrase] mask

    def __len__(self) -> int:
        return len(self.questions)

    @classmethod
    def collect(cls, scenes: Sequence[Scene], questions: Sequence[Question]) -> Self:
        """Those that have an answer, as AnsweredQuestions has them."""
        kept = [q for q in questions if q.answer is not None]
        numbers = {scene.id: _number_parts(scene) for scene in scenes}
        phrases = [(k, q, phrase) for k, q in enumerate(kept) for phrase in q.grounding]
        before = tokenize_texts([q.text[: phrase.start] for _, q, phrase in phrases])
        inside = tokenize_texts([q.text[phrase.start : phrase.end] for _, q, phrase in phrases])
        parts = [[numbers[q.scenes[0]][part] for part in phrase.parts] for _, q, phrase in phrases]
        return cls(
            AnsweredQuestions.collect(scenes, kept),
            label_scenes(scenes),
            np.array([k for k, _, _ in phrases], np.int64),
            np.diff(before.at),
            np.diff(inside.at),
            np.array([_make_mask(phrase.objects) for _, _, phrase in phrases], np.int64),
            np.array([_make_mask(some) for some in parts], np.int64),
        )

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        past = np.cumsum([0, *map(len, pieces)])
        return cls(
            AnsweredQuestions.join([piece.questions for piece in pieces]),
            join_labels([piece.labels for piece in pieces]),
            np.concatenate([piece.question + start for piece, start in zip(pieces, past[:-1], strict=True)]),
            *(np.concatenate([getattr(piece, name) for piece in pieces]) for name in PHRASE_FIELDS),
        )

    def tabulate(self) -> tuple[Ints, Ints]:
        """[question, phrase, 2] first word and how many, and [question, phrase, 2] masks of objects and of parts.

        Rows of no phrase have no words.
        """
        counts = np.bincount(self.question, minlength=len(self))
        column = np.arange(len(self.question)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (len(self), max(1, int(counts.max(initial=0))), 2)
        spans, masks = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        spans[self.question, column] = np.stack([self.first, self.words], 1)
        masks[self.question, column] = np.stack([self.objects, self.parts], 1)
        return spans, masks


PHRASE_FIELDS = ("first", "words", "objects", "parts")


def _number_parts(scene: Scene) -> dict[tuple[int, str], int]:
    named = [(i, part.name) for i, thing in enumerate(scene.objects) for part in thing.parts]
    return {part: k for k, part in enumerate(named)}


def _make_mask(numbers: Sequence[Any]) -> int:
    return sum(1 << number for number in set(numbers) if number < BITS)
