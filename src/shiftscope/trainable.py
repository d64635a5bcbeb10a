"""Trainable: what a model's file gives so that `shiftscope train` can train it.

A model consists of parts, each trained in a stage of its own: a scene parser and a question parser, or one
network that answers. A file of `models/` names its Trainable in `TRAITS`; training finds it there, so that
neither the loop nor the feed knows any model. Importing this file imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from .batch_mean import divide_by_batch
from .errors import UserError
from .question import Question
from .scene import Scene
from .schema import Schema
from .trained_folder import LONGEST_ERROR, TrainedFolder

if TYPE_CHECKING:
    import torch
    from torch import nn

Rows = npt.NDArray[np.int64]
Counts = Mapping[str, tuple[Any, Any]]  # name → how many are right, of how many; numbers or tensors of one
Losses = Mapping[str, "torch.Tensor"]
ProgressCallback = Callable[[int, int, str], None]  # done, of how many, and in words how it goes

IMAGES, SCENES, PROGRAMS, ANSWERS = "images", "scenes", "programs", "answers"  # supervision
ACTIONS = "actions"  # questions about the outcome of actions: with ANSWERS or PROGRAMS
GROUNDING = "grounding"  # of questions, which costs time: with ANSWERS or PROGRAMS


@dataclass(frozen=True, slots=True)
class TrainRecipe:
    """How a part is trained: AdamW, a rate that rises and falls (`train/schedule.py`), averaged weights."""

    epochs: int  # with patience, the most; with a tail, those of the cosine
    batch: int  # over all devices
    lr: float  # at its highest
    weight_decay: float = 0.05  # not of biases and norms
    warmup: float = 0.05  # share of the steps in which the rate rises
    ema: float = 0.998  # what a step leaves of the moving average of the weights
    clip: float = 5.0  # longest gradient
    patience: int = 0  # epochs that bring next to nothing, after which the rate falls; 0: as a cosine over all epochs
    tail: int = 0  # epochs that follow a cosine at the lowest rate, at most: as many as validation still rises in

    def to_json(self) -> dict[str, Any]:
        """Without patience and tail it reads as it did before there were any: what was trained by it is still known."""
        return {name: value for name, value in asdict(self).items() if name not in ("patience", "tail") or value}


class ExampleSet(Protocol):
    """Examples that are made into a batch by their numbers; the batch lies on the device."""

    def __len__(self) -> int: ...

    def epoch(self, batch: int, random: np.random.Generator) -> Sequence[Rows]:
        """The rows of each whole batch of an epoch, in random order."""
        ...

    def batch(self, rows: torch.Tensor) -> Any: ...


@runtime_checkable
class Curriculum(Protocol):
    """Examples that are not all learned from at once."""

    def lesson(self, done: float) -> ExampleSet:
        """What an epoch learns from that begins when this share of the training is done; its epochs are as long."""
        ...


def check_heads(sizes: Mapping[str, float]) -> None:
    """Refuse a width that the heads cannot share, where there are both."""
    width, heads = (int(sizes.get(name, 0)) for name in ("width", "heads"))
    if heads and width % heads:
        raise UserError(f"a width of {width} is not a multiple of {heads} heads; set both")


def shuffle_batches(size: int, batch: int, random: np.random.Generator) -> list[Rows]:
    """An epoch whose batches are drawn from all examples alike."""
    rows = random.permutation(size)[: size - size % batch]
    return list(rows.reshape(-1, batch))


def order_by_image(image_of: Rows, images: int, random: np.random.Generator) -> Rows:
    """Examples so that those of one image follow each other, the images in random order."""
    return np.argsort(random.permutation(images)[image_of], kind="stable")


def count_right_answers(found: torch.Tensor, batch: Any) -> Counts:
    """How many answers are the `targets`: of all, and of the questions about whole objects and `about_parts` apart."""
    right, parts = score_answers(found, batch), batch.about_parts
    return {
        "right": (right.sum(), len(right)),
        "object_questions": ((right * ~parts).sum(), (~parts).sum()),
        "part_questions": ((right * parts).sum(), parts.sum()),
    }


def score_answers(found: torch.Tensor, batch: Any) -> torch.Tensor:
    """[question] whether an answer is the `targets`; where several annotators answered, how many of them agree."""
    agreement: torch.Tensor | None = getattr(batch, "agreement", None)
    right: torch.Tensor = found == batch.targets if agreement is None else agreement.gather(1, found[:, None])[:, 0]
    return right


@dataclass(frozen=True, slots=True, eq=False)
class SplitData:
    """A split in memory: its images, and by the name of each stage what that learns from."""

    pixels: torch.Tensor | None  # [image, height, width, 3] uint8, on the device if they fit
    scenes: tuple[Scene, ...]  # with the images of any split but train, whose supervision is enough
    supervision: Mapping[str, Any] = field(default_factory=dict)
    kept: Path | None = None  # a folder where processes that see the same images leave each other what they find there


class TrainStage:
    """One part of a model, and how it is trained; a subclass fills in the methods, and holds no state."""

    name: str  # of its weights and its entry in model.json: "scene_parser"
    word: str = ""  # what `--only` calls it; else its name
    recipe: TrainRecipe
    supervision: frozenset[str] = frozenset((IMAGES, ANSWERS))
    needs: tuple[str, ...] = ()  # parts trained before, which `build` is given
    lacks: str = ""  # what data lack where there is nothing to learn; else questions with its supervision
    check: int = 1000  # validation examples that an epoch is judged by
    learns_vocabulary: bool = False  # whether its config depends on the training data
    figures: tuple[str, ...] = ()  # what `finish` adds to model.json
    captured: bool = (
        False  # whether a GPU may take steps as graphs: batches of few shapes, a loss that waits for nothing
    )
    compiled: tuple[str, ...] = ()  # methods, of its module or a part of it, that torch compiles for a GPU

    @property
    def option(self) -> str:
        return self.word or self.name

    def list_settings(self) -> list[str]:
        """What `configure` takes, of those stages that have one."""
        return []

    def collects_like(self, other: TrainStage) -> bool:
        """Whether `collect` gives what the other's gave of the same questions, and need not be called again."""
        return type(self) is type(other) and self.name == other.name

    def identify(self) -> dict[str, Any]:
        """What is chosen by hand, told without importing torch: a study does not show what was chosen otherwise."""
        return {"recipe": self.recipe.to_json(), "checked": self.check}

    def describe(self, schema: Schema) -> dict[str, Any]:
        """What the weights depend on besides recipe, seed and data."""
        return {"checked": self.check}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> Any:
        """What is learned from some scenes and the questions about them; runs in the processes that make data.

        It must have a length. Whatever is not in here of the train split is not kept.
        """
        raise NotImplementedError

    def join(self, pieces: Sequence[Any]) -> Any:
        """What was collected piece by piece, as one."""
        return [one for piece in pieces for one in piece]

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> Any:
        """The part's config, a record with `to_json`; `train` is there if the stage `learns_vocabulary`."""
        raise NotImplementedError

    def read_config(self, data: Mapping[str, Any]) -> Any:
        """The config as its `to_json` wrote it."""
        raise NotImplementedError

    def build(self, config: Any, parts: Mapping[str, nn.Module]) -> nn.Module:
        """A module with random weights, drawn from torch's own generator."""
        raise NotImplementedError

    def load_pretrained(self, module: Any, config: Any) -> None:
        """Give a new module, before it is trained, the weights that it starts from, if it has any."""

    def encode(self, data: SplitData, parts: Mapping[str, nn.Module], device: str) -> SplitData:
        """The data with what the parts it needs make of them, which is computed once."""
        return data

    def see(self, data: SplitData, config: Any, device: str) -> SplitData:
        """The data with what `make_examples` computes of every image, for several trainings on the same images."""
        return data

    def make_examples(self, data: SplitData, config: Any, device: str) -> ExampleSet:
        """The stage's supervision as batches; what is encoded once per image is encoded here."""
        raise NotImplementedError

    def logits(self, module: Any, batch: Any) -> torch.Tensor:
        """[example, answer]: what debiasing wraps."""
        raise NotImplementedError

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        """What a step makes small, and its terms by name: cross-entropy of `logits` and `batch.targets`.

        The batch may be one process's part of a larger one: `divide_by_batch` makes means of sums.
        """
        from torch.nn.functional import cross_entropy

        summed = cross_entropy(self.logits(module, batch), batch.targets, reduction="sum")
        return divide_by_batch(summed, summed.new_tensor(len(batch.targets))), {}

    def measure(self, module: Any, batch: Any) -> Counts:
        """How many are right, of how many."""
        found = self.logits(module, batch).argmax(-1)
        return {"right": ((found == batch.targets).sum(), len(found))}

    def choose_by(self, shares: Mapping[str, float]) -> float:
        """The one figure by which the best epoch is chosen: of the shares that are right, their mean."""
        return sum(shares.values()) / len(shares)

    def batch_to_measure(self, device: str) -> int | None:
        """Examples measured at once; None: as many as a batch has."""
        return None

    def finish(self, module: Any, val: SplitData, device: str, tell: ProgressCallback) -> dict[str, Any]:
        """What is fitted on validation data once the part is trained: its `figures`, as model.json keeps them."""
        return {}


class Trainable:
    """A model that can be trained: its parts, and the folder that training leaves."""

    stages: tuple[TrainStage, ...]
    settings: tuple[str, ...] = ()  # of its own, besides those of its stages
    folder: type[TrainedFolder]  # how the trained folder is read
    requires: tuple[str, ...] = ("torch", "accelerate", "safetensors")  # packages

    def configure(self, settings: Mapping[str, str]) -> Self:
        """The same with other settings, as `train --set NAME=VALUE` gives them."""
        if settings:
            raise UserError(f"this model has no setting {next(iter(settings))!r}, nor any other")
        return self

    def stage(self, name: str) -> TrainStage:
        return next(stage for stage in self.stages if stage.name == name)


def load_stage(trained: TrainedFolder, stage: TrainStage, device: str) -> Any:
    """The module that a stage builds from its config in a folder, with its weights, on the device."""
    config = trained.config(stage.name)
    try:
        built = stage.build(stage.read_config(config), {})
    except Exception as error:  # whatever a network says of sizes that cannot be
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
        raise UserError(
            f"{trained.folder}: the config of its {stage.name} is damaged ({why}); {trained.remedy}"
        ) from None
    return trained.load(stage.name, built).to(device)
