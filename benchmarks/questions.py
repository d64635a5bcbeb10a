"""Questions: how many valid ones a core asks in a second, text, program and second opinion included.

`python -m benchmarks.questions [SCENE_FILE [TEMPLATE_FOLDER]]`; by default scenes of our own world, and our
own templates.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table import row
from shiftscope.ask.load import load_templates
from shiftscope.ask.own import own_templates
from shiftscope.ask.questions import ask
from shiftscope.ask.template import TemplateSet
from shiftscope.formats.clevr import read_scenes
from shiftscope.scene import Scene
from shiftscope.world.clevr import scene

SCENES = 250
RUNS = 4  # with another seed each: what one run has met before must not help the next


def main() -> None:
    given = [Path(a) for a in sys.argv[1:]]
    scenes = read_scenes(given[0]) if given else [scene(0, "bench", i) for i in range(SCENES)]
    templates = load_templates(given[1]) if len(given) > 1 else own_templates(scenes[0].schema)
    print("questions (one core)")
    began = time.perf_counter()
    ask(scenes[:1], templates)
    row("compiling, or loading what was compiled before", f"{time.perf_counter() - began:.1f} s", "20 s")
    row(
        f"valid questions, {len(templates)} templates, {len(scenes)} scenes",
        f"{rate(scenes, templates):,.0f}/s",
        "5,000/s",
    )


def rate(scenes: list[Scene], templates: TemplateSet) -> float:
    """Questions a second of processor time in the best of a few runs."""
    best = 0.0
    for seed in range(RUNS):
        began = time.process_time()
        made = ask(scenes, templates, seed=seed)
        best = max(best, len(made) / (time.process_time() - began))
    return best


if __name__ == "__main__":
    main()
