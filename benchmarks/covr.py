"""Questions about several images: how many a core asks in a second, words, programs and answers included.

`python -m benchmarks.covr [GRAPHS | FILE …]`: so many random scene graphs of 20 objects, as the benchmark
`graph` draws them, or the scene graphs of files. Images are asked about in a drawn order, so that look-ups do
not find what the one before left in memory. The first images also decide which words exclude which.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.graph import graphs
from benchmarks.table import row
from shiftscope import rng
from shiftscope.formats import read_scenes
from shiftscope.questions.covr.questioner import CovrQuestioner, reduce_garbage_collection
from shiftscope.scene import Scene
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.extract import normalize_scene
from shiftscope.scene_graph.index import build_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages
from shiftscope.scene_graph.wordnet import SHIPPED

GRAPHS = 20_000
SECONDS = 20.0  # asked for, after as long to get warm


def main() -> None:
    given = sys.argv[1:]
    scenes: Iterable[Scene]
    if given and not given[0].isdigit():
        scenes = (scene for path in given for scene in read_scenes(Path(path)))
    else:
        scenes = graphs(int(given[0]) if given else GRAPHS)
    first = {scene.id: scene for scene in reversed(list(scenes))}  # of an image that has several graphs
    index = build_index(pack_graphs(map(normalize_scene, reversed(first.values()))))
    schema = index.graphs.schema
    wordnet = None if schema.closed else SHIPPED
    asker = CovrQuestioner(RelatedImages(index, build_exclusivity(schema, wordnet=wordnet)), 0)
    reduce_garbage_collection()
    order = rng.derive("bench").permutation(len(index.graphs)).tolist()
    print(f"{len(index.graphs):,} graphs; seed 0")
    for what in ("first", "next"):
        order = _ask(asker, order, what)


def _ask(asker: CovrQuestioner, order: list[int], what: str) -> list[int]:
    """Ask about as many graphs as there is time for; the graphs that are left."""
    asker.refused.clear()
    if order:
        asker.generate_questions(order[0])  # compiled by now
    found: Counter[str] = Counter()
    paired = asked = 0
    began = time.process_time()
    while asked < len(order) and time.process_time() - began < SECONDS:
        for question in asker.generate_questions(order[asked]):
            found[question.provenance.template] += 1
            paired += question.note("pair") is not None
        asked += 1
    took = max(time.process_time() - began, 1e-9)
    total = found.total()
    row(f"questions of the {what} {asked:,} images", f"{total / took:,.0f} /s", "1,000 /s")
    refused = asker.refused.total()
    print(f"   {total:,} questions, {paired / max(total, 1):.0%} with a pair; {refused:,} refused")
    print("   " + ", ".join(f"{name} {count:,}" for name, count in found.most_common()))
    return order[asked:]


if __name__ == "__main__":
    main()
