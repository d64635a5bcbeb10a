"""Captioned images: captions and foils as arrays, collected in the processes that make the data, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from ...question import Question
from ...scene import Scene
from ...shortcuts.tokens import tokenize
from ..end_to_end.questions import Ints
from .captions import write_captions
from .questions import ImageSetQuestions

UNKNOWN_WORDS = (-1, -1)  # of a caption that is not true, by nobody knows which words


@dataclass(frozen=True, slots=True, eq=False)
class CaptionedImages(ImageSetQuestions):
    """Captions as questions whose answer is whether they are true of the image."""

    # [caption, 2] the first exchanged word and the first behind it; the same where none is
    exchanged: Ints = field(default_factory=lambda: np.zeros((0, 2), np.int64))

    @classmethod
    def caption(cls, scenes: Sequence[Scene], each: int) -> Self:
        """So many captions of each, and as many foils; without these, captions of another of the scenes."""
        written = [write_captions(scene, each) for scene in scenes]
        others = written[1:] + written[:1]
        told, exchanged = [], []
        for scene, own, other in zip(scenes, written, others, strict=True):
            elsewhere = [caption for caption, _ in other] if len(scenes) > 1 else []
            for n, (caption, foil) in enumerate(own):
                told.append(Question(f"{scene.id}:{n}", caption, scenes=(scene.id,), answer=True))
                exchanged.append((0, 0))
                if foil or elsewhere:
                    text = foil or elsewhere[n % len(elsewhere)]
                    told.append(Question(f"{scene.id}:{n}:foil", text, scenes=(scene.id,), answer=False))
                    exchanged.append(find_exchanged(caption, foil) if foil else UNKNOWN_WORDS)
        return replace(cls.collect(scenes, told), exchanged=np.array(exchanged, np.int64).reshape(-1, 2))

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        joined = super(CaptionedImages, cls).join(pieces)
        return replace(joined, exchanged=np.concatenate([piece.exchanged for piece in pieces]))


def find_exchanged(caption: str, foil: str) -> tuple[int, int]:
    """Where the foil's words differ from the caption's: the first of them, and the first behind."""
    one, other = tokenize(caption), tokenize(foil)
    start = next(k for k, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    most, same = min(len(one), len(other)) - start - 1, 0
    while same < most and one[-1 - same] == other[-1 - same]:
        same += 1
    return start, len(other) - same
