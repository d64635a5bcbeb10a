"""CLEVR's world: three to ten solids on a grey plane, none hidden, each relation clear to the eye.

A scene is a function of (seed, split, index) and the rules alone, the same on every machine.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from ..geometry.camera import SIZE
from ..geometry.footprint import place_in_turn
from ..geometry.layout import Layout
from ..geometry.mesh import find_unit_circles
from ..geometry.shapes.clevr import BEVEL, SIZES, body
from ..kernels import Doubles
from ..rng import derive_by_kernel
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
    camera, lamps, count = sample_setup(rules, derive_by_kernel(*path, "setup"))
    directions = dict(camera.directions())
    axes = np.array([directions["right"][:2], directions["front"][:2]])
    least = rules.pixels * rules.size[0] * rules.size[1] / (SIZE[0] * SIZE[1])
    layout = derive_by_kernel(*path, "layout")
    refused: Counter[str] = Counter()
    for _ in range(rules.layouts):
        placed = _place_objects(count, rules, axes, layout)
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


_RADII = np.array([SIZES[size] for size in SCHEMA.attribute("size").values])
_IS_CUBE = np.array([shape == "cube" for shape in SCHEMA.attribute("shape").values])


def _place_objects(
    count: int, rules: ClevrRules, axes: Doubles, generator: np.random.Generator
) -> tuple[Object, ...] | str:
    """Objects, every attribute even, where they keep every rule; else the rule that turned most positions down."""
    chosen = {a.name: generator.integers(len(a.values), size=count) for a in SCHEMA.attributes}
    turns = 360.0 * generator.random(count)
    radii = _RADII[chosen["size"]]
    rows = np.zeros((count, 7))  # see footprint.py
    cubes = _IS_CUBE[chosen["shape"]]
    rows[:, 2] = rows[:, 3] = np.where(cubes, radii * (1.0 - BEVEL), 0.0)
    rows[:, 4] = np.where(cubes, radii * BEVEL, radii)
    find_unit_circles(turns, rows[:, 5:])
    refused = np.zeros(len(PLACEMENT_RULES), np.int64)
    before = generator.bit_generator.state
    candidates = rules.reach * (2.0 * generator.random((count, rules.tries, 2)) - 1.0)
    n = place_in_turn(rows, radii, candidates, axes, rules.distance, rules.margin, CLEARANCE, refused)
    if n < count:
        generator.bit_generator.state = before  # positions of objects that were not tried count as not drawn
        generator.random((n + 1) * rules.tries * 2)
        return PLACEMENT_RULES[int(refused.argmax())]
    columns = [[(a.name, a.values[k]) for k in chosen[a.name].tolist()] for a in SCHEMA.attributes]
    places = zip(zip(*columns, strict=True), rows[:, :2].tolist(), radii.tolist(), turns.tolist(), strict=True)
    return tuple([Object(pairs, position=(x, y, radius), rotation=turn) for pairs, (x, y), radius, turn in places])


WORLD = World(SCHEMA, ClevrRules, sample_scene, body)
