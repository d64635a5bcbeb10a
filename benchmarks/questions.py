"""Questions: how many valid ones a core asks in a second, text, program and second opinion included.

`python -m benchmarks.questions [SCENE_FILE [TEMPLATE_FOLDER]]`; by default scenes of our own worlds, and our
own templates: CLEVR's, then Super-CLEVR's about vehicles and about their parts.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table import row
from shiftscope.formats.clevr import read_scenes
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.template import TemplateSet
from shiftscope.questions.clevr.template_sets import builtin_part_templates, builtin_templates, load_templates
from shiftscope.scene import Scene
from shiftscope.world import clevr, superclevr

SCENES = 250
VEHICLE_SCENES = 100
STUDY = 30_000  # scenes of Super-CLEVR, 10 questions of each kind, on two cores
RUNS = 4  # with another seed each: what one run has met before must not help the next


def main() -> None:
    given = [Path(a) for a in sys.argv[1:]]
    scenes = read_scenes(given[0]) if given else [clevr.sample_scene(0, "bench", i) for i in range(SCENES)]
    templates = load_templates(given[1]) if len(given) > 1 else builtin_templates(scenes[0].schema)
    print("questions (one core)")
    began = time.perf_counter()
    generate_questions(scenes[:1], templates)
    row("compiling, or loading what was compiled before", f"{time.perf_counter() - began:.1f} s", "20 s")
    row(
        f"valid questions, {len(templates)} templates, {len(scenes)} scenes",
        f"{rate(scenes, templates):,.0f}/s",
        "10,000/s",
    )
    if not given:
        vehicles()


def vehicles() -> None:
    """Super-CLEVR's two kinds of questions, and how long a whole study of them would take."""
    scenes = [superclevr.sample_scene(0, "bench", i) for i in range(VEHICLE_SCENES)]
    seconds = 0.0
    for what, templates in (
        ("vehicles", builtin_templates(scenes[0].schema)),
        ("their parts", builtin_part_templates(scenes[0].schema)),
    ):
        found = rate(scenes, templates)
        seconds += 10 * STUDY / found
        row(f"questions about {what}, {len(templates)} templates", f"{found:,.0f}/s", "1,700/s")
    row(f"{STUDY:,} scenes × 20 questions on two cores", f"{seconds / 2:,.0f} s", "180 s")


def rate(scenes: list[Scene], templates: TemplateSet) -> float:
    """Questions a second of processor time in the best of a few runs."""
    best = 0.0
    for seed in range(RUNS):
        began = time.process_time()
        made = generate_questions(scenes, templates, seed=seed)
        best = max(best, len(made) / (time.process_time() - began))
    return best


if __name__ == "__main__":
    main()
