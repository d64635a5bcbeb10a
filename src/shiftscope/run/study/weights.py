"""Weights: the parsers of a study, each trained once and kept in a folder, from data gathered ahead."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...canonical import content_id
from ...models._weights import NAME, PARSERS, QUESTIONS, SCENE, SHIPPED, Trained, read_trained
from ..train.data import TRAIN, VAL, World
from ..train.examples import Lessons, gather
from ..train.train import Bar, Order, no_bar, train_on
from .matrix import Domain
from .scale import Scale


@dataclass(frozen=True, slots=True)
class Parser:
    """One parser that a study needs: of scenes of a domain, or of the default's questions at a level."""

    part: str  # scene_parser or question_parser
    domain: Domain  # what it learns from
    seed: int
    scale: Scale

    @property
    def name(self) -> str:
        """Of its folder."""
        label = self.domain.label.replace("@", "-")
        return f"{self.scale.name}-{PARSERS[self.part]}-{label}-{self.seed}"

    def world(self) -> World:
        return World("superclevr", self.domain.order(self.scale))

    def order(self, device: str, workers: int, command: str) -> Order:
        world = self.world()
        return Order(
            model="p_nsvqa",
            data=world.name,
            visual=self.domain.visual,
            images=world.count(TRAIN),
            seed=self.seed,
            only=PARSERS[self.part],
            epochs=self.scale.epochs[self.part == QUESTIONS] if self.scale.epochs else None,
            device=device,
            workers=workers,
            command=command,
        )


def finished(parser: Parser, folder: Path) -> Trained | None:
    """The parser as it was trained before, if it was to the end; another one's folder is refused."""
    if not (folder / parser.name / NAME).exists():
        return None
    found = read_trained(folder / parser.name)
    wanted = parser.order("cpu", 1, "").spec(parser.world(), None)
    return found if content_id(found.about.get("spec")) == content_id(wanted) else None


def shipped(part: str, digest: str | None) -> Trained | None:
    """The parser that comes with the package, if it is the one of this hash."""
    folder = SHIPPED / "superclevr"
    if digest is None or not (folder / NAME).is_file():
        return None
    found = read_trained(folder)
    if found.about.get(part, {}).get("blake2b") != digest:
        return None
    return Trained(folder, found.about | {"seconds": found.about["seconds"][PARSERS[part]]})


def prepare(parser: Parser, *, device: str, workers: int) -> Lessons:
    """Make the images or questions that the parser learns from."""
    start = time.perf_counter()
    pictures = parser.part == SCENE
    made = {
        split: gather(
            parser.world(),
            split,
            pictures=pictures,
            questions=not pictures,
            device=device,
            workers=workers,
        )
        for split in (TRAIN, VAL)
    }
    return Lessons(made[TRAIN], made[VAL], time.perf_counter() - start)


def train_parser(
    parser: Parser,
    lessons: Lessons,
    folder: Path,
    *,
    device: str,
    command: str = "",
    bar: Bar = no_bar,
) -> Trained:
    """Train it on what was prepared; one that was begun before is gone on with."""
    order = parser.order(device, 1, command)
    return train_on(parser.world(), order, folder / parser.name, lessons=lessons, bar=bar)


def recipe_id(scenes: Trained, questions: Trained) -> str:
    """The same for parsers built and trained in the same way, whatever they learned from."""
    parts = []
    for trained, part in ((scenes, SCENE), (questions, QUESTIONS)):
        config: dict[str, Any] = {k: v for k, v in trained.config(part).items() if k != "vocabulary"}
        parts.append([config, trained.about[part]["recipe"]])
    return content_id(parts)
