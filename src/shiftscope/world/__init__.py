"""Worlds: scenes from nothing, one file or folder each; it holds a `World` named WORLD.

A world with a vocabulary of its own is named like its schema (`schemas/NAME.py`); its meshes may be in
`geometry/shapes/NAME.py`.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UserError
from ..geometry.camera import BASE_POSITION, Camera
from ..geometry.layout import Layout, Measure, measure_layouts
from ..geometry.mesh import Body
from ..geometry.visibility import Visibility
from ..kernels import Ints
from ..registry import WORLDS
from ..scene import Box, Notes, Object, Part, Relation, Scene, Vector, derive_relations
from ..schema import Schema

LAMPS = 3  # whose positions are jittered


Sampling = Generator[Layout, Visibility, Scene]  # a scene in the making: yields a layout, gets what is seen of it


def finish_scenes(begun: Sequence[Sampling], measure: Measure = measure_layouts) -> list[Scene]:
    """The scenes, which do not depend on each other; their layouts are looked at together."""
    made: dict[int, Scene] = {}
    waiting = {k: next(one) for k, one in enumerate(begun)}
    while waiting:
        for k, seen in zip(list(waiting), measure(list(waiting.values())), strict=True):
            try:
                waiting[k] = begun[k].send(seen)
            except StopIteration as stopped:
                made[k] = stopped.value
                del waiting[k]
    return [made[k] for k in range(len(begun))]


RngPath = tuple[str, int, str, int]  # of a scene: world, seed, split, index


@dataclass(frozen=True, slots=True)
class World:
    """A scene is a function of (rules, seed, split, index) alone, the same on every machine."""

    schema: Schema
    rules: type  # frozen: what a scene must satisfy; `size` is that of the image
    sample_scene: Callable[..., Scene]  # (seed, split, index, rules)
    body: Callable[[Object], Body]  # an object's mesh, placed and coloured

    @property
    def shapes(self) -> tuple[str, ...]:
        return next(a.values for a in self.schema.attributes if a.name == "shape")

    def sample(self, rules: Any, seed: int, split: str, index: int) -> Scene:
        return self.sample_scene(seed, split, index, rules)


def load_world(name: str) -> World:
    world: World = WORLDS.load(name).WORLD
    return world


def check_object_count(objects: tuple[int, int]) -> None:
    least, most = objects
    if not 1 <= least <= most <= 60:
        raise UserError(f"objects must go from 1 to 60 at most, fewest first, not {least} to {most}")


def sample_setup(rules: Any, generator: np.random.Generator) -> tuple[Camera, tuple[Vector, ...], int]:
    """What is drawn first: the camera, how far each lamp is moved, and how many objects there are."""

    def jitter(position: Vector, by: float) -> Vector:
        x, y, z = (p + by * (2.0 * float(u) - 1.0) for p, u in zip(position, generator.random(3), strict=True))
        return (x, y, z)

    camera = Camera(jitter(BASE_POSITION, rules.camera_jitter))
    lamps = tuple(jitter((0.0, 0.0, 0.0), rules.lamp_jitter) for _ in range(LAMPS))
    return camera, lamps, int(generator.integers(rules.objects[0], rules.objects[1] + 1))


def box_of(row: Ints) -> Box:
    left, top, width, height = row.tolist()
    return (float(left), float(top), float(width), float(height))


def build_scene(
    path: RngPath,
    schema: Schema,
    standing: Sequence[Object],
    seen: Visibility,
    camera: Camera,
    lamps: tuple[Vector, ...],
    size: tuple[int, int],
    notes: Notes = (),
    parts: Sequence[tuple[Part, ...]] = (),
) -> Scene:
    """The scene with all that follows from where things stand: pixels, boxes, relations; parts are each thing's."""
    positions = [thing.position for thing in standing]
    centres = camera.project(np.array(positions), size).tolist()
    objects = []
    for thing, (x, y, depth), box, mine in zip(
        standing, centres, seen.boxes, parts or [()] * len(standing), strict=True
    ):
        objects.append(
            Object(
                attributes=thing.attributes,
                parts=mine,
                position=thing.position,
                rotation=thing.rotation,
                pixel=(float(round(x)), float(round(y)), depth),
                box=box_of(box),
            )
        )
    directions = camera.directions()
    along = dict(directions)
    rows = derive_relations(positions, [along[r] for r in schema.relations])
    relations = tuple(map(Relation, schema.relations, rows))
    world, _, split, index = path
    name = f"{world}_{split}_{index:06d}"
    own = (
        *(("image_index", index), ("image_filename", f"{name}.png"), ("split", split)),  # as official files do
        *(("camera", camera.position), ("lamps", lamps)),  # for the renderer: a place, and three offsets
    )
    return Scene(tuple(objects), relations, directions, schema=schema, size=size, id=name, notes=(*own, *notes))
