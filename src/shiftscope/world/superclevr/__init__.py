"""Super-CLEVR's world: three to ten vehicles on a grey plane, whose parts may have colours of their own.

A scene is a function of (seed, split, index) and the rules alone, the same on every machine. What twins share
is drawn from random paths of its own: layout, concepts, parts and textures do not disturb each other.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...errors import UserError, unknown
from ...geometry.camera import SIZE, Camera, camera_of
from ...geometry.shapes.superclevr import TEXTURES, body, load_vehicle
from ...geometry.visibility import list_parts
from ...rng import KernelStream, derive_by_kernel
from ...scene import Object, Part, Scene, Vector
from ...schemas.superclevr import SCHEMA
from .. import RngPath, Sampling, World, box_of, build_scene, check_object_count, finish_scenes, sample_setup
from .concepts import BALANCED, DISTRIBUTIONS, ConceptDistribution, distribution
from .layout import Arrangement, NoRoomError, arrange, rearrange

VISUAL_LEVELS = ("easy", "mid", "hard")  # whole vehicles; parts of their own; textures too
COUNTED_AT = (640, 480)  # the official images, where the least numbers of pixels are given
MOST_PARTS = 64  # of a vehicle, for which random numbers are drawn


@dataclass(frozen=True, slots=True)
class SuperClevrRules:
    """What a scene must satisfy, and what it shows."""

    objects: tuple[int, int] = (3, 10)  # fewest and most, both included
    reach: float = 4.0  # positions lie within ± this, along x and y, but vehicles whole in the picture
    gap: float = 0.1  # least distance between the outlines of two vehicles
    margin: float = 0.4  # least offset between two vehicles along left/right and front/behind
    pixels: int = 200  # least visible pixels of a vehicle, at 640×480; scaled to other sizes by area
    part_pixels: int = 50  # of a part with attributes of its own: about 5 × 5 in an image of 480×320
    parts: int = 3  # with attributes of their own, at most, a vehicle
    camera_jitter: float = 0.5
    lamp_jitter: float = 1.0
    size: tuple[int, int] = SIZE  # of the image, width and height
    arrangements: int = 400  # tried for one scene
    visual: str = "mid"
    concepts: ConceptDistribution = BALANCED

    def __post_init__(self) -> None:
        check_object_count(self.objects)
        if self.visual not in VISUAL_LEVELS:
            raise unknown("visual level", self.visual, VISUAL_LEVELS)

    def scale_pixels(self, pixels: int) -> float:
        """So many pixels at 640×480 are how many at the size of the image."""
        return pixels * self.size[0] * self.size[1] / (COUNTED_AT[0] * COUNTED_AT[1])


RULES = SuperClevrRules()


def sample_scene(seed: int, split: str, index: int, rules: SuperClevrRules = RULES) -> Scene:
    """The scene of that index; a UserError names the rule that could not be met."""
    return finish_scenes([begin_scene(seed, split, index, rules)])[0]


def begin_scene(seed: int, split: str, index: int, rules: SuperClevrRules = RULES) -> Sampling:
    """The same, for `finish_scenes`.

    Concepts are drawn once and never again, so that their frequencies are those of the distribution. Sizes are even,
    but in a crowded scene large vehicles are made small, one after the other, until there is room.
    """
    path = ("superclevr", seed, split, index)
    setup = derive_by_kernel(*path, "setup")
    camera, lamps, count = sample_setup(rules, setup)
    sizes = ["large" if large else "small" for large in setup.integers(2, size=count)]
    # what stands there in the variants of the concept distribution, so that these can share the layout
    numbers = _draw_numbers(count, path)
    others = [distribution(name).choose_shapes([n[0] for n in numbers]) for name in DISTRIBUTIONS if name != "bal"]
    try:
        vehicles = _choose_vehicles(sizes, BALANCED, numbers)
        arranged = yield from arrange(vehicles, others, camera, rules, KernelStream(derive_by_kernel(*path, "layout")))
    except NoRoomError as cramped:
        raise UserError(_explain_failure(rules, str(cramped), count, path)) from None
    if rules.concepts != BALANCED:
        return (yield from begin_concept_twin(_build_scene(arranged, camera, lamps, path, rules), seed, rules))
    return visual_twin(_build_scene(arranged, camera, lamps, path, rules, parts=True), rules.visual, seed)


def visual_twin(mid: Scene, visual: str, seed: int) -> Scene:
    """The same scene as whole vehicles (easy), with parts of their own (mid), or with textures too (hard)."""
    if visual == "mid":
        return mid
    if visual == "easy":
        return replace(mid, objects=tuple(replace(o, parts=()) for o in mid.objects))
    return replace(mid, objects=_add_textures(mid.objects, derive_by_kernel(*_path_of(mid, seed), "textures")))


def concept_twin(base: Scene, seed: int, rules: SuperClevrRules) -> Scene:
    """The same layout with other concepts, drawn with the same random numbers."""
    return finish_scenes([begin_concept_twin(base, seed, rules)])[0]


def begin_concept_twin(base: Scene, seed: int, rules: SuperClevrRules) -> Sampling:
    """The same, for `finish_scenes`.

    A place has room for what stands there in every named distribution; but a vehicle that would be hidden
    there, or has no room because its concepts are the user's own, is moved, and the note `moved` names it.
    Where concepts differ in colours and materials alone, nothing is. Sizes stay as they are; a UserError
    names the rule that stood in the way where these vehicles have no room.
    """
    path = _path_of(base, seed)
    sizes = [o.values("size")[0] for o in base.objects]
    things = _choose_vehicles(sizes, rules.concepts, _draw_numbers(len(sizes), path))
    camera = camera_of(base)
    try:
        arranged = yield from rearrange(
            things, base.objects, camera, rules, KernelStream(derive_by_kernel(*path, "moved"))
        )
    except NoRoomError as cramped:
        raise UserError(_explain_failure(rules, str(cramped), len(things), path)) from None
    mid = _build_scene(arranged, camera, base.note("lamps"), path, rules, parts=True)
    return visual_twin(mid, rules.visual, seed)


def _path_of(scene: Scene, seed: int) -> RngPath:
    return ("superclevr", seed, scene.note("split"), scene.note("image_index"))


def _choose_vehicles(sizes: list[str], concepts: ConceptDistribution, numbers: list[list[float]]) -> list[Object]:
    """Vehicles without a place."""
    made = []
    for size, own in zip(sizes, numbers, strict=True):
        shape, color, material = concepts.choose_concepts(*own)
        made.append(Object((("size", size), ("color", color), ("material", material), ("shape", shape))))
    return made


def _draw_numbers(count: int, path: RngPath) -> list[list[float]]:
    found: list[list[float]] = derive_by_kernel(*path, "concepts").random((count, 3)).tolist()
    return found


def _build_scene(
    arranged: Arrangement,
    camera: Camera,
    lamps: tuple[Vector, ...],
    path: RngPath,
    rules: SuperClevrRules,
    parts: bool = False,
) -> Scene:
    """The scene, its vehicles whole or with parts of their own; its notes name those that its base has elsewhere."""
    notes = (("moved", arranged.moved),) if arranged.moved else ()
    own = _choose_parts(arranged, rules, derive_by_kernel(*path, "parts")) if parts else ()
    return build_scene(path, SCHEMA, arranged.objects, arranged.seen, camera, lamps, rules.size, notes, own)


# Appearance: parts with attributes of their own, and textures. Each part has random numbers of its own, so that it
# looks the same whatever else changes about the scene: twins share all that they can.


def _choose_parts(
    arranged: Arrangement, rules: SuperClevrRules, generator: np.random.Generator
) -> list[tuple[Part, ...]]:
    """Of each vehicle a few parts that are seen well, with a colour, not their vehicle's, and a material."""
    concepts, least = rules.concepts, rules.scale_pixels(rules.part_pixels)
    numbers = generator.random((len(arranged.objects), MOST_PARTS, 4))  # rank, colour, colour if taken, material
    ranks, seen = numbers[:, :, 0].tolist(), arranged.seen
    made = []
    for thing, visible, boxes, rank, own in zip(
        arranged.objects, seen.part_visible, seen.part_boxes, ranks, numbers, strict=True
    ):
        known = dict(thing.attributes)
        names = list_parts(load_vehicle(known["shape"]))
        found = [k for k, pixels in enumerate(visible.tolist()) if pixels >= least]
        parts = []
        for k in sorted(sorted(found, key=rank.__getitem__)[: rules.parts]):
            _, first, second, third = own[k].tolist()
            color = concepts.choose_part_color(known["color"], first, second)
            attributes = (("size", known["size"]), ("color", color), ("material", concepts.choose_material(third)))
            parts.append(Part(names[k], attributes, box=box_of(boxes[k])))
        made.append(tuple(parts))
    return made


def _add_textures(objects: tuple[Object, ...], generator: np.random.Generator) -> tuple[Object, ...]:
    """Every vehicle and every part with attributes of its own gets a pattern, or none, at random."""
    chosen = generator.integers(len(TEXTURES), size=(len(objects), 1 + MOST_PARTS)).tolist()
    made = []
    for thing, codes in zip(objects, chosen, strict=True):
        names = list_parts(load_vehicle(*thing.values("shape")))
        whole, *own = ("" if TEXTURES[code] == "none" else TEXTURES[code] for code in codes)
        parts = tuple(replace(p, texture=own[names.index(p.name)]) for p in thing.parts)
        made.append(replace(thing, texture=whole, parts=parts))
    return tuple(made)


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
