"""Parts of objects and the objects they belong to; filter, unique, query and count work on parts too."""

from ...bits import members
from ..arrays import Array
from ..op import op
from ..soft_world import SoftWorld
from ..types import OBJECTS, PARTS
from ..world import World


@op((OBJECTS, PARTS))
def parts(world: World, among: int) -> int:
    """The parts of these objects that have attributes of their own."""
    found = 0
    for i in members(among):
        found |= world.parts_of[i]
    return found


@parts.softly
def _parts(world: SoftWorld, among: Array) -> Array:
    """Ours: a detected part is in as its object is."""
    return world.of_owners(among)


@op((PARTS, OBJECTS))
def owners(world: World, among: int) -> int:
    """The objects that these parts belong to."""
    found = 0
    for part in members(among):
        found |= 1 << world.owner[part]
    return found


@owners.softly
def _owners(world: SoftWorld, among: Array) -> Array:
    """Ours: an object is in as the likeliest of its parts is."""
    return world.of_parts(among)
