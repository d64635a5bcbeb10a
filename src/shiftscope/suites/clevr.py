"""CLEVR: questions about solids on a plane; the world, questions and answers are made from nothing.

For example, of a scene with a red cube left of a blue ball: "What color is the cube to the left of the blue
sphere?", query(unique(filter(relate(unique(filter(filter(scene(), color=blue), shape=sphere)), left),
shape=cube)), color), red.

Johnson et al., CLEVR: a diagnostic dataset for compositional language and elementary visual reasoning, 2017.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ask.own import own_templates
from ..ask.questions import ask
from ..errors import UserError
from ..geometry.camera import SIZE, check_size
from ..question import Question
from ..schemas.clevr import SCHEMA
from ..store.about import About
from ..store.image import StoredImage
from ..world import clevr as world
from ._again import Again, size_option
from ._pictures import pictures

VERSION = 2  # of what the spec means: another version makes other data
SHARES = (("train", 70), ("val", 15), ("test", 15))  # per cent of the images, as in the release
MOST_QUESTIONS = 1000  # an image; more than its scene could ever give

ABOUT = About(
    title="CLEVR, made by ShiftScope",
    summary="Solids on a plane, rendered with masks; questions with programs and twice-checked answers.",
)


@dataclass(frozen=True, slots=True)
class Order:
    """What to make: everything that the data depend on."""

    images: int = 1000
    seed: int = 0
    size: tuple[int, int] = SIZE
    questions: int = 10  # an image; 0 for scenes and images alone
    shard: int = 250  # images; answers are balanced within a shard

    def __post_init__(self) -> None:
        if self.images < 1 or not 0 <= self.questions <= MOST_QUESTIONS or self.shard < 1:
            raise UserError(
                f"images and shard size must be at least 1, questions an image from 0 to {MOST_QUESTIONS:,}"
            )
        check_size(self.size)

    def spec(self) -> dict[str, Any]:
        return {
            "suite": "clevr",
            "version": VERSION,
            "images": self.images,
            "seed": self.seed,
            "size": list(self.size),
            "questions": self.questions,
            "shard": self.shard,
        }

    def splits(self) -> dict[str, int]:
        """How many images each split has; every image is in one."""
        sizes = {name: self.images * share // 100 for name, share in SHARES}
        sizes["train"] += self.images - sum(sizes.values())
        return {name: size for name, size in sizes.items() if size}

    def jobs(self) -> dict[str, int]:
        """How many shards each split has."""
        return {name: -(-size // self.shard) for name, size in self.splits().items()}

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Order:
        width, height = spec["size"]
        return cls(spec["images"], spec["seed"], (width, height), spec["questions"], spec["shard"])


def again(spec: Mapping[str, Any]) -> Again:
    """The command that makes the dataset of a spec."""
    options = {name: spec[name] for name in ("images", "seed", "size", "questions", "shard")}
    return Again(options | {"size": size_option(spec["size"])})


def make_shard(
    spec: Mapping[str, Any], split: str, k: int
) -> tuple[Sequence[StoredImage], Sequence[Question]]:
    """Shard k of a split: a function of the spec alone."""
    order = Order.of(spec)
    first = k * order.shard
    last = min(first + order.shard, order.splits()[split])
    rules = world.Rules(size=order.size)
    scenes = [world.scene(order.seed, split, i, rules) for i in range(first, last)]
    questions: list[Question] = []
    if order.questions:
        questions = ask(
            scenes,
            own_templates(SCHEMA),
            per_image=order.questions,
            seed=order.seed,
            split=split,
            shard=k,
            start=first * order.questions,
        )
    return list(pictures(scenes, order.size)), questions
