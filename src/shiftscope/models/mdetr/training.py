"""How mDETR is trained: first to find what the words of a question speak of, then to answer, both on every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...batch_mean import divide_by_batch
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...trainable import GROUNDING, SCENES, Counts, Losses, Rows, SplitData, TrainRecipe
from ..end_to_end.answering import TrainedAnswerer
from ..end_to_end.questions import UNSEEN, AnswererConfig
from ..end_to_end.training import (
    ANSWERER,
    STEP,
    AnswerExamples,
    AnswerStage,
    AnswerTraining,
    group_by_image,
    sort_batches,
)
from .grounding import GroundedQuestions

if TYPE_CHECKING:
    import torch
    from torch import nn

FINDER = "grounding"
STILL_GROUNDING = 0.5  # weight of the grounding loss while answers are learned
IMAGE_STEP = 16  # on a GPU, images of a batch are as many as a multiple of it: each number is captured apart
SIZES = {"width": 256, "heads": 8, "text_layers": 2, "image_layers": 2, "layers": 5, "align": 64, "dropout": 0.05}


class GroundingStage(AnswerStage):
    """From a question to the boxes that its words speak of."""

    name = FINDER
    supervision = AnswerStage.supervision | {GROUNDING, SCENES}
    sizes = SIZES
    captured = (
        False  # until a GPU has run test_a_captured_step_finds_what_a_plain_one_finds: nothing else is in the way
    )
    recipe = TrainRecipe(epochs=4, batch=1024, lr=6e-4, weight_decay=0.02, warmup=0.1, clip=1.0)
    check = 10_000

    def build_network(self, config: AnswererConfig) -> nn.Module:
        from .network import Mdetr

        return Mdetr(config)

    def configure(self, settings: Mapping[str, str]) -> Self:
        from ..end_to_end.image_features import refuse_backbone_without_regions

        refuse_backbone_without_regions("mdetr", settings.get("backbone", self.backbone))
        return super().configure(settings)

    def describe(self, schema: Schema) -> dict[str, Any]:
        from .loss import UNSPOKEN, WEIGHTS

        return super().describe(schema) | {"loss": WEIGHTS, "unspoken": UNSPOKEN}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> Any:
        return GroundedQuestions.collect(scenes, questions)

    def join(self, pieces: Sequence[Any]) -> Any:
        return GroundedQuestions.join(pieces)

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> AnswererConfig:
        assert train is not None
        plain = {self.name: train.supervision[self.name].questions}
        return super().fit_vocabulary(schema, replace(train, supervision=plain))

    def load_pretrained(self, module: Any, config: AnswererConfig) -> None:
        from ..end_to_end.image_features import load_scene_parser

        module.features.load_state_dict(load_scene_parser(config.features, self.backbone).state_dict())

    def make_examples(self, data: SplitData, config: AnswererConfig, device: str) -> RegionExamples:
        from ..end_to_end.image_features import load_scene_parser
        from ..nsvqa.scene_parser.regions import find_all_regions

        assert data.pixels is not None
        regions = find_all_regions(load_scene_parser(config.features, self.backbone), data.pixels, device)
        return RegionExamples(data.supervision[self.name], config, regions, device)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        from .loss import compute_grounding_loss

        return compute_grounding_loss(module, batch, module.fuse(batch))

    def measure(self, module: Any, batch: Any) -> Counts:
        from .loss import measure_grounding

        return measure_grounding(module, batch)

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return shares["phrases"]


class GroundedAnswerStage(GroundingStage):
    """The same network, which now answers; it goes on finding boxes."""

    name = ANSWERER
    needs = (FINDER,)
    check = 20_000
    recipe = TrainRecipe(epochs=24, batch=1024, lr=6e-4, weight_decay=0.02, warmup=0.02, clip=1.0, patience=5)

    @property
    def compiled(self) -> tuple[str, ...]:  # type: ignore[override]
        """The layers of this stage, which is long enough to earn back what compiling costs."""
        counts = {"text": "text_layers", "image": "image_layers", "joint": "layers"}
        layers = [f"{stack}.layers.{k}" for stack, name in counts.items() for k in range(int(self.sizes[name]))]
        return tuple(f"{layer}.{method}" for layer in layers for method in ("ask", "think"))

    def identify(self) -> dict[str, Any]:
        return super().identify() | {"still_grounding": STILL_GROUNDING}

    def build(self, config: AnswererConfig, parts: Mapping[str, nn.Module]) -> nn.Module:
        """With what the first stage learned, where that is given."""
        module = self.build_network(config)
        if FINDER in parts:
            module.load_state_dict(parts[FINDER].state_dict())
        return module

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        from torch.nn.functional import nll_loss

        from .loss import compute_grounding_loss

        fused = module.fuse(batch)
        summed = nll_loss(module.answer(fused), batch.targets, ignore_index=UNSEEN, reduction="sum")
        answers = divide_by_batch(summed, (batch.targets != UNSEEN).sum())
        found, terms = compute_grounding_loss(module, batch, fused)
        return answers + STILL_GROUNDING * found, {**terms, "answers": answers.detach()}

    measure = AnswerStage.measure
    choose_by = AnswerStage.choose_by


class RegionExamples(AnswerExamples):
    """Questions with their phrases, and the regions of their images, which were found once."""

    def __init__(self, data: GroundedQuestions, config: AnswererConfig, regions: Any, device: str) -> None:
        import torch

        from .loss import MATCH, PART_MATCH, match_boxes

        super().__init__(data.questions, config, None, device)
        self.image_step = 1 if device == "cpu" else IMAGE_STEP
        self.words = torch.nn.functional.pad(self.words, (0, -self.words.shape[1] % STEP))
        self.regions = regions
        spans, masks = data.tabulate()
        self.spans, self.masks = torch.from_numpy(spans).to(device), torch.from_numpy(masks).to(device)
        boxes, part_boxes = (torch.from_numpy(a).to(device) for a in (data.labels.boxes, data.labels.part_boxes))
        objects = match_boxes(regions.boxes, boxes, MATCH)
        parts = match_boxes(regions.part_boxes, part_boxes, PART_MATCH)
        none, no_part = torch.full_like(objects, -1), torch.full_like(parts, -1)
        self.truth = torch.stack([torch.cat([objects, no_part], 1), torch.cat([none, parts], 1)], -1)
        self.true_boxes = torch.cat([_pick_boxes(boxes, objects), _pick_boxes(part_boxes, parts)], 1)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        """Some batches are about the same images, whose regions are cheap beside words that nobody said."""
        batches = group_by_image(self.image_of.numpy(), batch, random)
        return sort_batches(batches, self.lengths.numpy(), self.together, random)

    def batch(self, rows: torch.Tensor) -> Any:
        import torch

        from .loss import GroundingBatch

        plain = super().batch(rows)
        which, inverse = torch.unique(self.image_of[rows], return_inverse=True)
        which = torch.cat([which, which[:1].expand(-len(which) % self.image_step)])  # no question is about these
        # To wait for them would be to wait for the step before.
        here, images, row = (one.to(self.device, non_blocking=True) for one in (rows, which, inverse))
        held: dict[str, Any] = {f.name: getattr(plain, f.name) for f in fields(plain)}
        held |= {"images": self.regions.take(images), "rows": row}
        held |= {"spans": self.spans[here], "masks": self.masks[here]}
        return GroundingBatch(**held, truth=self.truth[images], true_boxes=self.true_boxes[images])


def _pick_boxes(boxes: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    return boxes.gather(1, numbers.clamp(min=0)[..., None].expand(-1, -1, 4))


class TrainedMdetr(TrainedAnswerer):
    KIND: ClassVar[str] = "mdetr"
    PARTS: ClassVar[Mapping[str, str]] = {FINDER: FINDER, ANSWERER: ANSWERER}


class MdetrTraining(AnswerTraining):
    """Two stages of one network."""

    folder = TrainedMdetr

    def __init__(self) -> None:
        self.stages = (GroundingStage(), GroundedAnswerStage())
