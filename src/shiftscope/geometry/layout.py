"""Layout: objects that stand somewhere, to be looked at before a scene is made of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..scene import Object, Scene
from ..schema import Schema
from .camera import Camera
from .mesh import Body, bodies_of, build_scene_mesh
from .visibility import Visibility, measure_visibility


class Layout(NamedTuple):
    objects: tuple[Object, ...]
    schema: Schema
    camera: Camera
    size: tuple[int, int]  # of the image

    def bodies(self) -> tuple[Body, ...]:
        return bodies_of(Scene(self.objects, schema=self.schema))


Measure = Callable[[Sequence[Layout]], Sequence[Visibility]]


def measure_layouts(layouts: Sequence[Layout]) -> list[Visibility]:
    """What is seen of each, on the CPU."""
    return [measure_visibility(build_scene_mesh(one.bodies()), one.camera, one.size) for one in layouts]
