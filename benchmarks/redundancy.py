"""Redundancy: how many twins of questions, shorter and longer, a core makes in a second, text included.

`python -m benchmarks.redundancy [SCENE_FILE]`; by default scenes of our own world.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table import row
from shiftscope.ask.own import own_templates
from shiftscope.ask.questions import PER_IMAGE, asker_of
from shiftscope.ask.redundancy.levels import at_level
from shiftscope.formats.clevr import read_scenes
from shiftscope.scenetable import pack
from shiftscope.world.clevr import scene

SCENES = 250
RUNS = 3  # with another seed each


def main() -> None:
    scenes = read_scenes(Path(sys.argv[1])) if sys.argv[1:] else [scene(0, "bench", i) for i in range(SCENES)]
    asker = asker_of(own_templates(scenes[0].schema), scenes[0].schema)
    table = pack(scenes)
    best: dict[str, float] = {}
    for seed in range(RUNS):
        found = asker.find(table, PER_IMAGE, 60, ("bench", seed))
        questions = asker.questions(scenes, found, "bench", 0)
        for level in ("rd-", "rd", "rd+"):
            began = time.process_time()
            made = at_level(level, asker, scenes, found, questions)
            best[level] = max(best.get(level, 0.0), len(made) / (time.process_time() - began))
    print("redundancy (one core)")
    for level, rate in best.items():
        row(f"questions made {level}, {len(scenes)} scenes", f"{rate:,.0f}/s", "3,000/s")


if __name__ == "__main__":
    main()
