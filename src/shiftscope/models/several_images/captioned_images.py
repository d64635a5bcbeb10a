"""Captioned images: captions and foils as arrays, collected in the processes that make the data, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from ...question import Question
from ...scene import Scene
from ...shortcuts.tokens import tokenize
from ..end_to_end.questions import Ints
from .captions import NO_PHRASE, write_captions
from .questions import ImageSetQuestions

Floats = npt.NDArray[np.float32]
MOST_THINGS = 1 << 62  # sets of more things than these bits have are not known


@dataclass(frozen=True, slots=True, eq=False)
class CaptionedImages(ImageSetQuestions):
    """Captions as questions whose answer is whether they are true of the image."""

    # of each word of the texts, the things in its image that its phrase is true of, by their bits; or NO_PHRASE
    things: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    # [image, thing, 4] left, top, width and height as shares of the image; all zero where it is not known
    boxes: Floats = field(default_factory=lambda: np.zeros((0, 0, 4), np.float32))

    @classmethod
    def caption(cls, scenes: Sequence[Scene], each: int) -> Self:
        """So many captions of each, and as many foils; without these, captions of another of the scenes."""
        written = [write_captions(scene, each) for scene in scenes]
        others = written[1:] + written[:1]
        told: list[Question] = []
        things: list[int] = []
        for scene, own, other in zip(scenes, written, others, strict=True):
            open_vocabulary = not any(foil for _, foil in own)
            elsewhere = [caption.text for caption, _ in other] if open_vocabulary and len(scenes) > 1 else []
            for n, (caption, foil) in enumerate(own):
                told.append(Question(f"{scene.id}:{n}", caption.text, scenes=(scene.id,), answer=True))
                things += caption.things
                if foil or elsewhere:
                    text = foil.text if foil else elsewhere[n % len(elsewhere)]
                    told.append(Question(f"{scene.id}:{n}:foil", text, scenes=(scene.id,), answer=False))
                    things += foil.things if foil else [NO_PHRASE] * len(tokenize(text))
        return replace(
            cls.collect(scenes, told),
            things=np.array([found if found < MOST_THINGS else NO_PHRASE for found in things], np.int64),
            boxes=_pad_boxes([locate_things(scene) for scene in scenes]),
        )

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        joined = super(CaptionedImages, cls).join(pieces)
        return replace(
            joined,
            things=np.concatenate([piece.things for piece in pieces]),
            boxes=_pad_boxes([rows for piece in pieces for rows in piece.boxes]),
        )

    def tabulate_things(self) -> Ints:
        """[caption, token] the things that the phrase of each word is true of."""
        lengths = np.diff(self.texts.at)
        table = np.full((len(lengths), int(lengths.max(initial=0))), NO_PHRASE, np.int64)
        table[np.arange(table.shape[1]) < lengths[:, None]] = self.things
        return table


def locate_things(scene: Scene) -> Floats:
    """[thing, 4] its box, as shares of the image."""
    found = np.array([thing.box or (0, 0, 0, 0) for thing in scene.objects], np.float32).reshape(-1, 4)
    found[:] = 0 if scene.size is None else found / (*scene.size, *scene.size)
    return found


def _pad_boxes(rows: Sequence[Floats]) -> Floats:
    """[image, thing, 4] with as many things as the image that has most of them."""
    most = max(map(len, rows), default=0)
    padded = [np.pad(some, ((0, most - len(some)), (0, 0))) for some in rows]
    return np.array(padded, np.float32).reshape(len(rows), most, 4)
