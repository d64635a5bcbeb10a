"""Mutual exclusivity against labels by hand: 200 pairs each of nouns, attributes and relations, as COVR's appendix A.

`python -m benchmarks.exclusivity draw FILE …` draws the pairs from scene graphs, without a look at the filter:
two nouns that occur with one relation, two attributes of things of one name, two relations between things of the same
two names, each as often as it occurs there, no pair twice.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from shiftscope import rng
from shiftscope.english.nouns import is_quantity
from shiftscope.formats import read_scenes
from shiftscope.scene_graph.extract import normalize_scene
from shiftscope.scene_graph.pack import PackedGraphs, pack_graphs
from shiftscope.scene_graph.subgraph import NodeKind

EACH = 200
KINDS: tuple[NodeKind, ...] = ("object", "attribute", "relation")
Occurrence = tuple[tuple[str, ...], str]  # the context, the word in it


def list_occurrences(graphs: PackedGraphs, kind: NodeKind) -> Iterator[Occurrence]:
    """Every word of the kind with its context, in the order of the files."""
    names, relations = graphs.names, graphs.relations
    owners = np.repeat(np.arange(len(graphs.object_names)), np.diff(graphs.attribute_starts)).tolist()
    if kind == "attribute":
        for owner, code in zip(owners, graphs.object_attributes.tolist(), strict=True):
            if not is_quantity(graphs.attributes[code]):  # no subgraph has it
                yield (names[graphs.object_names[owner]],), graphs.attributes[code]
        return
    subjects = np.repeat(np.arange(len(graphs.object_names)), np.diff(graphs.triple_starts))
    plain = graphs.triple_modifiers < 0
    columns = subjects[plain], graphs.triple_relations[plain], graphs.triple_objects[plain]
    for subject, code, target in zip(*(column.tolist() for column in columns), strict=True):
        first, second = names[graphs.object_names[subject]], names[graphs.object_names[target]]
        if kind == "relation":
            yield (first, second), relations[code]
        else:
            yield (relations[code], "subject"), first
            yield (relations[code], "object"), second


def draw_pairs(graphs: PackedGraphs, kind: NodeKind) -> list[tuple[str, str, tuple[str, ...]]]:
    """Two words and the context both occur in."""
    occurrences = list(list_occurrences(graphs, kind))
    inside: dict[tuple[str, ...], list[str]] = {}
    for context, word in occurrences:
        inside.setdefault(context, []).append(word)
    draw = rng.derive("benchmarks", "exclusivity", kind)
    found: dict[frozenset[str], tuple[str, str, tuple[str, ...]]] = {}
    while len(found) < EACH:
        context, first = occurrences[int(draw.integers(len(occurrences)))]
        others = [word for word in inside[context] if word != first]
        if others:
            second = others[int(draw.integers(len(others)))]
            found.setdefault(frozenset((first, second)), (first, second, context))
    return list(found.values())


def main() -> None:
    files = map(Path, sys.argv[2:])
    scenes = chain.from_iterable(map(read_scenes, files))
    first = {scene.id: scene for scene in reversed(list(scenes))}
    graphs = pack_graphs(map(normalize_scene, reversed(first.values())))
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("type", "first", "second", "context", "exclusive", "reverse"))
    for kind in KINDS:
        for one, other, context in draw_pairs(graphs, kind):
            table.writerow((kind, one, other, " … ".join(context), "", ""))


if __name__ == "__main__":
    main()
