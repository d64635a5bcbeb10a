"""Toy scene graphs, small enough to read, and random ones for property tests."""

from __future__ import annotations

from shiftscope.rng import derive
from shiftscope.scene import FREE, Object, Relation, Scene
from shiftscope.schemas.gqa import SCHEMA


def graph(name: str, things: str, *triples: str, modifiers: dict[str, list[str]] | None = None) -> Scene:
    """`graph("a", "man, black dog", "0 holding 1")`: the last word of a thing is its name."""
    described = [thing.split() for thing in things.split(",")]
    pairs: dict[str, list[tuple[int, int]]] = {}
    for triple in triples:
        subject, *relation, target = triple.split()
        pairs.setdefault(" ".join(relation), []).append((int(subject), int(target)))
    return Scene(
        id=name,
        schema=SCHEMA,
        objects=tuple(Object((("name", d[-1]), *((FREE, word) for word in d[:-1]))) for d in described),
        relations=tuple(Relation.of(r, found, len(described)) for r, found in pairs.items()),
        notes=(("modifiers", modifiers),) if modifiers else (),
    )


NAMES = ("man", "woman", "dog", "puppy", "cat", "ball", "hat", "cup", "mug", "table")
WORDS = ("black", "white", "red", "large", "small", "standing", "sitting")
RELATIONS = ("holding", "wearing", "near", "on", "under", "riding", "to the left of", "chasing")


def random_graph(seed: int, k: int, names: tuple[str, ...] = NAMES) -> Scene:
    """Graph k: one to six things, any attributes, any relations."""
    draw = derive("test graph", seed, k)
    size = int(draw.integers(1, 7))
    things = [
        " ".join([*(w for w in WORDS if draw.random() < 0.2), names[draw.integers(len(names))]]) for _ in range(size)
    ]
    triples = [f"{i} {r} {j}" for i in range(size) for j in range(size) for r in RELATIONS if draw.random() < 0.06]
    return graph(str(k), ", ".join(things), *triples)


def containing(related, tree) -> dict[int, int]:
    """The graphs that contain the subgraph, and how many instances each has."""
    counts, _ = related.find_instances(tree, range(len(related.graphs)))
    return {graph: count for graph, count in enumerate(counts.tolist()) if count}
