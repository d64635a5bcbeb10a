"""How a model over several images is trained: what is seen of an image is computed once and stays on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...errors import UserError
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import ANSWERS, IMAGES, Rows, SplitData, TrainRecipe
from ..end_to_end.pretrained import DEEPNET, START
from ..end_to_end.questions import UNKNOWN, AnswererConfig
from ..end_to_end.training import ANSWERER, NOTHING, STEP, AnswerExamples, AnswerStage
from .questions import NO_IMAGE, ImageSetQuestions

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

SIZES = MappingProxyType(
    {"width": 256, "heads": 4, "inside": 1024, "layers": 6, "set_layers": 2, "patch": 40, "dropout": 0.1}
)
CAPTIONS = "captions"  # the part that comes before one that answers
CAPTIONED = MappingProxyType({CAPTIONS: CAPTIONS, ANSWERER: ANSWERER})
IMAGE_TOKENS = "image_tokens"  # in a split's supervision: what was computed of its images before
TOGETHER = 16  # batches sorted together, by images and then by length: a quarter of the lengths each, if in fours


class ImageSetStage(AnswerStage):
    """From a question and several images to an answer; `backbone=scratch` sees pixels, cut into patches."""

    sizes: Mapping[str, float] = SIZES
    start = DEEPNET  # how layers begin that nothing was learned with before
    captured = True
    compiled: tuple[str, ...] = ("settle",)
    recipe = TrainRecipe(epochs=8, batch=256, lr=3e-4, weight_decay=0.01, warmup=0.05, clip=1.0, tail=4)

    def configure(self, settings: Mapping[str, str]) -> Self:
        from ..end_to_end.image_features import HUB

        backbone = settings.get("backbone", self.backbone)
        if backbone.startswith(HUB):
            raise UserError(
                f"models over several images look at a scene parser's regions, or at pixels; name its folder, or "
                f"scratch, not {backbone!r}"
            )
        made = super().configure(settings)
        made.captured = self.captured
        return made

    def describe(self, schema: Schema) -> dict[str, Any]:
        return {START: self.start} | super().describe(schema)

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> ImageSetQuestions:
        return ImageSetQuestions.collect(scenes, questions)

    def join(self, pieces: Sequence[Any]) -> ImageSetQuestions:
        return ImageSetQuestions.join(pieces)

    def build(self, config: AnswererConfig, parts: Mapping[str, nn.Module]) -> nn.Module:
        """With what was learned from captions, where that is given."""
        module = super().build(config, parts)
        if CAPTIONS in parts:
            network: Any = module
            network.begin_from(parts[CAPTIONS].reader)
        return module

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        if not self.needs:
            self._begin(module)
        if module.features is not None:
            from ..end_to_end.image_features import load_scene_parser

            module.features.load_state_dict(load_scene_parser(config.features, self.backbone).state_dict())

    def _begin(self, module: Any) -> None:
        """What is the same however weights begin, and how small branches are."""
        import torch

        with torch.no_grad():
            module.word_table[UNKNOWN] = 0.0  # a word that training never showed says nothing
        if self.start == DEEPNET:
            from ..end_to_end.initial_weights import shrink_branches

            shrink_branches(module)

    def see(self, data: SplitData, config: AnswererConfig, device: str) -> SplitData:
        """With what there is to see of each image, as one tensor: regions, or the pixels as they are."""
        if IMAGES not in self.supervision or IMAGE_TOKENS in data.supervision:
            return data
        assert data.pixels is not None
        tokens = data.pixels
        if "scene_parser" in config.features:
            from ..end_to_end.image_features import load_scene_parser
            from ..nsvqa.scene_parser.regions import describe_all_objects

            tokens = describe_all_objects(load_scene_parser(config.features, self.backbone), data.pixels, device)
        return replace(data, supervision={**data.supervision, IMAGE_TOKENS: tokens})

    def make_examples(self, data: SplitData, config: AnswererConfig, device: str) -> ImageSetExamples:
        tokens = self.see(data, config, device).supervision[IMAGE_TOKENS] if IMAGES in self.supervision else None
        return ImageSetExamples(data.supervision[self.name], config, tokens, device)

    def _describe_features(self, schema: Schema) -> dict[str, Any]:
        from ..end_to_end.image_features import SCRATCH

        if self.backbone == SCRATCH:
            return {"pixels": int(self.sizes["patch"]), "trained": True}
        return super()._describe_features(schema)


class TextOnlyStage(ImageSetStage):
    """The same network sees one image of zeros, whatever is asked about: not even how many images there are."""

    supervision = frozenset((ANSWERS,))
    backbone = NOTHING

    @staticmethod
    def drop_patch(sizes: Mapping[str, float]) -> Mapping[str, float]:
        """The sizes of a network that cuts no image into patches."""
        return MappingProxyType({name: size for name, size in sizes.items() if name != "patch"})


class ImageSetExamples(AnswerExamples):
    """Questions, and what there is to see in the images of each."""

    def __init__(
        self, questions: ImageSetQuestions, config: AnswererConfig, images: Tensor | None, device: str
    ) -> None:
        import torch

        super().__init__(questions, config, None, device, TOGETHER)
        self.images = None if images is None else cut_absent(images)
        rows = questions.images if images is not None else np.zeros((len(questions), 1), np.int64)
        self.rows = torch.from_numpy(rows).to(device)  # [question, place] its images
        self.counts = torch.from_numpy((rows != NO_IMAGE).sum(1))  # [question] how many, on the host

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """Questions about as many images together, and of these such of similar length: each place costs a network."""
        from ..nsvqa.question_parser.loss import make_batches

        key = self.counts * (1 + self.lengths.max()) + self.lengths
        return make_batches(key.numpy(), batch, random, self.together)

    def batch(self, rows: torch.Tensor) -> Any:
        from .network import ImageSetBatch

        longest = min(-(-int(self.lengths[rows].max()) // STEP) * STEP, self.words.shape[1])
        here = rows.to(self.device, non_blocking=True)
        which = self.rows[here, : int(self.counts[rows].max())]
        images = None
        if self.images is not None:
            images = self.images[which.clamp(min=0).to(self.images.device)].to(self.device)
        return ImageSetBatch(
            self.words[here, :longest].long(), images, which != NO_IMAGE, self.targets[here], self.about_parts[here]
        )


def cut_absent(images: Tensor) -> Tensor:
    """Regions without the places that are empty in every image, the last; pixels as they are."""
    import torch

    if images.dtype == torch.uint8:
        return images
    there = (images[..., -1] > 0).any(0).nonzero()
    return images[:, : int(there.max()) + 1 if len(there) else 1]
