"""CLEVR's words as solids: shape, size, colour and material of one object."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ...errors import UserError, unknown
from ...scene import Object
from ..body import Body, Look
from ..mesh import Mesh
from ..solids import cube, cylinder, sphere

SOLIDS: dict[str, Callable[[], Mesh]] = {"cube": cube, "sphere": sphere, "cylinder": cylinder}
SIZES = {"large": 0.7, "small": 0.35}  # half the height, in world units
COLORS = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
MATERIALS = ("rubber", "metal")


def body(thing: Object) -> Body:
    """The solid an object's attributes describe; without a rotation it stands unturned."""
    if thing.position is None:
        raise UserError("an object without a position can not be drawn")
    shape, size = _word(thing, "shape", SOLIDS), _word(thing, "size", SIZES)
    look = Look(COLORS[_word(thing, "color", COLORS)], _word(thing, "material", MATERIALS))
    return Body(SOLIDS[shape](), thing.position, SIZES[size], thing.rotation or 0.0, (look,))


def _word(thing: Object, attribute: str, known: Collection[str]) -> str:
    values = thing.values(attribute)
    if len(values) != 1 or values[0] not in known:
        raise unknown(attribute, " ".join(values), known, "the CLEVR shapes")
    return values[0]
