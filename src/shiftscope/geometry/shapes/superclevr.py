"""Super-CLEVR's words as vehicles: model, size, colour, material and texture of an object and its parts."""

from functools import cache

from ...errors import UserError, unknown
from ...scene import Object, Pairs
from ..body import Body, SurfaceLook
from ..mesh import Mesh
from ..vehicles import GLASS, load_vehicle, vehicle_names
from .clevr import COLORS, MATERIALS, require_word

SIZES = {"large": 3.5, "small": 1.8}  # the diagonal of a vehicle's box, in world units
TEXTURES = ("none", "dotted", "checkered", "striped")
WHERE = "the Super-CLEVR vehicles"
PANE = SurfaceLook((28, 32, 38), "metal")


def body(thing: Object) -> Body:
    """The vehicle an object's attributes describe; parts without a look of their own have the body's."""
    if thing.position is None:
        raise UserError("an object without a position cannot be drawn")
    mesh = load_vehicle(require_word(thing.attributes, WHERE, "shape", vehicle_names()))
    main = _build_look(thing.attributes, thing.texture)
    own = {part.name: _build_look(part.attributes, part.texture) for part in thing.parts}
    for name in own:
        if name not in mesh.parts:
            raise unknown("part", name, sorted({*mesh.parts}), f"the {mesh.name}")
    looks = _build_looks(mesh, main)
    if own:
        looks = tuple(
            _scale_tone(own[name], tone) if name in own and name != GLASS else look
            for name, tone, look in zip(mesh.parts, mesh.tones, looks, strict=True)
        )
    scale = SIZES[require_word(thing.attributes, WHERE, "size", SIZES)]
    return Body(mesh, thing.position, scale, thing.rotation or 0.0, looks)


def _build_look(pairs: Pairs, texture: str) -> SurfaceLook:
    if texture and texture not in TEXTURES:
        raise unknown("texture", texture, TEXTURES)
    return SurfaceLook(
        COLORS[require_word(pairs, WHERE, "color", COLORS)],
        require_word(pairs, WHERE, "material", MATERIALS),
        texture or "none",
    )


@cache
def _build_looks(mesh: Mesh, main: SurfaceLook) -> tuple[SurfaceLook, ...]:
    """Of a vehicle without a part of its own look."""
    return tuple(
        PANE if name == GLASS else _scale_tone(main, tone) for name, tone in zip(mesh.parts, mesh.tones, strict=True)
    )


@cache
def _scale_tone(look: SurfaceLook, tone: float) -> SurfaceLook:
    r, g, b = (round(tone * c) for c in look.color)
    return SurfaceLook((r, g, b), look.material, look.texture)
