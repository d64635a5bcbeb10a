"""CLEVR's world: three to ten solids on a grey plane, none hidden, each relation clear to the eye.

A scene is a function of (seed, split, index) and the rules alone, the same on every machine.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from ..geometry.camera import SIZE
from ..geometry.footprint import place_first_clear
from ..geometry.layout import Layout
from ..geometry.mesh import unit_circle
from ..geometry.shapes.clevr import BEVEL, SIZES, body
from ..kernels import Doubles
from ..rng import derive
from ..scene import Object, Scene
from ..schemas.clevr import SCHEMA
from . import Sampling, World, build_scene, check_object_count, finish_scenes, sample_setup

CLEARANCE = 0.03  # between two surfaces, in world units
PLACEMENT_RULES = ("distance", "margin", "overlap")  # in the order they are checked


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
        check_object_count(self.objects)


RULES = ClevrRules()


def sample_scene(seed: int, split: str, index: int, rules: ClevrRules = RULES) -> Scene:
    """The scene of that index; a UserError names the rule that could not be met."""
    return finish_scenes([begin_scene(seed, split, index, rules)])[0]


def begin_scene(seed: int, split: str, index: int, rules: ClevrRules = RULES) -> Sampling:
    """The same, for `finish_scenes`.

    How many objects there are is drawn once; where they do not fit, attributes and places are drawn anew,
    which as in CLEVR favours small objects in crowded scenes.
    """
    path = ("clevr", seed, split, index)
    camera, lamps, count = sample_setup(rules, derive(*path, "setup"))
    directions = dict(camera.directions())
    axes = np.array([directions["right"][:2], directions["front"][:2]])
    least = rules.pixels * rules.size[0] * rules.size[1] / (SIZE[0] * SIZE[1])
    layout = derive(*path, "layout")
    refused: Counter[str] = Counter()
    for _ in range(rules.layouts):
        placed = _place_objects(_sample_objects(layout, count), rules, axes, layout)
        if isinstance(placed, str):
            refused[placed] += 1
            continue
        seen = yield Layout(placed, SCHEMA, camera, rules.size)
        if int(seen.visible.min()) >= least:
            return build_scene(path, SCHEMA, placed, seen, camera, lamps, rules.size)
        refused["pixels"] += 1
    words = {
        "distance": f"two objects at least {rules.distance:g} apart (distance)",
        "margin": f"an offset of at least {rules.margin:g} along each direction (margin)",
        "overlap": "objects that do not overlap",
        "pixels": f"at least {rules.pixels} visible pixels an object (pixels)",
    }
    raise UserError(
        f"no layout for {count} objects in {rules.layouts} attempts (scene {index} of {split}, seed {seed}): what "
        f"failed most was {words[refused.most_common(1)[0][0]]}; lower it, ask for fewer objects, or widen reach"
    )


def _sample_objects(generator: np.random.Generator, count: int) -> list[Object]:
    """Objects without a place: every attribute even, and a turn."""
    columns = []
    for attribute in SCHEMA.attributes:
        chosen = generator.integers(len(attribute.values), size=count).tolist()
        columns.append([(attribute.name, attribute.values[k]) for k in chosen])
    turns = (360.0 * generator.random(count)).tolist()
    return [Object(pairs, rotation=turn) for pairs, turn in zip(zip(*columns, strict=True), turns, strict=True)]


def _place_objects(
    things: Sequence[Object], rules: ClevrRules, axes: Doubles, generator: np.random.Generator
) -> tuple[Object, ...] | str:
    """The objects where they keep every rule; else the name of the rule that turned most positions down."""
    radii = np.array([SIZES[thing.values("size")[0]] for thing in things])
    rows = np.zeros((len(things), 7))  # see footprint.py
    for row, radius, thing in zip(rows, radii.tolist(), things, strict=True):
        half, beyond = (radius * (1.0 - BEVEL), radius * BEVEL) if "cube" in thing.values("shape") else (0.0, radius)
        row[2:] = (half, half, beyond, *unit_circle(thing.rotation or 0.0))
    refused = np.zeros(len(PLACEMENT_RULES), np.int64)
    for k in range(len(things)):
        candidates = rules.reach * (2.0 * generator.random((rules.tries, 2)) - 1.0)
        room = (rules.distance, rules.margin, CLEARANCE)
        if not place_first_clear(rows, radii, k, candidates, axes, *room, refused):
            return PLACEMENT_RULES[int(refused.argmax())]
    return tuple(
        Object(thing.attributes, position=(x, y, radius), rotation=thing.rotation)
        for thing, (x, y), radius in zip(things, rows[:, :2].tolist(), radii.tolist(), strict=True)
    )


WORLD = World(SCHEMA, ClevrRules, sample_scene, body)
