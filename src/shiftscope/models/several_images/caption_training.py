"""How a model over several images is pretrained: on captions of single images, before it learns to answer.

Of each image it is shown captions and as many foils. In half of the captions some words are hidden, which it is to
tell; of all others it tells whether they are true, and which regions each phrase is true of, if any. In an open
vocabulary, which has no foils, captions of another image stand for them, and of what they speak nobody knows.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...answer import spell
from ...batch_mean import average_cross_entropy
from ...errors import UserError
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import IMAGES, Counts, Losses, SplitData, TrainRecipe
from ..end_to_end.pretrained import PRETRAINED, START
from ..end_to_end.questions import UNSEEN, AnswererConfig
from ..end_to_end.training import AnswerTraining
from .captioned_images import CaptionedImages
from .captions import NO_PHRASE, RULE
from .training import CAPTIONS, IMAGE_TOKENS, ImageSetExamples, ImageSetStage

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

EACH = 16  # captions of an image
MOST = 1000
TRUTHS = (spell(False), spell(True))  # of a caption


class CaptionStage(ImageSetStage):
    """What comes before a stage that answers, of the same sizes and looking through the same backbone."""

    name = CAPTIONS
    supervision = frozenset((IMAGES,))
    lacks = f"scene graphs to write captions from; begin without them by --set {CAPTIONS}=0"
    recipe = TrainRecipe(epochs=12, batch=1024, lr=5e-4, weight_decay=0.01, warmup=0.05, clip=1.0)

    def __init__(self, answerer: ImageSetStage, each: int) -> None:
        self.answerer, self.each = answerer, each
        self.sizes, self.backbone, self.captured = answerer.sizes, answerer.backbone, answerer.captured
        self.compiled = tuple(f"reader.{name}" for name in answerer.compiled)

    def identify(self) -> dict[str, Any]:
        return super().identify() | self._tell_captions()

    def describe(self, schema: Schema) -> dict[str, Any]:
        return super().describe(schema) | self._tell_captions()

    def _tell_captions(self) -> dict[str, Any]:
        """What the weights depend on besides what any stage tells."""
        return {CAPTIONS: self.each, "rule": RULE, START: self.answerer.start}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> CaptionedImages:
        return CaptionedImages.caption(scenes, self.each)

    def join(self, pieces: Sequence[Any]) -> CaptionedImages:
        return CaptionedImages.join(pieces)

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> AnswererConfig:
        return replace(super().fit_vocabulary(schema, train), answers=TRUTHS)

    def build(self, config: AnswererConfig, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .caption_reader import CaptionReader

        network: Any = self.answerer.build_network(config)
        return CaptionReader(network)

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        self.answerer.load_pretrained(module.reader, config)

    def make_examples(self, data: SplitData, config: AnswererConfig, device: str) -> CaptionExamples:
        tokens = self.see(data, config, device).supervision[IMAGE_TOKENS]
        return CaptionExamples(data.supervision[self.name], config, tokens, device)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        scores = module(batch)
        truth = average_cross_entropy(scores.truth.float(), scores.is_true, UNSEEN)
        words = average_cross_entropy(scores.words.flatten(0, 1).float(), scores.missing.flatten(), UNSEEN)
        points = average_cross_entropy(scores.points.flatten(0, 1).float(), scores.meant.flatten(0, 1), UNSEEN)
        return truth + words + points, {"truth": truth, "words": words, "points": points}

    def measure(self, module: Any, batch: Any) -> Counts:
        scores = module(batch)
        told = scores.words.argmax(-1) == scores.missing
        return {
            "truth": ((scores.truth.argmax(-1) == scores.is_true).sum(), (scores.is_true != UNSEEN).sum()),
            "words": (told.sum(), (scores.missing != UNSEEN).sum()),
            "points": scores.count_found(),
        }

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return sum(shares.values())


class CaptionExamples(ImageSetExamples):
    """Captions, what their phrases are true of, and which regions show it."""

    def __init__(self, captions: CaptionedImages, config: AnswererConfig, images: Tensor, device: str) -> None:
        import torch

        super().__init__(captions, config, images, device)
        self.shown = find_shown(captions, images if self.images is None else self.images)
        things = np.pad(captions.tabulate_things(), ((0, 0), (0, 1)), constant_values=NO_PHRASE)  # END has a token, too
        if not (self.shown != UNSEEN).any():  # else words could only learn to point nowhere
            things = np.full_like(things, NO_PHRASE)
        self.things = torch.from_numpy(things).to(device)

    def batch(self, rows: torch.Tensor) -> Any:
        from .caption_reader import CaptionBatch

        plain = super().batch(rows)
        held: dict[str, Any] = {f.name: getattr(plain, f.name) for f in fields(plain)}
        here = rows.to(self.device, non_blocking=True)  # to wait for it is to wait for the step before
        return CaptionBatch(
            **held, things=self.things[here, : plain.words.shape[1]], shown=self.shown[self.rows[here, 0]]
        )


def find_shown(captions: CaptionedImages, images: Tensor) -> Tensor:
    """[image, region] number of the thing that each shows, UNSEEN for none; no region where pixels are seen."""
    import torch

    from ..nsvqa.scene_parser.decode import MATCH, match_boxes
    from .network import CORNERS

    if images.dtype == torch.uint8:
        return torch.zeros(len(images), 0, dtype=torch.int64, device=images.device)
    left, top, right, bottom, there = images[..., -CORNERS - 1 :].float().unbind(-1)
    regions, true = torch.stack([left, top, right - left, bottom - top], -1), torch.from_numpy(captions.boxes)
    true = true.to(regions.device)
    return match_boxes(true, true[..., 2] > 0, regions, there > 0, MATCH)


class ImageSetTraining(AnswerTraining):
    """Captions, then questions; with `--set captions=0`, or weights that were pretrained elsewhere, questions alone."""

    settings = (CAPTIONS,)

    def __init__(self, stage: ImageSetStage) -> None:
        self.stages = list_stages(stage, EACH)

    def configure(self, settings: Mapping[str, str]) -> Self:
        last, made = self.stages[-1], copy.copy(self)
        assert isinstance(last, ImageSetStage)
        last = last.configure({k: v for k, v in settings.items() if k != CAPTIONS})
        made.stages = list_stages(last, read_count(settings[CAPTIONS]) if CAPTIONS in settings else EACH)
        return made


def list_stages(stage: ImageSetStage, each: int) -> tuple[ImageSetStage, ...]:
    """The stage behind one that learns from so many captions of each image, if there are any."""
    begun = each == 0 or bool(getattr(stage, PRETRAINED, ""))
    first, last = copy.copy(stage), copy.copy(stage)
    first.needs, last.needs = (), () if begun else (CAPTIONS,)  # captions begin as an answerer without them does
    return (last,) if begun else (CaptionStage(first, each), last)


def read_count(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST:
        raise UserError(f"setting {CAPTIONS} must be a whole number from 0 to {MOST}, not {text!r}")
    return int(text)
