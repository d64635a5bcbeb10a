"""Super-CLEVR's words as vehicles: model, size, colour, material and texture of an object and its parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

from ...errors import UserError, unknown
from ...scene import Object, Pairs
from ..body import Body, Look
from ..mesh import Mesh
from ..vehicles.assembly import GLASS
from ..vehicles.stored import names, vehicle
from .clevr import COLORS, MATERIALS

SIZES = {"large": 3.5, "small": 1.8}  # the diagonal of a vehicle's box, in world units
TEXTURES = ("none", "dotted", "checkered", "striped")
PANE = Look((28, 32, 38), "metal")


def body(thing: Object) -> Body:
    """The vehicle an object's attributes describe; parts without a look of their own have the body's."""
    if thing.position is None:
        raise UserError("an object without a position can not be drawn")
    mesh = vehicle(_word(thing.attributes, "shape", names()))
    main = _look(thing.attributes, thing.texture)
    own = {part.name: _look(part.attributes, part.texture) for part in thing.parts}
    for name in own:
        if name not in mesh.parts:
            raise unknown("part", name, sorted({*mesh.parts}), f"the {mesh.name}")
    looks = _looks(mesh, main)
    if own:
        looks = tuple(
            _toned(own[name], tone) if name in own and name != GLASS else look
            for name, tone, look in zip(mesh.parts, mesh.tones, looks, strict=True)
        )
    scale = SIZES[_word(thing.attributes, "size", SIZES)]
    return Body(mesh, thing.position, scale, thing.rotation or 0.0, looks)


def _look(pairs: Pairs, texture: str) -> Look:
    if texture and texture not in TEXTURES:
        raise unknown("texture", texture, TEXTURES)
    return Look(COLORS[_word(pairs, "color", COLORS)], _word(pairs, "material", MATERIALS), texture or "none")


@cache
def _looks(mesh: Mesh, main: Look) -> tuple[Look, ...]:
    """Of a vehicle without a part of its own look."""
    return tuple(
        PANE if name == GLASS else _toned(main, tone)
        for name, tone in zip(mesh.parts, mesh.tones, strict=True)
    )


@cache
def _toned(look: Look, tone: float) -> Look:
    r, g, b = (round(tone * c) for c in look.color)
    return Look((r, g, b), look.material, look.texture)


def _word(pairs: Iterable[tuple[str, str]], attribute: str, known: Collection[str]) -> str:
    values = [v for a, v in pairs if a == attribute]
    if len(values) != 1 or values[0] not in known:
        raise unknown(attribute, " ".join(values), known, "the Super-CLEVR vehicles")
    return values[0]
