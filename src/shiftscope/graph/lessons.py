"""Lessons: simple subgraphs with an image that has them and one that has not, to teach a verifier by.

The image without one is a distractor of it, so that a model learns to tell a man in jeans from a man in
shorts. Some boxes are painted over, since pictures are later judged with boxes painted over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .. import rng
from ..scene import Box
from .extract import subgraphs
from .related import Related
from .subgraph import Kind, Subgraph

HIDDEN = 0.15  # of the boxes
DRAWN = 200  # subgraphs of one graph, of which the simple ones are used
PLAIN = 2  # forms, with one relation at most


class Lesson(NamedTuple):
    """Whether a subgraph is in a graph's image, as far as graphs tell."""

    subgraph: Subgraph
    graph: int
    truth: bool


def simple(subgraph: Subgraph) -> bool:
    """At most two objects, one relation and one attribute."""
    kinds = [node.kind for node in subgraph.nodes()]
    most: dict[Kind, int] = {"object": 2, "relation": 1, "attribute": 1, "modifier": 0}
    return all(kinds.count(kind) <= number for kind, number in most.items())


def lessons(
    related: Related, graph: int, *path: str | int, most: int, sayable: Callable[[Subgraph], bool]
) -> Iterator[Lesson]:
    """For up to so many simple subgraphs of a graph its own image and another; none without another."""
    name = related.graphs.ids[graph]
    found = subgraphs(related.graphs, graph, "lessons", *path, most=DRAWN, forms=PLAIN)
    good = [one for one in found if simple(one) and sayable(one)]
    order = sorted(good, key=lambda one: (rng.seed_of("lesson", *path, name, str(one)), one.key))
    for one in order:
        if most < 1:
            return
        near = related.distractors(one, 1, "lesson", *path, name)
        if near:
            most -= 1
            yield Lesson(one, graph, True)
            yield Lesson(one, near[0].graph, False)


def hidden(
    lesson: Lesson, names: Sequence[str], boxes: Sequence[Box | None], *path: str | int
) -> tuple[Box, ...]:
    """The boxes to paint over, of objects with these names; what a true lesson is about stays visible."""
    about = {thing.name for thing in lesson.subgraph.things()} if lesson.truth else set()
    draw = rng.derive("hidden", *path, str(lesson.subgraph), int(lesson.truth)).random(len(names))
    return tuple(
        box
        for name, box, chance in zip(names, boxes, draw.tolist(), strict=True)
        if box is not None and chance < HIDDEN and name not in about
    )
