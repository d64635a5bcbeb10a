"""Redundancy: how many twins of questions, shorter and longer, a core makes in a second, text included.

`python -m benchmarks.redundancy [SCENE_FILE]`; by default scenes of our own world.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table import row
from shiftscope.formats.clevr import read_scenes
from shiftscope.questions.clevr.generator import PER_IMAGE, get_generator
from shiftscope.questions.clevr.packed_scenes import PackedScenes
from shiftscope.questions.clevr.redundancy import build_level
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.world.clevr import sample_scene

SCENES = 250
RUNS = 3  # with another seed each


def main() -> None:
    scenes = read_scenes(Path(sys.argv[1])) if sys.argv[1:] else [sample_scene(0, "bench", i) for i in range(SCENES)]
    asker = get_generator(builtin_templates(scenes[0].schema), scenes[0].schema)
    packed = PackedScenes(scenes)
    best: dict[str, float] = {}
    for seed in range(RUNS):
        found = asker.find_matches(packed, PER_IMAGE, 60, ("bench", seed))
        questions = asker.build_traced_questions(packed, found, "bench", 0)
        for level in ("rd-", "rd", "rd+"):
            began = time.process_time()
            made = build_level(level, asker, packed, found, questions)
            best[level] = max(best.get(level, 0.0), len(made) / (time.process_time() - began))
    print("redundancy (one core)")
    for level, rate in best.items():
        row(
            f"questions made {level}, {len(scenes)} scenes",
            f"{rate:,.0f}/s",
            "2,000/s" if level == "rd+" else "3,000/s",
        )


if __name__ == "__main__":
    main()
