"""CLEVR's world: three to ten solids on a grey plane, none hidden, each relation clear to the eye.

A scene is a function of (seed, split, index) and the rules alone, the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ..errors import UserError
from ..geometry.body import bodies_of
from ..geometry.camera import BASE_POSITION, SIZE, Camera
from ..geometry.seen import Seen, see
from ..geometry.shapes.clevr import SIZES
from ..geometry.solids import BEVEL
from ..geometry.stage import stage_of
from ..rng import derive
from ..scene import Object, Relation, Scene, Vector, derive_rows
from ..schemas.clevr import SCHEMA
from .layout import Plan, Spacing, place

LAMPS = 3  # whose positions are jittered


@dataclass(frozen=True, slots=True)
class Rules:
    """What a scene must satisfy; the defaults are CLEVR's."""

    objects: tuple[int, int] = (3, 10)  # fewest and most, both included
    reach: float = 3.0  # positions lie within ± this, along x and y
    distance: float = 0.25  # least distance between two objects, beyond their radii
    margin: float = 0.4  # least offset between two objects along left/right and front/behind
    pixels: int = 200  # least visible pixels of an object, at 480×320; scaled to other sizes by area
    camera_jitter: float = 0.5
    lamp_jitter: float = 1.0
    size: tuple[int, int] = SIZE  # of the image, width and height
    tries: int = 50  # positions tried for one object
    layouts: int = 2000  # layouts tried for one scene

    def __post_init__(self) -> None:
        least, most = self.objects
        if not 1 <= least <= most <= 60:
            raise UserError(f"objects must go from 1 to 60 at most, fewest first, not {least} to {most}")


RULES = Rules()


def scene(seed: int, split: str, index: int, rules: Rules = RULES) -> Scene:
    """The scene of that index; a UserError names the rule that could not be met.

    How many objects there are is drawn once; where they do not fit, attributes and places are drawn anew,
    which as in CLEVR favours small objects in crowded scenes.
    """
    path = ("clevr", seed, split, index)
    setup = derive(*path, "setup")
    camera = Camera(jittered(BASE_POSITION, setup, rules.camera_jitter))
    lamps = tuple(jittered((0.0, 0.0, 0.0), setup, rules.lamp_jitter) for _ in range(LAMPS))
    count = int(setup.integers(rules.objects[0], rules.objects[1] + 1))
    spacing = Spacing(rules.reach, rules.distance, rules.margin, rules.tries)
    directions = camera.directions()
    axes = (dict(directions)["right"], dict(directions)["front"])
    least = rules.pixels * rules.size[0] * rules.size[1] / (SIZE[0] * SIZE[1])
    layout = derive(*path, "layout")
    refused: Counter[str] = Counter()
    for _ in range(rules.layouts):
        things = _things(layout, count)
        positions = place([_plan(t) for t in things], spacing, axes, layout)
        if isinstance(positions, str):
            refused[positions] += 1
            continue
        standing = tuple(_standing(t, p) for t, p in zip(things, positions, strict=True))
        seen = see(stage_of(bodies_of(Scene(standing, schema=SCHEMA))), camera, rules.size)
        if int(seen.visible.min()) >= least:
            return _finished(standing, seen, camera, lamps, rules.size, split, index)
        refused["pixels"] += 1
    raise UserError(_complaint(rules, refused, count, f"scene {index} of {split}, seed {seed}"))


def jittered(position: Vector, generator: np.random.Generator, by: float) -> Vector:
    """A place at most `by` away along each axis."""
    x, y, z = (p + by * (2.0 * float(u) - 1.0) for p, u in zip(position, generator.random(3), strict=True))
    return (x, y, z)


def _things(generator: np.random.Generator, count: int) -> list[Object]:
    """Objects without a place: every attribute even, and a turn."""
    columns = []
    for attribute in SCHEMA.attributes:
        chosen = generator.integers(len(attribute.values), size=count).tolist()
        columns.append([(attribute.name, attribute.values[k]) for k in chosen])
    turns = (360.0 * generator.random(count)).tolist()
    return [
        Object(pairs, rotation=turn) for pairs, turn in zip(zip(*columns, strict=True), turns, strict=True)
    ]


def _plan(thing: Object) -> Plan:
    (size,), (shape,) = thing.values("size"), thing.values("shape")
    radius, turn = SIZES[size], thing.rotation or 0.0
    if shape == "cube":
        return Plan(radius, radius * (1.0 - BEVEL), radius * BEVEL, turn)
    return Plan(radius, 0.0, radius, turn)


def _standing(thing: Object, position: tuple[float, float]) -> Object:
    (size,) = thing.values("size")
    return Object(thing.attributes, position=(*position, SIZES[size]), rotation=thing.rotation)


def _finished(
    things: tuple[Object, ...],
    seen: Seen,
    camera: Camera,
    lamps: tuple[Vector, ...],
    size: tuple[int, int],
    split: str,
    index: int,
) -> Scene:
    """The scene with all that follows from where things stand: pixels, boxes, relations."""
    positions = [t.position for t in things]
    centres = camera.project(np.array(positions), size).tolist()
    objects = []
    for thing, (x, y, depth), (left, top, width, height) in zip(
        things, centres, seen.boxes.tolist(), strict=True
    ):
        pixel = (float(round(x)), float(round(y)), depth)
        box = (float(left), float(top), float(width), float(height))
        objects.append(replace(thing, pixel=pixel, box=box))
    directions = camera.directions()
    known = dict(directions)
    relations = tuple(Relation(r, derive_rows(positions, known[r])) for r in SCHEMA.relations)
    name = f"clevr_{split}_{index:06d}"
    notes = (
        *(
            ("image_index", index),
            ("image_filename", f"{name}.png"),
            ("split", split),
        ),  # as official files do
        *(("camera", camera.position), ("lamps", lamps)),  # for the renderer: a place, and three offsets
    )
    return Scene(tuple(objects), relations, directions, schema=SCHEMA, size=size, id=name, notes=notes)


def _complaint(rules: Rules, refused: Counter[str], count: int, where: str) -> str:
    """Which rule stood in the way most often, in words."""
    rule = refused.most_common(1)[0][0]
    words = {
        "distance": f"two objects at least {rules.distance:g} apart (distance)",
        "margin": f"an offset of at least {rules.margin:g} along each direction (margin)",
        "overlap": "objects that do not overlap",
        "pixels": f"at least {rules.pixels} visible pixels an object (pixels)",
    }
    return (
        f"no layout for {count} objects in {rules.layouts} attempts ({where}): what failed most was "
        f"{words[rule]}; lower it, ask for fewer objects, or widen reach"
    )
