"""Redundancy: the same questions with no word too many, as they came, or with all that is true.

Super-CLEVR (Li et al., 2023): *rd* keeps words that single nothing out, but no such relations; *rd-* drops
whatever can be dropped; *rd+* says all that may be said. Questions about parts are the same in all three.
"""

from dataclasses import replace
from typing import Any

from ..lang.check import plan_program
from ..question import Question
from ..questions.clevr.redundancy import LEVELS
from ..questions.clevr.redundancy.check import check_minimal, check_saturated, check_twin
from ..scene import Scene
from . import Factor, differing_fields, differing_question_fields

FACTOR = Factor("redundancy", "Question redundancy", LEVELS, "rd", ordered=True)


def variant(spec: Any, level: str) -> Any:
    """The spec with this factor at the level."""
    return replace(spec, redundancy=level)


def breaches(base: Scene, twin: Scene) -> list[str]:
    """What differs between the scenes: nothing may."""
    return differing_fields(base, twin)


def question_breaches(base: Question, twin: Question, scene: Scene) -> list[str]:
    """What differs besides the words, what makes it another question, what could be dropped or said."""
    if base.program is not None and plan_program(base.program).on_parts:
        return differing_question_fields(base, twin)
    found = differing_question_fields(base, twin, but=("text", "program", "provenance", "grounding"))
    found += check_twin(scene, twin, base)
    level = twin.note("variant")
    if level == "rd-":
        found += check_minimal(scene, twin)
    elif level == "rd+":
        found += check_saturated(scene, twin, base)
    return found
