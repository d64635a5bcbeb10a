"""Speed of the graph index: 100,000 random scene graphs of 20 objects, and look-ups of related images.

`python -m benchmarks.graph [GRAPHS]`. Names, attributes and relations are drawn by Zipf's law from the GQA
schema's words. A look-up finds up to three images that contain a subgraph and up to four distractors;
subgraphs are drawn from the graphs themselves. The first look-ups also decide which words exclude which; the
first thousand once more are those of a run that is warm.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.table import row
from shiftscope import rng
from shiftscope.scene import FREE, Object, Relation, Scene
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.extract import extract_subgraphs
from shiftscope.scene_graph.index import build_index, load_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages
from shiftscope.schemas.gqa import RELATIONS, SCHEMA

GRAPHS = 100_000
OBJECTS = 20
TRIPLES = 30
LOOKUPS = 1_000
NAMES = sorted({noun for a in SCHEMA.attributes for _, nouns in a.kinds for noun in nouns})
WORDS = sorted({value for a in SCHEMA.attributes for value in a.values})


def graphs(count: int) -> Iterator[Scene]:
    """Random graphs, a thousand drawn at a time."""
    names, words, relations = (np.array(_shuffled(words, k)) for k, words in enumerate((NAMES, WORDS, RELATIONS[2:])))
    for start in range(0, count, 1_000):
        draw = rng.derive("graphs", start)
        some = min(1_000, count - start)
        things = names[_zipf(draw, (some, OBJECTS), len(names))].tolist()
        said = words[_zipf(draw, (some, OBJECTS, 2), len(words))].tolist()
        many = draw.integers(0, 3, (some, OBJECTS)).tolist()
        ends = draw.integers(0, OBJECTS, (some, TRIPLES, 2)).tolist()
        how = relations[_zipf(draw, (some, TRIPLES), len(relations))].tolist()
        for k in range(some):
            pairs: dict[str, list[tuple[int, int]]] = {}
            for name, (subject, target) in zip(how[k], ends[k], strict=True):
                pairs.setdefault(name, []).append((subject, target))
            yield Scene(
                id=str(start + k),
                schema=SCHEMA,
                objects=tuple(
                    Object((("name", name), *((FREE, word) for word in said[k][i][: many[k][i]])))
                    for i, name in enumerate(things[k])
                ),
                relations=tuple(Relation.of(name, found, OBJECTS) for name, found in pairs.items()),
            )


def _zipf(draw: np.random.Generator, shape: tuple[int, ...], size: int) -> np.ndarray:
    weights = np.cumsum(1 / np.arange(1, size + 1))
    return np.searchsorted(weights, draw.random(shape) * weights[-1]).clip(max=size - 1)


def _shuffled(words: list[str] | tuple[str, ...], k: int) -> list[str]:
    return [words[i] for i in rng.derive("words", k).permutation(len(words))]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else GRAPHS
    start, cpu = time.perf_counter(), time.process_time()
    packed = pack_graphs(graphs(count))
    packed_at = time.process_time()
    index = build_index(packed)
    built = time.process_time()
    row(f"draw and pack {count:,} graphs", f"{packed_at - cpu:.1f} s", "")
    row(f"index of them: {len(index):,} atoms", f"{built - packed_at:.1f} s", "")
    row("both, CPU time", f"{built - cpu:.1f} s", "180 s")
    row("both, wall time", f"{time.perf_counter() - start:.1f} s", "180 s")
    row("peak memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB", "6 GB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.npz"
        cpu = time.process_time()
        index.save(path)
        saved = time.process_time()
        load_index(path)
        row(f"save {path.stat().st_size / 1e6:.0f} MB", f"{saved - cpu:.1f} s", "")
        row("load", f"{time.process_time() - saved:.1f} s", "")
    _look_up(RelatedImages(index, build_exclusivity(SCHEMA)), count)


def _look_up(related: RelatedImages, count: int) -> None:
    draw = rng.derive("look-ups")
    wanted = []
    cpu = time.process_time()
    found = 0
    for graph in draw.integers(count, size=2 * LOOKUPS).tolist():
        mine = extract_subgraphs(related.graphs, graph, most=100)
        found += len(mine)
        wanted.append((graph, mine[draw.integers(len(mine))]))
    row("extract subgraphs", f"{found / (time.process_time() - cpu):,.0f} /s", "")
    related.find_containing(wanted[0][1], 1, 0)
    related.find_distractors(wanted[0][1], 1, 0)  # compiled by now
    cpu = time.process_time()
    for k, (_, subgraph) in enumerate(wanted):
        related.find_containing(subgraph, 3, k)
    row("images with a subgraph", f"{len(wanted) / (time.process_time() - cpu):,.0f} /s", "1,000 /s")
    first, more = wanted[:LOOKUPS], wanted[LOOKUPS:]
    for what, some, budget in (("first", first, "1,500 /s"), ("next", more, ""), ("first again", first, "2,500 /s")):
        same = other = 0
        cpu = time.process_time()
        for k, (graph, subgraph) in enumerate(some):
            same += len(related.find_containing(subgraph, 3, k, without=[graph]))
            other += len(related.find_distractors(subgraph, 4, k, without=[graph]))
        rate = len(some) / (time.process_time() - cpu)
        row(f"these and distractors, {what} {len(some):,}", f"{rate:,.0f} /s", budget)
        print(f"   {same / len(some):.2f} images with it, {other / len(some):.2f} distractors a look-up")


if __name__ == "__main__":
    main()
