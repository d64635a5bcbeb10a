"""Appearance: parts with attributes of their own, and textures. Each part has random numbers of its own.

So a part looks the same whatever else is changed about the scene: twins share all that they can.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..geometry.seen import Seen, named_parts
from ..geometry.shapes.superclevr import TEXTURES
from ..geometry.vehicles.stored import vehicle
from ..scene import Object, Part
from .concepts import MATERIALS, Concepts, place_of

MOST_PARTS = 64  # of a vehicle, for which random numbers are drawn


def with_parts(
    objects: tuple[Object, ...],
    seen: Seen,
    least: float,
    most: int,
    concepts: Concepts,
    generator: np.random.Generator,
) -> tuple[Object, ...]:
    """Up to `most` parts that are seen well get a colour, not their vehicle's, and a material."""
    numbers = generator.random(
        (len(objects), MOST_PARTS, 4)
    )  # rank, colour, colour if that is taken, material
    made = []
    for thing, visible, boxes, own in zip(objects, seen.part_visible, seen.part_boxes, numbers, strict=True):
        (shape,) = thing.values("shape")
        names = named_parts(vehicle(shape))
        found = np.flatnonzero(visible >= least)
        chosen = sorted(found[own[found, 0].argsort(kind="stable")][:most].tolist())
        parts = []
        for k in chosen:
            left, top, width, height = (float(v) for v in boxes[k].tolist())
            parts.append(Part(names[k], _attributes(thing, own[k], concepts), box=(left, top, width, height)))
        made.append(replace(thing, parts=tuple(parts)))
    return tuple(made)


def _attributes(
    thing: Object, numbers: np.ndarray[tuple[int], np.dtype[np.float64]], concepts: Concepts
) -> tuple[tuple[str, str], ...]:
    (size,), (color,) = thing.values("size"), thing.values("color")
    _, first, second, material = numbers.tolist()
    return (
        ("size", size),
        ("color", concepts.own_color(color, first, second)),
        ("material", MATERIALS[place_of(concepts.material, material)]),
    )


def with_textures(objects: tuple[Object, ...], generator: np.random.Generator) -> tuple[Object, ...]:
    """Every vehicle and every part with attributes of its own gets a pattern, or none, at random."""
    chosen = generator.integers(len(TEXTURES), size=(len(objects), 1 + MOST_PARTS)).tolist()
    made = []
    for thing, codes in zip(objects, chosen, strict=True):
        names = named_parts(vehicle(*thing.values("shape")))
        parts = tuple(replace(p, texture=_pattern(codes[1 + names.index(p.name)])) for p in thing.parts)
        made.append(replace(thing, texture=_pattern(codes[0]), parts=parts))
    return tuple(made)


def _pattern(code: int) -> str:
    return "" if TEXTURES[code] == "none" else TEXTURES[code]
