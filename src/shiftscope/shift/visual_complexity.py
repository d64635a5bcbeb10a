"""Visual complexity: the same scenes as whole vehicles, with parts of their own, or with textures too.

Super-CLEVR (Li et al., 2023): in *easy* a vehicle has one colour and material; in *mid* up to three of its
visible parts have others; in *hard* vehicles and these parts have random textures besides.
"""

from dataclasses import replace
from typing import Any

from ..question import Question
from ..scene import Object, Scene
from ..world.superclevr import VISUAL_LEVELS
from . import Factor, differing_fields, differing_question_fields, differing_scene_fields

FACTOR = Factor("visual", "Visual complexity", VISUAL_LEVELS, "mid", ordered=True)


def variant(spec: Any, level: str) -> Any:
    """The spec with this factor at the level."""
    return replace(spec, visual=level)


def breaches(base: Scene, twin: Scene) -> list[str]:
    """What differs besides parts that the easy one lacks and textures that the hard one adds."""
    found = differing_scene_fields(base, twin)
    whole = not any(o.parts for o in twin.objects)
    for i, (a, b) in enumerate(zip(base.objects, twin.objects, strict=False)):
        differing = differing_fields(_drop_textures(a), _drop_textures(b), but=("parts",) if whole else ())
        found += [f"{what} of object {i}" for what in differing]
    return found


def off_level(base: Scene, twin: Scene, level: str) -> list[str]:
    """What a scene of this level may not have, and what it may not lack."""
    parts = any(o.parts for o in twin.objects)
    textures = any(t for o in twin.objects for t in (o.texture, *(p.texture for p in o.parts)))
    if level == "easy":
        return ["parts"] * parts + ["textures"] * textures
    return ["parts"] if not parts and any(o.parts for o in base.objects) else []


def question_breaches(base: Question, twin: Question, scene: Scene) -> list[str]:
    """What differs between the questions: nothing may."""
    return differing_question_fields(base, twin)


def _drop_textures(thing: Object) -> Object:
    return replace(thing, texture="", parts=tuple(replace(p, texture="") for p in thing.parts))
