"""Parts of objects and the objects they belong to; filter, unique, query and count work on parts too."""

from ...scene import mask_members
from ..arrays import Array, take_along
from ..execution_world import ExecutionWorld, SoftWorld
from ..op import op
from ..types import OBJECTS, PARTS


@op((OBJECTS, PARTS))
def parts(world: ExecutionWorld, among: int) -> int:
    """The parts of these objects that have attributes of their own."""
    found = 0
    for i in mask_members(among):
        found |= world.parts_of[i]
    return found


@parts.define_soft
def _parts(world: SoftWorld, among: Array) -> Array:
    """Ours: a detected part is in as its object is."""
    return take_along(among, world.tables.owner[world.scene]) * world.tables.parts.there[world.scene]


@op((PARTS, OBJECTS))
def owners(world: ExecutionWorld, among: int) -> int:
    """The objects that these parts belong to."""
    found = 0
    for part in mask_members(among):
        found |= 1 << world.owner[part]
    return found


@owners.define_soft
def _owners(world: SoftWorld, among: Array) -> Array:
    """Ours: an object is in as the likeliest of its parts is."""
    return world.xp.amax(among[:, :, None] * world.tables.part_membership[world.scene], 1)
