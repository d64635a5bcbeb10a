"""Scale: how much data a study trains and tests on; figures of different scales are never mixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...errors import UserError, unknown


@dataclass(frozen=True, slots=True)
class Scale:
    """A size of study. `images` are over train, val and test (4 : 1 : 1)."""

    name: str
    images: int
    size: tuple[int, int]
    questions: int = 10  # an image, about whole vehicles
    part_questions: int = 10
    shard: int = 250  # images whose questions are balanced together
    epochs: tuple[int, int] | None = None  # of scene and question parser; else as many as their recipes say

    @property
    def tested(self) -> int:
        """How many images a test has."""
        return self.images // 6

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "images": self.images,
            "size": list(self.size),
            "questions": self.questions,
            "part_questions": self.part_questions,
            "shard": self.shard,
            "epochs": list(self.epochs) if self.epochs else None,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Scale:
        width, height = data["size"]
        rest = {k: data[k] for k in ("name", "images", "questions", "part_questions", "shard")}
        epochs = tuple(map(int, data["epochs"])) if data["epochs"] else None
        return cls(size=(int(width), int(height)), epochs=epochs, **rest)  # type: ignore[arg-type]


SCALES = {
    "small": Scale("small", 480, (168, 112), shard=40, epochs=(4, 4)),
    "paper": Scale("paper", 30_000, (480, 320)),
}


def scale_named(name: str, images: int | None = None) -> Scale:
    """One of the two scales; with another number of images it gets a name of its own."""
    if name not in SCALES:
        raise unknown("scale", name, SCALES)
    scale = SCALES[name]
    if images is None or images == scale.images:
        return scale
    if images < 12:
        raise UserError(f"{images} images are too few for a study: at least 12, of which one in 6 is tested")
    return replace(scale, name=f"{name}-{images}", images=images)
