"""CLEVR's world: three to ten solids on a grey plane, none hidden, each relation clear to the eye.

A scene is a function of (seed, split, index) and the rules alone, the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import UserError
from ..geometry.body import bodies_of, build_scene_mesh
from ..geometry.camera import BASE_POSITION, SIZE, Camera
from ..geometry.footprint import place_first_clear
from ..geometry.mesh import unit_circle
from ..geometry.shapes.clevr import BEVEL, SIZES, body
from ..geometry.visibility import Visibility, measure_visibility
from ..rng import derive
from ..scene import Object, Relation, Scene, Vector, derive_rows
from ..schemas.clevr import SCHEMA
from . import World

CLEARANCE = 0.03  # between two surfaces, in world units
PLACEMENT_RULES = ("distance", "margin", "overlap")  # in the order they are checked


@dataclass(frozen=True, slots=True)
class FootprintPlan:
    """What is to be placed: the outline it stands on, and its turn."""

    radius: float  # what the minimum distance is measured from
    half: float  # half the side of the square under it; 0 for a round one
    round: float  # how far the outline reaches beyond that square
    rotation: float  # degrees


@dataclass(frozen=True, slots=True)
class PlacementRules:
    """The rules of placement, in world units."""

    reach: float  # positions lie within ± this, along x and y
    distance: float  # least distance between two, beyond their radii
    margin: float  # least offset between two along each of the four directions
    tries: int  # positions tried for one object before the whole layout is given up


def place_objects(
    plans: Sequence[FootprintPlan],
    spacing: PlacementRules,
    axes: tuple[Vector, Vector],  # right and front
    generator: np.random.Generator,
) -> list[tuple[float, float]] | str:
    """Positions that keep every rule; else the name of the rule that turned most positions down."""
    rows = np.array([(0.0, 0.0, p.half, p.half, p.round, *unit_circle(p.rotation)) for p in plans])
    radii = np.array([p.radius for p in plans])
    level = np.array([axis[:2] for axis in axes])
    refused = np.zeros(len(PLACEMENT_RULES), np.int64)
    for k in range(len(plans)):
        candidates = spacing.reach * (2.0 * generator.random((spacing.tries, 2)) - 1.0)
        room = (spacing.distance, spacing.margin, CLEARANCE)
        if not place_first_clear(rows, radii, k, candidates, level, *room, refused):
            return PLACEMENT_RULES[int(refused.argmax())]
    return [(x, y) for x, y in rows[:, :2].tolist()]


LAMPS = 3  # whose positions are jittered


@dataclass(frozen=True, slots=True)
class ClevrRules:
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


RULES = ClevrRules()


def sample_scene(seed: int, split: str, index: int, rules: ClevrRules = RULES) -> Scene:
    """The scene of that index; a UserError names the rule that could not be met.

    How many objects there are is drawn once; where they do not fit, attributes and places are drawn anew,
    which as in CLEVR favours small objects in crowded scenes.
    """
    path = ("clevr", seed, split, index)
    setup = derive(*path, "setup")
    camera = Camera(jitter(BASE_POSITION, setup, rules.camera_jitter))
    lamps = tuple(jitter((0.0, 0.0, 0.0), setup, rules.lamp_jitter) for _ in range(LAMPS))
    count = int(setup.integers(rules.objects[0], rules.objects[1] + 1))
    spacing = PlacementRules(rules.reach, rules.distance, rules.margin, rules.tries)
    directions = camera.directions()
    axes = (dict(directions)["right"], dict(directions)["front"])
    least = rules.pixels * rules.size[0] * rules.size[1] / (SIZE[0] * SIZE[1])
    layout = derive(*path, "layout")
    refused: Counter[str] = Counter()
    for _ in range(rules.layouts):
        things = _sample_objects(layout, count)
        positions = place_objects([_plan_footprint(t) for t in things], spacing, axes, layout)
        if isinstance(positions, str):
            refused[positions] += 1
            continue
        standing = tuple(_put_on_ground(t, p) for t, p in zip(things, positions, strict=True))
        seen = measure_visibility(build_scene_mesh(bodies_of(Scene(standing, schema=SCHEMA))), camera, rules.size)
        if int(seen.visible.min()) >= least:
            return _build_scene(standing, seen, camera, lamps, rules.size, split, index)
        refused["pixels"] += 1
    raise UserError(_explain_failure(rules, refused, count, f"scene {index} of {split}, seed {seed}"))


def jitter(position: Vector, generator: np.random.Generator, by: float) -> Vector:
    """A place at most `by` away along each axis."""
    x, y, z = (p + by * (2.0 * float(u) - 1.0) for p, u in zip(position, generator.random(3), strict=True))
    return (x, y, z)


def _sample_objects(generator: np.random.Generator, count: int) -> list[Object]:
    """Objects without a place: every attribute even, and a turn."""
    columns = []
    for attribute in SCHEMA.attributes:
        chosen = generator.integers(len(attribute.values), size=count).tolist()
        columns.append([(attribute.name, attribute.values[k]) for k in chosen])
    turns = (360.0 * generator.random(count)).tolist()
    return [Object(pairs, rotation=turn) for pairs, turn in zip(zip(*columns, strict=True), turns, strict=True)]


def _plan_footprint(thing: Object) -> FootprintPlan:
    (size,), (shape,) = thing.values("size"), thing.values("shape")
    radius, turn = SIZES[size], thing.rotation or 0.0
    if shape == "cube":
        return FootprintPlan(radius, radius * (1.0 - BEVEL), radius * BEVEL, turn)
    return FootprintPlan(radius, 0.0, radius, turn)


def _put_on_ground(thing: Object, position: tuple[float, float]) -> Object:
    (size,) = thing.values("size")
    return Object(thing.attributes, position=(*position, SIZES[size]), rotation=thing.rotation)


def _build_scene(
    things: tuple[Object, ...],
    seen: Visibility,
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
    for thing, (x, y, depth), (left, top, width, height) in zip(things, centres, seen.boxes.tolist(), strict=True):
        pixel = (float(round(x)), float(round(y)), depth)
        box = (float(left), float(top), float(width), float(height))
        objects.append(replace(thing, pixel=pixel, box=box))
    directions = camera.directions()
    known = dict(directions)
    relations = tuple(Relation(r, derive_rows(positions, known[r])) for r in SCHEMA.relations)
    name = f"clevr_{split}_{index:06d}"
    notes = (
        *(("image_index", index), ("image_filename", f"{name}.png"), ("split", split)),  # as official files do
        *(("camera", camera.position), ("lamps", lamps)),  # for the renderer: a place, and three offsets
    )
    return Scene(tuple(objects), relations, directions, schema=SCHEMA, size=size, id=name, notes=notes)


def _explain_failure(rules: ClevrRules, refused: Counter[str], count: int, where: str) -> str:
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


WORLD = World(SCHEMA, ClevrRules, sample_scene, body)
