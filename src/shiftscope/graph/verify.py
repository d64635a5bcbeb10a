"""Verify related images where graphs are incomplete: a model that sees images says what nobody annotated.

Only simple subgraphs are asked about: one or two things, at most one relation and one attribute. A distractor
is dropped where all simple parts of the subgraph seem to be there after all. An image whose instances are
counted is dropped where, with those painted over, there seems to be another. Synthetic scenes are complete
and need none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .. import rng
from ..errors import UserError
from ..scene import Box
from .pack import PackedGraphs
from .related import Containing, Distractor, Related
from .subgraph import Kind, Link, Subgraph, Thing

Picture = NDArray[np.uint8]  # [row, column, 3]
THRESHOLDS: Mapping[Kind, float] = {"object": 0.05, "relation": 0.1, "modifier": 0.1, "attribute": 0.5}
ANOTHER = 0.5  # above it, another instance is taken to be there
FOLDS = 5


class Seer(Protocol):
    """Gives the probability that each text is true of the image beside it."""

    def probability(self, texts: Sequence[str], images: Sequence[Picture]) -> list[float]: ...


def needs_verification(graphs: PackedGraphs) -> bool:
    """Whether the graphs may lack what is in the image; those of a closed schema say all there is."""
    return not graphs.schema.closed


def simple_parts(subgraph: Subgraph) -> tuple[Subgraph, ...]:
    """The largest simple subgraphs in it; the others are parts of these."""
    found: dict[Thing, None] = {}
    for thing in subgraph.things():
        for link in thing.relations:
            target = Thing(link.thing.name)
            if thing.attribute or not link.thing.attribute:
                found[Thing(thing.name, thing.attribute, (Link(link.relation, target),))] = None
            if link.thing.attribute:
                target = Thing(link.thing.name, link.thing.attribute)
                found[Thing(thing.name, "", (Link(link.relation, target),))] = None
            for modifier in link.modifiers:
                found[Thing(modifier.thing.name, modifier.thing.attribute)] = None
    return tuple(found) or (Thing(subgraph.name, subgraph.attribute),)


def threshold(kinds: Iterable[Kind]) -> float:
    """The score above which a simple subgraph counts as there, by what differs; the largest where mixed."""
    return max(THRESHOLDS[kind] for kind in kinds)


def masked(picture: Picture, boxes: Iterable[Box]) -> Picture:
    """The picture with these boxes painted black."""
    painted = picture.copy()
    height, width = picture.shape[:2]
    for left, top, across, down in boxes:
        first, last = max(int(np.floor(left)), 0), min(int(np.ceil(left + across)), width)
        upper, lower = max(int(np.floor(top)), 0), min(int(np.ceil(top + down)), height)
        painted[upper : max(lower, upper), first : max(last, first)] = 0
    return painted


@dataclass(frozen=True)
class Folds:
    """Which of five models did not see an image while it learned."""

    fold: Mapping[str, int]  # of each image
    seers: Sequence[Seer] = ()

    def seer(self, image: str) -> Seer:
        if image not in self.fold:
            raise UserError(f"image {image!r} is in no fold, so no model can be said not to have seen it")
        return self.seers[self.fold[image]]

    def parts(self) -> Iterator[tuple[list[str], list[str]]]:
        """For each model the images it learns from, and those it is asked about."""
        for k in range(max(self.fold.values(), default=-1) + 1):
            asked = [image for image, fold in self.fold.items() if fold == k]
            yield [image for image, fold in self.fold.items() if fold != k], asked


def folds(images: Iterable[str], *path: str | int, count: int = FOLDS) -> Folds:
    """The images dealt into folds of equal size, by the path and their names alone."""
    order = sorted(set(images), key=lambda image: (rng.seed_of("fold", *path, image), image))
    return Folds({image: k % count for k, image in enumerate(order)})


class Verifier:
    """Both checks over the graphs' images."""

    def __init__(
        self,
        related: Related,
        seer: Seer | Folds,
        picture: Callable[[str], Picture],
        boxes: Callable[[str], Sequence[Box | None]],
        describe: Callable[[Subgraph], str] = str,
    ) -> None:
        """`picture` and `boxes` (of a scene's objects) go by image; `describe` says what to ask of one."""
        self._related, self._ids, self._seer = related, related.graphs.ids, seer
        self._picture, self._boxes, self._describe = picture, boxes, describe

    def distractors(self, subgraph: Subgraph, found: Iterable[Distractor]) -> tuple[Distractor, ...]:
        """Those in whose images some simple part of the subgraph is indeed not seen."""
        parts = simple_parts(subgraph)
        kept = []
        for one in found:
            limit = threshold(change.kind for change in one.changes)
            image = self._ids[one.graph]
            scores = self._ask(image, parts, [self._picture(image)] * len(parts))
            if not all(score > limit for score in scores):
                kept.append(one)
        return tuple(kept)

    def containing(self, subgraph: Subgraph, found: Iterable[Containing]) -> tuple[Containing, ...]:
        """Those in whose images no more instances are seen than are annotated."""
        parts = simple_parts(subgraph)
        kept = []
        for one in found:
            image = self._ids[one.graph]
            picture, boxes = self._picture(image), self._boxes(image)
            hidden = []
            for part in parts:
                roots = self._related.roots(part, one.graph)
                hidden.append(masked(picture, [_box(boxes, root, image) for root in roots]))
            if not all(score > ANOTHER for score in self._ask(image, parts, hidden)):
                kept.append(one)
        return tuple(kept)

    def _ask(self, image: str, parts: Sequence[Subgraph], pictures: Sequence[Picture]) -> list[float]:
        seer = self._seer.seer(image) if isinstance(self._seer, Folds) else self._seer
        scores = seer.probability([self._describe(part) for part in parts], pictures)
        if len(scores) != len(parts) or not all(0 <= score <= 1 for score in scores):
            raise UserError(
                f"the verifier must give {len(parts)} probabilities for image {image}, came {scores}"
            )
        return scores


def _box(boxes: Sequence[Box | None], thing: int, image: str) -> Box:
    box = boxes[thing] if thing < len(boxes) else None
    if box is None:
        raise UserError(f"image {image}: object {thing} has no box, so that it can not be painted over")
    return box
