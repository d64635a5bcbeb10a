"""A toy corpus in which every template finds something to ask: few words, many scenes, modified relations."""

from __future__ import annotations

from functools import cache

from graphs import graph
from shiftscope.rng import derive
from shiftscope.scene import Scene
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.index import build_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages

PEOPLE = ("man", "woman")
THINGS = ("cup", "table", "chair", "bottle", "hat")
COLORS = ("black", "white", "red")
MATERIALS = ("wood", "metal")
POSES = ("standing", "sitting")
MODIFIERS = {"opening with": ["opening", "with"], "opening on": ["opening", "on"]}


def crowd_scene(k: int) -> Scene:
    """People that hold, wear or open things, which stand on or near each other."""
    draw = derive("crowd", k)
    people = [_word(draw, PEOPLE, POSES) for _ in range(draw.integers(1, 3))]
    things = [_word(draw, THINGS, COLORS if draw.random() < 0.7 else MATERIALS) for _ in range(4)]
    first, size = len(people), len(people) + len(things)
    triples = []
    for person in range(first):
        for thing in range(first, size):
            if draw.random() < 0.4:
                relation = ("holding", "wearing", "opening", "near")[draw.integers(4)]
                triples.append(f"{person} {relation} {thing}")
                if relation == "opening":
                    how = ("opening with", "opening on")[draw.integers(2)]
                    triples.append(f"{person} {how} {first + int(draw.integers(4))}")
    for thing in range(first, size):
        other = first + int(draw.integers(4))
        if other != thing and draw.random() < 0.5:
            triples.append(f"{thing} {('on', 'under')[draw.integers(2)]} {other}")
    return graph(str(k), ", ".join(people + things), *triples, modifiers=MODIFIERS)


def _word(draw, names, words) -> str:
    word = words[draw.integers(len(words))] if draw.random() < 0.7 else ""
    return f"{word} {names[draw.integers(len(names))]}".strip()


@cache
def crowd(size: int = 300) -> tuple[Scene, ...]:
    return tuple(crowd_scene(k) for k in range(size))


@cache
def crowd_related(size: int = 300) -> RelatedImages:
    return RelatedImages(build_index(pack_graphs(crowd(size))), build_exclusivity(crowd_scene(0).schema))
