"""Verify related images where graphs are incomplete: a model that sees images says what nobody annotated.

Only simple subgraphs are asked about: one or two things, at most one relation and one attribute. A distractor
is dropped where all simple parts of the subgraph seem to be there after all. An image whose instances are
counted is dropped where, with those painted over, there seems to be another; where one of them has no box it
is kept unchecked. Synthetic scenes are complete and need none of it.
"""

from __future__ import annotations

from collections import Counter
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
    """Gives the probability that each text is true of the image beside it.

    One that has `said` counts there in which ways it gave the last ones.
    """

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

    def fold_of(self, image: str) -> int:
        if image not in self.fold:
            raise UserError(f"image {image!r} is in no fold, so no model can be said not to have seen it")
        return self.fold[image]

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
    """Both checks over the graphs' images; a model is asked the same of an image once."""

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
        self._known: dict[tuple[str, str, bool], float] = {}
        self.tally: Counter[str] = Counter()  # images judged and dropped, by check

    def begin(self) -> None:
        """Forget what was asked, and count anew."""
        self._known.clear()
        self.tally.clear()

    def distractors(self, subgraph: Subgraph, found: Iterable[Distractor]) -> tuple[Distractor, ...]:
        """Those in whose images some simple part of the subgraph is indeed not seen."""
        judged = tuple(found)
        limits = [threshold(change.kind for change in one.changes) for one in judged]
        seen = self._seen(subgraph, [one.graph for one in judged], limits)
        return tuple(one for one, there in zip(judged, seen, strict=True) if not there)

    def lacking(self, subgraph: Subgraph, found: Iterable[int]) -> tuple[int, ...]:
        """The same for images that were drawn at random, which may differ in any node."""
        graphs = tuple(found)
        limit = threshold(node.kind for node in subgraph.nodes())
        seen = self._seen(subgraph, graphs, [limit] * len(graphs))
        return tuple(graph for graph, there in zip(graphs, seen, strict=True) if not there)

    def containing(self, subgraph: Subgraph, found: Iterable[Containing]) -> tuple[Containing, ...]:
        """Those in whose images no more instances are seen than are annotated."""
        all_ = tuple(found)
        graphs = [one.graph for one in all_ if self._boxed(subgraph, one.graph)]
        seen = self._all_above(subgraph, graphs, [ANOTHER] * len(graphs), hidden=True)
        dropped = {graph for graph, there in zip(graphs, seen, strict=True) if there}
        self.tally.update(counted=len(seen), counted_dropped=sum(seen))
        if len(graphs) < len(all_):
            self.tally.update(unboxed=len(all_) - len(graphs))
        return tuple(one for one in all_ if one.graph not in dropped)

    def _seen(self, subgraph: Subgraph, graphs: Sequence[int], limits: Sequence[float]) -> list[bool]:
        seen = self._all_above(subgraph, graphs, limits, hidden=False)
        self.tally.update(distractors=len(seen), distractors_dropped=sum(seen))
        return seen

    def _all_above(
        self, subgraph: Subgraph, graphs: Sequence[int], limits: Sequence[float], *, hidden: bool
    ) -> list[bool]:
        """Of each graph's image, whether every simple part scores above its limit."""
        parts = [(part, self._describe(part)) for part in simple_parts(subgraph)]
        self._ask([(graph, *part) for graph in graphs for part in parts], hidden)
        return [
            all(self._known[self._ids[graph], text, hidden] > limit for _, text in parts)
            for graph, limit in zip(graphs, limits, strict=True)
        ]

    def _ask(self, asked: Iterable[tuple[int, Subgraph, str]], hidden: bool) -> None:
        """Ask what is not known yet, as much at once as one model is to judge."""
        batches: dict[int, dict[tuple[str, str, bool], Picture]] = {}
        for graph, part, text in asked:
            image = self._ids[graph]
            if (image, text, hidden) not in self._known:
                picture = self._hidden(part, graph) if hidden else self._picture(image)
                mine = batches.setdefault(self._fold(image), {})
                mine[image, text, hidden] = picture
        for fold, batch in batches.items():
            seer = self._seer.seers[fold] if isinstance(self._seer, Folds) else self._seer
            scores = _scores(seer, batch)
            if len(scores) != len(batch) or not all(0 <= score <= 1 for score in scores):
                image = next(iter(batch))[0]
                raise UserError(
                    f"the verifier must give {len(batch)} probabilities for image {image}, came {scores}"
                )
            self._known.update(zip(batch, scores, strict=True))
            self.tally.update(getattr(seer, "said", {}))

    def _fold(self, image: str) -> int:
        return self._seer.fold_of(image) if isinstance(self._seer, Folds) else 0

    def _hidden(self, part: Subgraph, graph: int) -> Picture:
        """The picture without the annotated instances of a part."""
        boxes = [box for box in self._instances(part, graph) if box is not None]
        return masked(self._picture(self._ids[graph]), boxes)

    def _boxed(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether all that is to be painted over has a box."""
        if None not in self._boxes(self._ids[graph]):
            return True
        return all(None not in self._instances(part, graph) for part in simple_parts(subgraph))

    def _instances(self, part: Subgraph, graph: int) -> list[Box | None]:
        boxes = self._boxes(self._ids[graph])
        return [boxes[root] for root in self._related.roots(part, graph)]


def _scores(seer: Seer, batch: Mapping[tuple[str, str, bool], Picture]) -> list[float]:
    """What the model gives; it may be the user's own, and whatever it raises is told with where."""
    try:
        return [float(p) for p in seer.probability([text for _, text, _ in batch], list(batch.values()))]
    except UserError:
        raise
    except Exception as error:
        images = list(dict.fromkeys(image for image, _, _ in batch))
        more = f" or one of {len(images) - 1} others" if len(images) > 1 else ""
        raise UserError(
            f"--verify: the model stopped at image {images[0]}{more} with {told(error)}"
        ) from error


def told(error: Exception) -> str:
    """What a user's own code raised."""
    return f"{type(error).__name__}: {error}".rstrip(": ")
