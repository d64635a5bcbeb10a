"""Subgraph classifier: check related images with a model that tells whether an image shows a subgraph.

Graphs are incomplete. Only simple subgraphs are classified: one or two objects, at most one relation and one
attribute. A distractor is dropped where all simple parts of the subgraph seem to be there after all. An image
whose instances are counted is dropped where, with those painted over, there seems to be another; where one
of them has no box it is kept unchecked. Synthetic scenes are complete and need none of it.

Training examples are simple subgraphs with an image that has them and a distractor that does not, with some
boxes painted over, since images are later classified with boxes painted over.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .. import rng
from ..errors import UserError
from ..scene import Box
from .extract import extract_subgraphs
from .related_images import ContainingImage, Distractor, RelatedImages
from .subgraph import NodeKind, ObjectNode, Subgraph, SubgraphLink

ImageArray = NDArray[np.uint8]  # [row, column, 3]
THRESHOLDS: Mapping[NodeKind, float] = {"object": 0.05, "relation": 0.1, "modifier": 0.1, "attribute": 0.5}
ANOTHER_INSTANCE = 0.5  # above it, another instance is taken to be there
FOLDS = 5


class SubgraphClassifier(Protocol):
    """Gives the probability that each text is true of the image beside it.

    One that has `answer_counts` counts there in which ways it gave the last ones.
    """

    def probability(self, texts: Sequence[str], images: Sequence[ImageArray]) -> list[float]: ...


def list_simple_parts(subgraph: Subgraph) -> tuple[Subgraph, ...]:
    """The largest simple subgraphs in it; the others are parts of these."""
    found: dict[ObjectNode, None] = {}
    for thing in subgraph.things():
        for link in thing.relations:
            target = ObjectNode(link.thing.name)
            if thing.attribute or not link.thing.attribute:
                found[ObjectNode(thing.name, thing.attribute, (SubgraphLink(link.relation, target),))] = None
            if link.thing.attribute:
                target = ObjectNode(link.thing.name, link.thing.attribute)
                found[ObjectNode(thing.name, "", (SubgraphLink(link.relation, target),))] = None
            for modifier in link.modifiers:
                found[ObjectNode(modifier.thing.name, modifier.thing.attribute)] = None
    return tuple(found) or (ObjectNode(subgraph.name, subgraph.attribute),)


def get_threshold(kinds: Iterable[NodeKind]) -> float:
    """The score above which a simple subgraph counts as there, by what differs; the largest where mixed."""
    return max(THRESHOLDS[kind] for kind in kinds)


def mask_boxes(picture: ImageArray, boxes: Iterable[Box]) -> ImageArray:
    painted = picture.copy()
    height, width = picture.shape[:2]
    for left, top, across, down in boxes:
        first, last = max(int(np.floor(left)), 0), min(int(np.ceil(left + across)), width)
        upper, lower = max(int(np.floor(top)), 0), min(int(np.ceil(top + down)), height)
        painted[upper : max(lower, upper), first : max(last, first)] = 0
    return painted


@dataclass(frozen=True)
class ClassifierFolds:
    """Which of five models did not see an image while it learned."""

    fold: Mapping[str, int]  # of each image
    classifiers: Sequence[SubgraphClassifier] = ()

    def get_fold(self, image: str) -> int:
        if image not in self.fold:
            raise UserError(f"image {image!r} is in no fold, so no model can be said not to have seen it")
        return self.fold[image]


def assign_folds(images: Iterable[str], *path: str | int, count: int = FOLDS) -> ClassifierFolds:
    """The images dealt into folds of equal size, by the path and their names alone."""
    order = sorted(set(images), key=lambda image: (rng.seed_of("fold", *path, image), image))
    return ClassifierFolds({image: k % count for k, image in enumerate(order)})


class RelatedImageChecker:
    """Both checks over the graphs' images; a model scores the same text and image once."""

    def __init__(
        self,
        related: RelatedImages,
        classifier: SubgraphClassifier | ClassifierFolds,
        picture: Callable[[str], ImageArray],
        boxes: Callable[[str], Sequence[Box | None]],
        describe: Callable[[Subgraph], str] = str,
    ) -> None:
        """`picture` and `boxes` (of a scene's objects) go by image; `describe` says what to ask of one."""
        folds = classifier if isinstance(classifier, ClassifierFolds) else None
        self._related, self._ids = related, related.graphs.ids
        self._classifiers = folds.classifiers if folds else (cast(SubgraphClassifier, classifier),)
        self._get_fold = folds.get_fold if folds else lambda image: 0
        self._picture, self._boxes, self._describe = picture, boxes, describe
        self._known: dict[tuple[str, str, bool], float] = {}
        self.counts: Counter[str] = Counter()  # images judged and dropped, by check

    def reset(self) -> None:
        self._known.clear()
        self.counts.clear()

    def filter_distractors(self, subgraph: Subgraph, found: Iterable[Distractor]) -> tuple[Distractor, ...]:
        """Those in whose images some simple part of the subgraph is indeed not seen."""
        candidates = tuple(found)
        limits = [get_threshold(change.kind for change in one.changes) for one in candidates]
        seen = self._check_presence(subgraph, [one.graph for one in candidates], limits)
        return tuple(one for one, there in zip(candidates, seen, strict=True) if not there)

    def filter_lacking(self, subgraph: Subgraph, found: Iterable[int]) -> tuple[int, ...]:
        """The same for images that were drawn at random, which may differ in any node."""
        graphs = tuple(found)
        limit = get_threshold(node.kind for node in subgraph.nodes())
        seen = self._check_presence(subgraph, graphs, [limit] * len(graphs))
        return tuple(graph for graph, there in zip(graphs, seen, strict=True) if not there)

    def filter_containing(self, subgraph: Subgraph, found: Iterable[ContainingImage]) -> tuple[ContainingImage, ...]:
        """Those in whose images no more instances are seen than are annotated."""
        all_ = tuple(found)
        graphs = [one.graph for one in all_ if self._has_boxes(subgraph, one.graph)]
        seen = self._are_all_above(subgraph, graphs, [ANOTHER_INSTANCE] * len(graphs), hidden=True)
        dropped = {graph for graph, there in zip(graphs, seen, strict=True) if there}
        self.counts.update(counted=len(seen), counted_dropped=sum(seen))
        if len(graphs) < len(all_):
            self.counts.update(unboxed=len(all_) - len(graphs))
        return tuple(one for one in all_ if one.graph not in dropped)

    def _check_presence(self, subgraph: Subgraph, graphs: Sequence[int], limits: Sequence[float]) -> list[bool]:
        seen = self._are_all_above(subgraph, graphs, limits, hidden=False)
        self.counts.update(distractors=len(seen), distractors_dropped=sum(seen))
        return seen

    def _are_all_above(
        self, subgraph: Subgraph, graphs: Sequence[int], limits: Sequence[float], *, hidden: bool
    ) -> list[bool]:
        """Of each graph's image, whether every simple part scores above its limit."""
        parts = [(part, self._describe(part)) for part in list_simple_parts(subgraph)]
        self._classify([(graph, *part) for graph in graphs for part in parts], hidden)
        return [
            all(self._known[self._ids[graph], text, hidden] > limit for _, text in parts)
            for graph, limit in zip(graphs, limits, strict=True)
        ]

    def _classify(self, wanted: Iterable[tuple[int, Subgraph, str]], hidden: bool) -> None:
        """Score what is not known yet, one batch per model."""
        batches: dict[int, dict[tuple[str, str, bool], ImageArray]] = {}
        for graph, part, text in wanted:
            image = self._ids[graph]
            if (image, text, hidden) not in self._known:
                picture = self._picture(image)
                if hidden:
                    picture = mask_boxes(picture, filter(None, self._list_instance_boxes(part, graph)))
                batches.setdefault(self._get_fold(image), {})[image, text, hidden] = picture
        for fold, batch in batches.items():
            classifier = self._classifiers[fold]
            images = list(dict.fromkeys(image for image, _, _ in batch))
            more = f" or one of {len(images) - 1} others" if len(images) > 1 else ""
            with explain_model_errors(f"--verify: the model stopped at image {images[0]}{more} with "):
                given = classifier.probability([text for _, text, _ in batch], list(batch.values()))
                scores = [float(p) for p in given]
            if len(scores) != len(batch) or not all(0 <= score <= 1 for score in scores):
                about = f"{len(batch)} probabilities for image {images[0]}"
                raise UserError(f"the verifier must give {about}, got {scores}")
            self._known.update(zip(batch, scores, strict=True))
            self.counts.update(getattr(classifier, "answer_counts", {}))

    def _has_boxes(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether all that is to be painted over has a box."""
        if None not in self._boxes(self._ids[graph]):
            return True
        return all(None not in self._list_instance_boxes(part, graph) for part in list_simple_parts(subgraph))

    def _list_instance_boxes(self, part: Subgraph, graph: int) -> list[Box | None]:
        boxes = self._boxes(self._ids[graph])
        return [boxes[root] for root in self._related.find_roots(part, graph)]


@contextmanager
def explain_model_errors(before: str, after: str = "") -> Iterator[None]:
    """Say what a user's own code raised, between these words."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        raise UserError(f"{before}{what}{after}") from error


# Training examples.

HIDDEN_SHARE = 0.15  # of the boxes
DRAWN = 200  # subgraphs of one graph, of which the simple ones are used
SIMPLE_FORMS = 2  # forms, with one relation at most


class ClassifierExample(NamedTuple):
    """Whether a subgraph is in a graph's image, as far as graphs tell."""

    subgraph: Subgraph
    graph: int
    truth: bool


def is_simple(subgraph: Subgraph) -> bool:
    kinds = [node.kind for node in subgraph.nodes()]
    most: dict[NodeKind, int] = {"object": 2, "relation": 1, "attribute": 1, "modifier": 0}
    return all(kinds.count(kind) <= number for kind, number in most.items())


def generate_classifier_examples(
    related: RelatedImages, graph: int, *path: str | int, most: int, sayable: Callable[[Subgraph], bool]
) -> Iterator[ClassifierExample]:
    """For up to so many simple subgraphs of a graph its own image and another; none without another."""
    name = related.graphs.ids[graph]
    found = extract_subgraphs(related.graphs, graph, "lessons", *path, most=DRAWN, forms=SIMPLE_FORMS)
    good = [one for one in found if is_simple(one) and sayable(one)]
    order = sorted(good, key=lambda one: (rng.seed_of("lesson", *path, name, str(one)), one.key))
    for one in order:
        if most < 1:
            return
        near = related.find_distractors(one, 1, "lesson", *path, name)
        if near:
            most -= 1
            yield ClassifierExample(one, graph, True)
            yield ClassifierExample(one, near[0].graph, False)


def choose_hidden_boxes(
    example: ClassifierExample, names: Sequence[str], boxes: Sequence[Box | None], *path: str | int
) -> tuple[Box, ...]:
    """The boxes to paint over, of objects with these names; what a true example is about stays visible."""
    about = {thing.name for thing in example.subgraph.things()} if example.truth else set()
    draw = rng.derive("hidden", *path, str(example.subgraph), int(example.truth)).random(len(names))
    return tuple(
        box
        for name, box, chance in zip(names, boxes, draw.tolist(), strict=True)
        if box is not None and chance < HIDDEN_SHARE and name not in about
    )
