"""Compositionality: the same scenes, in which some colours go with some shapes.

Super-CLEVR (Li et al., 2023): in *co-0* colours and shapes are independent. In *co-1* the shapes of one
category differ in their colours: each has the long-tailed distribution (a = 2), rotated by the shape's place
in its category. In *co-2* the shapes of a category share it, rotated by the category's place.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from ..errors import unknown
from ..scene import Scene
from ..world.superclevr.concepts import BALANCED, COLORS, SHAPES, ConceptDistribution, category_of, power_shares
from . import Factor, differing_fields, differing_scene_fields, drop_attribute

FACTOR = Factor("compositionality", "Concept compositionality", ("co-0", "co-1", "co-2"), "co-0")
CATEGORIES = ("aeroplane", "car", "bus", "motorbike", "bicycle")  # in the order of the official matrices
BASE = 2.0


@cache
def concepts(variant: str) -> ConceptDistribution:
    """How shapes and colours go together in a variant."""
    if variant == "co-0":
        return BALANCED
    if variant not in FACTOR.variants:
        raise unknown("compositionality", variant, FACTOR.variants)
    first = power_shares(BASE, range(len(COLORS)))
    rows = []
    for category, place in map(category_of, SHAPES):
        k = place if variant == "co-1" else CATEGORIES.index(category)
        rows.append(first[k:] + first[:k])
    return replace(BALANCED, together=tuple(rows))


def variant(spec: Any, level: str) -> Any:
    """The spec with this factor at the level."""
    return replace(spec, concepts=concepts(level))


def breaches(base: Scene, twin: Scene) -> list[str]:
    """What differs besides vehicles' colours; a part's may where its vehicle takes or frees that colour."""
    found = differing_scene_fields(base, twin)
    for i, (a, b) in enumerate(zip(base.objects, twin.objects, strict=False)):
        one, two = (drop_attribute(thing, "color") for thing in (a, b))
        found += [f"{what} of object {i}" for what in differing_fields(one, two)]
        for p, q in zip(a.parts, b.parts, strict=False):
            taken = dict(p.attributes).get("color") in b.values("color")
            freed = dict(q.attributes).get("color") in a.values("color")
            own = dict(q.attributes).get("color") in b.values("color")
            if own or (p.attributes != q.attributes and not taken and not freed):
                found.append(f"{p.name} of object {i}")
    return found
