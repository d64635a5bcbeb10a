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
from shiftscope.formats._any import read_scenes
from shiftscope.graph.ask.asker import Asker, collect_seldom
from shiftscope.graph.ask.reworded import reworded
from shiftscope.graph.index import build
from shiftscope.graph.overlap import overlap_for
from shiftscope.graph.pack import pack
from shiftscope.graph.related import Related
from shiftscope.scene import Scene

GRAPHS = 20_000
SECONDS = 20.0  # asked for, after as long to get warm
WORDNET = Path("/usr/share/wordnet")


def main() -> None:
    given = sys.argv[1:]
    scenes: Iterable[Scene]
    if given and not given[0].isdigit():
        scenes = (scene for path in given for scene in read_scenes(Path(path)))
    else:
        scenes = graphs(int(given[0]) if given else GRAPHS)
    index = build(pack(map(reworded, scenes), repeated="first"))
    schema = index.graphs.schema
    wordnet = WORDNET if WORDNET.is_dir() and not schema.closed else None
    asker = Asker(Related(index, overlap_for(schema, wordnet=wordnet)), 0)
    collect_seldom()
    order = rng.derive("bench").permutation(len(index.graphs)).tolist()
    print(f"{len(index.graphs):,} graphs; seed 0")
    for what in ("first", "next"):
        order = _ask(asker, order, what)


def _ask(asker: Asker, order: list[int], what: str) -> list[int]:
    """Ask about as many graphs as there is time for; the graphs that are left."""
    asker.refused.clear()
    if order:
        asker.about(order[0])  # compiled by now
    found: Counter[str] = Counter()
    paired = asked = 0
    began = time.process_time()
    while asked < len(order) and time.process_time() - began < SECONDS:
        for question in asker.about(order[asked]):
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
