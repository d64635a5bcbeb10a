"""Super-CLEVR's world: three to ten vehicles on a grey plane, whose parts may have colours of their own.

A scene is a function of (seed, split, index) and the rules alone, the same on every machine. What twins share
is drawn from random paths of its own: layout, concepts, parts and textures do not disturb each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import UserError, unknown
from ...geometry.camera import BASE_POSITION, SIZE, Camera, camera_of
from ...geometry.shapes.superclevr import TEXTURES, body
from ...geometry.vehicles import load_vehicle
from ...geometry.visibility import Visibility, list_parts
from ...rng import derive
from ...scene import Object, Part, Relation, Scene, Vector, derive_relations
from ...schemas.superclevr import SCHEMA
from .. import World
from ..clevr import LAMPS, jitter
from .concepts import BALANCED, DISTRIBUTIONS, MATERIALS, ConceptDistribution, distribution, inverse_cdf
from .layout import Arrangement, NoRoomError, PlacementArea, arrange, rearrange

# Appearance: parts with attributes of their own, and textures. Each part has random numbers of its own, so that it
# looks the same whatever else changes about the scene: twins share all that they can.

MOST_PARTS = 64  # of a vehicle, for which random numbers are drawn


def add_parts(
    objects: tuple[Object, ...],
    seen: Visibility,
    least: float,
    most: int,
    concepts: ConceptDistribution,
    generator: np.random.Generator,
) -> tuple[Object, ...]:
    """Up to `most` parts that are seen well get a colour, not their vehicle's, and a material."""
    numbers = generator.random((len(objects), MOST_PARTS, 4))  # rank, colour, colour if that is taken, material
    made = []
    for thing, visible, boxes, own in zip(objects, seen.part_visible, seen.part_boxes, numbers, strict=True):
        (shape,) = thing.values("shape")
        names = list_parts(load_vehicle(shape))
        found = np.flatnonzero(visible >= least)
        chosen = sorted(found[own[found, 0].argsort(kind="stable")][:most].tolist())
        parts = []
        for k in chosen:
            left, top, width, height = (float(v) for v in boxes[k].tolist())
            parts.append(
                Part(names[k], _sample_part_attributes(thing, own[k], concepts), box=(left, top, width, height))
            )
        made.append(replace(thing, parts=tuple(parts)))
    return tuple(made)


def _sample_part_attributes(
    thing: Object, numbers: np.ndarray[tuple[int], np.dtype[np.float64]], concepts: ConceptDistribution
) -> tuple[tuple[str, str], ...]:
    (size,), (color,) = thing.values("size"), thing.values("color")
    _, first, second, material = numbers.tolist()
    return (
        ("size", size),
        ("color", concepts.choose_part_color(color, first, second)),
        ("material", MATERIALS[inverse_cdf(concepts.material, material)]),
    )


def add_textures(objects: tuple[Object, ...], generator: np.random.Generator) -> tuple[Object, ...]:
    """Every vehicle and every part with attributes of its own gets a pattern, or none, at random."""
    chosen = generator.integers(len(TEXTURES), size=(len(objects), 1 + MOST_PARTS)).tolist()
    made = []
    for thing, codes in zip(objects, chosen, strict=True):
        names = list_parts(load_vehicle(*thing.values("shape")))
        parts = tuple(replace(p, texture=_texture_name(codes[1 + names.index(p.name)])) for p in thing.parts)
        made.append(replace(thing, texture=_texture_name(codes[0]), parts=parts))
    return tuple(made)


def _texture_name(code: int) -> str:
    return "" if TEXTURES[code] == "none" else TEXTURES[code]


VISUAL_LEVELS = ("easy", "mid", "hard")  # whole vehicles; parts of their own; textures too
COUNTED_AT = (640, 480)  # the official images, where the least numbers of pixels are given


@dataclass(frozen=True, slots=True)
class SuperClevrRules:
    """What a scene must satisfy, and what it shows."""

    objects: tuple[int, int] = (3, 10)  # fewest and most, both included
    reach: float = 4.0  # positions lie within ± this, along x and y, but vehicles whole in the picture
    gap: float = 0.1  # least distance between the outlines of two vehicles
    margin: float = 0.4  # least offset between two vehicles along left/right and front/behind
    pixels: int = 200  # least visible pixels of a vehicle, at 640×480; scaled to other sizes by area
    part_pixels: int = 20  # of a part with attributes of its own
    parts: int = 3  # with attributes of their own, at most, a vehicle
    camera_jitter: float = 0.5
    lamp_jitter: float = 1.0
    size: tuple[int, int] = SIZE  # of the image, width and height
    arrangements: int = 400  # tried for one scene
    visual: str = "mid"
    concepts: ConceptDistribution = BALANCED

    def __post_init__(self) -> None:
        least, most = self.objects
        if not 1 <= least <= most <= 60:
            raise UserError(f"objects must go from 1 to 60 at most, fewest first, not {least} to {most}")
        if self.visual not in VISUAL_LEVELS:
            raise unknown("visual level", self.visual, VISUAL_LEVELS)

    def scale_pixels(self, pixels: int) -> float:
        """So many pixels at 640×480 are how many at the size of the image."""
        return pixels * self.size[0] * self.size[1] / (COUNTED_AT[0] * COUNTED_AT[1])


RULES = SuperClevrRules()


def sample_scene(seed: int, split: str, index: int, rules: SuperClevrRules = RULES) -> Scene:
    """The scene of that index; a UserError names the rule that could not be met.

    Concepts are drawn once and never again, so that their frequencies are those of the distribution. Sizes are even,
    but in a crowded scene large vehicles are made small, one after the other, until there is room.
    """
    path = ("superclevr", seed, split, index)
    setup = derive(*path, "setup")
    camera = Camera(jitter(BASE_POSITION, setup, rules.camera_jitter))
    lamps = tuple(jitter((0.0, 0.0, 0.0), setup, rules.lamp_jitter) for _ in range(LAMPS))
    count = int(setup.integers(rules.objects[0], rules.objects[1] + 1))
    sizes = ["large" if large else "small" for large in setup.integers(2, size=count)]
    things = _sample_vehicles(sizes, BALANCED, path)
    try:
        arranged = arrange(
            things, _sample_variant_shapes(count, path), _placement_area(camera, rules), derive(*path, "layout")
        )
    except NoRoomError as cramped:
        raise UserError(_explain_failure(rules, cramped.rule, count, path)) from None
    base = _build_scene(arranged, camera, lamps, path, rules)
    if rules.concepts != BALANCED:
        return concept_twin(base, seed, rules)
    mid = replace(base, objects=_add_parts(arranged, base.objects, path, rules))
    return visual_twin(mid, rules.visual, seed)


def visual_twin(mid: Scene, visual: str, seed: int) -> Scene:
    """The same scene as whole vehicles (easy), with parts of their own (mid), or with textures too (hard)."""
    if visual == "mid":
        return mid
    if visual == "easy":
        return replace(mid, objects=tuple(replace(o, parts=()) for o in mid.objects))
    return replace(mid, objects=add_textures(mid.objects, derive(*_path_of(mid, seed), "textures")))


def concept_twin(base: Scene, seed: int, rules: SuperClevrRules) -> Scene:
    """The same layout with other concepts, drawn with the same random numbers.

    A place has room for what stands there in every named distribution; but a vehicle that would be hidden
    there, or has no room because its concepts are the user's own, is moved, and the note `moved` names it.
    Where concepts differ in colours and materials alone, nothing is. Sizes stay as they are; a UserError
    names the rule that stood in the way where these vehicles have no room.
    """
    path = _path_of(base, seed)
    things = _sample_vehicles([o.values("size")[0] for o in base.objects], rules.concepts, path)
    camera = camera_of(base)
    try:
        arranged = rearrange(things, base.objects, _placement_area(camera, rules), derive(*path, "moved"))
    except NoRoomError as cramped:
        raise UserError(_explain_failure(rules, cramped.rule, len(things), path)) from None
    twin = _build_scene(arranged, camera, base.note("lamps"), path, rules)
    mid = replace(twin, objects=_add_parts(arranged, twin.objects, path, rules))
    return visual_twin(mid, rules.visual, seed)


RngPath = tuple[str, int, str, int]


def _path_of(scene: Scene, seed: int) -> RngPath:
    return ("superclevr", seed, scene.note("split"), scene.note("image_index"))


def _placement_area(camera: Camera, rules: SuperClevrRules) -> PlacementArea:
    return PlacementArea(
        camera, rules.size, rules.reach, rules.margin, rules.gap, rules.scale_pixels(rules.pixels), rules.arrangements
    )


def _sample_vehicles(sizes: Sequence[str], concepts: ConceptDistribution, path: RngPath) -> list[Object]:
    """Vehicles without a place."""
    made = []
    for size, numbers in zip(sizes, _draw_numbers(len(sizes), path), strict=True):
        shape, color, material = concepts.choose_concepts(*numbers)
        made.append(Object((("size", size), ("color", color), ("material", material), ("shape", shape))))
    return made


def _sample_variant_shapes(count: int, path: RngPath) -> list[list[str]]:
    """What stands there in the variants of the concept distribution, so that these can share the layout."""
    numbers = _draw_numbers(count, path)
    return [[distribution(name).choose_shape(n[0]) for n in numbers] for name in DISTRIBUTIONS if name != "bal"]


def _draw_numbers(count: int, path: RngPath) -> list[list[float]]:
    found: list[list[float]] = derive(*path, "concepts").random((count, 3)).tolist()
    return found


def _add_parts(
    arranged: Arrangement, objects: tuple[Object, ...], path: RngPath, rules: SuperClevrRules
) -> tuple[Object, ...]:
    least = rules.scale_pixels(rules.part_pixels)
    generator = derive(*path, "parts")
    return add_parts(objects, arranged.seen, least, rules.parts, rules.concepts, generator)


def _build_scene(
    arranged: Arrangement, camera: Camera, lamps: tuple[Vector, ...], path: RngPath, rules: SuperClevrRules
) -> Scene:
    """The scene with all that follows from where things stand: pixels, boxes, relations."""
    positions = [o.position for o in arranged.objects]
    centres = camera.project(np.array(positions), rules.size).tolist()
    objects = []
    for thing, (x, y, depth), box in zip(arranged.objects, centres, arranged.seen.boxes.tolist(), strict=True):
        left, top, width, height = map(float, box)
        pixel = (float(round(x)), float(round(y)), depth)
        objects.append(replace(thing, pixel=pixel, box=(left, top, width, height)))
    directions = camera.directions()
    known = dict(directions)
    rows = derive_relations(positions, [known[r] for r in SCHEMA.relations])
    relations = tuple(map(Relation, SCHEMA.relations, rows))
    _, _, split, index = path
    name = f"superclevr_{split}_{index:06d}"
    notes = (
        *(("image_index", index), ("image_filename", f"{name}.png"), ("split", split)),  # as official files do
        *(("camera", camera.position), ("lamps", lamps)),  # for the renderer: a place, and three offsets
        *((("moved", arranged.moved),) if arranged.moved else ()),  # that its base has elsewhere
    )
    return Scene(tuple(objects), relations, directions, schema=SCHEMA, size=rules.size, id=name, notes=notes)


def _explain_failure(rules: SuperClevrRules, rule: str, count: int, path: RngPath) -> str:
    """Which rule stood in the way most often, in words, and what may help."""
    _, seed, split, index = path
    words = {
        "margin": f"an offset of at least {rules.margin:g} along each direction (margin)",
        "frame": f"whole vehicles in a picture of {rules.size[0]}×{rules.size[1]} pixels (size)",
        "overlap": f"vehicles at least {rules.gap:g} apart (gap)",
        "pixels": f"at least {rules.pixels} visible pixels a vehicle at 640×480 (pixels)",
    }
    if rule == "frame":
        advice = "make the picture larger, nearer to 3 : 2 (--size)"
    elif rules.concepts != BALANCED:
        advice = "ask for larger shares of small shapes such as bicycles, or for another seed (--seed)"
    else:
        advice = "another seed has other scenes (--seed)"
    return (
        f"no room for {count} vehicles in {rules.arrangements} attempts (scene {index} of {split}, seed "
        f"{seed}): what failed most was {words[rule]}; {advice}"
    )


WORLD = World(SCHEMA, SuperClevrRules, sample_scene, body)
