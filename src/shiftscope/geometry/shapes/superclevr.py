"""Super-CLEVR's 21 vehicles as triangle meshes with named parts: model, size, colour, material, texture, parts.

Vertices are stored in `vehicles.npz` in whole steps of 2⁻¹⁴, normals in bytes. `tools/vehicles` builds them; drawing
reads the stored meshes only, so every machine draws the same vertices and needs no mesh library.
"""

import io
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np

from ...errors import UserError, unknown
from ...files import digest_of
from ...scene import Object, Pairs
from ..mesh import Body, Mesh, SurfaceLook
from .clevr import COLORS, MATERIALS, require_word

FILE = "vehicles.npz"
STORED = files(__package__).joinpath(FILE)
GLASS = "_glass"  # windows: dark, with a tint of the vehicle's colour
STEPS = 1 << 14  # in one unit
TURNS = 127  # steps of a normal's component


@cache
def load_vehicle(name: str) -> Mesh:
    """The mesh of a model, as stored."""
    meshes = _load_all()
    if name not in meshes:
        raise unknown("vehicle", name, meshes)
    return meshes[name]


def vehicle_names() -> tuple[str, ...]:
    """The models that are stored, in alphabetical order."""
    return tuple(_load_all())


@cache
def vehicles_digest() -> str:
    """A name for the stored meshes that changes with any of them."""
    return digest_of(STORED.read_bytes())[:32]


@cache
def _load_all() -> dict[str, Mesh]:
    return read_meshes(STORED.read_bytes())


def read_meshes(data: bytes) -> dict[str, Mesh]:
    """The meshes of a file, by name."""
    meshes = {}
    with np.load(io.BytesIO(data), allow_pickle=False) as columns:
        for name in sorted({key.partition(".")[0] for key in columns}):
            normals = columns[f"{name}.normals"].astype(np.float64)
            meshes[name] = Mesh(
                name,
                columns[f"{name}.vertices"].astype(np.float64) / STEPS,
                normals / np.sqrt(np.sum(normals * normals, axis=1, keepdims=True)),
                columns[f"{name}.triangles"].astype(np.int32),
                tuple(columns[f"{name}.parts"].tolist()),
                columns[f"{name}.part_of"].astype(np.int32),
                tuple(columns[f"{name}.tones"].tolist()),
            )
    return meshes


SIZES = {"large": 3.5, "small": 1.8}  # the diagonal of a vehicle's box, in world units
TEXTURES = ("none", "dotted", "checkered", "striped")  # the paper's
DRAWN_TEXTURES = (*TEXTURES, "upright stripes")  # the official generator also has `vstripped`
WHERE = "the Super-CLEVR vehicles"
PANE, TINT = (20, 26, 34), 0.24  # a window's own sRGB, and how much of the vehicle's colour shows behind it


def body(thing: Object) -> Body:
    """The vehicle an object's attributes describe; parts without a look of their own have the body's."""
    if thing.position is None:
        raise UserError("an object without a position cannot be drawn")
    mesh, scale, looks = _build_vehicle(thing.attributes, thing.texture)
    if thing.parts:
        mixed = list(looks)
        for part in thing.parts:
            own = _build_look(part.attributes, part.texture)
            if part.name not in mesh.parts:
                raise unknown("part", part.name, sorted({*mesh.parts}), f"the {mesh.name}")
            for i in _find_surfaces(mesh, part.name) if part.name != GLASS else ():
                mixed[i] = _scale_tone(own, mesh.tones[i])
        looks = tuple(mixed)
    return Body(mesh, thing.position, scale, thing.rotation or 0.0, looks)


@lru_cache(maxsize=1 << 12)
def _build_vehicle(pairs: Pairs, texture: str) -> tuple[Mesh, float, tuple[SurfaceLook, ...]]:
    """The mesh, its scale and its looks without those of parts."""
    mesh = load_vehicle(require_word(pairs, WHERE, "shape", vehicle_names()))
    main = _build_look(pairs, texture)
    return mesh, SIZES[require_word(pairs, WHERE, "size", SIZES)], _build_looks(mesh, main)


@cache
def _find_surfaces(mesh: Mesh, part: str) -> tuple[int, ...]:
    return tuple(i for i, name in enumerate(mesh.parts) if name == part)


@lru_cache(maxsize=1 << 12)
def _build_look(pairs: Pairs, texture: str) -> SurfaceLook:
    if texture and texture not in DRAWN_TEXTURES:
        raise unknown("texture", texture, DRAWN_TEXTURES)
    return SurfaceLook(
        COLORS[require_word(pairs, WHERE, "color", COLORS)],
        require_word(pairs, WHERE, "material", MATERIALS),
        texture or "none",
    )


@cache
def _build_looks(mesh: Mesh, main: SurfaceLook) -> tuple[SurfaceLook, ...]:
    """Of a vehicle without a part of its own look."""
    return tuple(
        _tint_pane(main) if name == GLASS else _scale_tone(main, tone)
        for name, tone in zip(mesh.parts, mesh.tones, strict=True)
    )


def _tint_pane(main: SurfaceLook) -> SurfaceLook:
    """Dark, smooth, and tinted by what is inside, which official pictures show in the vehicle's colour."""
    r, g, b = (round(own + TINT * c) for own, c in zip(PANE, main.color, strict=True))
    return SurfaceLook((r, g, b), "metal")


@cache
def _scale_tone(look: SurfaceLook, tone: float) -> SurfaceLook:
    r, g, b = (round(tone * c) for c in look.color)
    return SurfaceLook((r, g, b), look.material, look.texture)
