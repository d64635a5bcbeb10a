"""Questions about a scene as it is, in the words of those about outcomes; one hop of logic at most (decision 047).

What learns from them can be asked about a picture of what an action leads to. They say what *would* be, as Original's
do, but nothing is done: the answer is what there is. Relations that only an action brings about, one thing on another,
are in none of them.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...lang.execution_world import ExecutionWorld
from ...question import Provenance, Question
from ...rng import seed_of
from ...scene import Scene
from ..clevr.generator import build_image_notes
from .action import ATTRIBUTES
from .generator import OutcomeJob, SearchLimits, get_generator
from .hypothesis import TOLD_WIDTH
from .outcome_templates import QUESTION_TYPES
from .scene_arrays import build_scene_arrays, create_layout

SEED_BITS = (1 << 64) - 1
NEVER_BEFORE = 0  # of SearchLimits.defined: there is no scene before another


def generate_plain(
    scenes: Sequence[Scene], *, per_image: int, seed: int, split: str, shard: int, start: int = 0
) -> list[Question]:
    """The questions of one shard: a function of its scenes, seed, split and shard number.

    As many of each question type, and answers balanced over the scenes given here; a scene that too few templates fit
    gets fewer. `start` numbers the first question.
    """
    generator, layout = get_generator(), create_layout(len(scenes))
    for row, scene in enumerate(scenes):
        build_scene_arrays(scene).write_row(layout, row)
    nothing = OutcomeJob._make([0] * len(OutcomeJob._fields))  # done, lacking, left open or told
    jobs = [nothing._replace(after=row, without=row) for row in range(len(scenes))]
    seeds = [seed_of("plain", seed, split, shard, row) & SEED_BITS for row in range(len(scenes))]
    looks, told = (np.zeros((0, width), np.int64) for width in (len(ATTRIBUTES), TOLD_WIDTH))
    limits = SearchLimits(per_image, per_slot=-(-per_image // len(QUESTION_TYPES)), defined=NEVER_BEFORE)
    balance = generator.create_balance()
    questions: list[Question] = []
    at, place = -1, 0
    for found in generator.find_matches(layout, looks, told, jobs, seeds, balance, limits):
        if found.job != at:
            at, place, scene = found.job, 0, scenes[found.job]
            world, image = ExecutionWorld((scene,)), build_image_notes(scene)
        family = generator.families[found.template]
        program, _ = generator.programs[found.template].build(found.values)
        text, wording = generator.word_question(found)
        logic: tuple[tuple[str, Any], ...] = (("logic", family.logic),) if family.logic else ()
        questions.append(
            Question(
                id=f"{scene.id}_h{place}",
                text=text,
                scenes=(scene.id,),
                program=program,
                answer=generator.check_answer(found, program, 0, world),
                kind=family.kind,
                provenance=_build_provenance(scene.schema.name, split, family.template.file, family.template.family),
                notes=(("question_index", start + len(questions)), *logic, ("wording", wording), *image),
            )
        )
        place += 1
    return questions


@lru_cache(maxsize=4096)
def _build_provenance(source: str, split: str, file: str, family: int) -> Provenance:
    return Provenance(source, split, file, family)
