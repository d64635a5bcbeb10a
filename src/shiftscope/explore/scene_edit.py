"""Scene edits of the explorer: other attributes, other places, or fewer objects, as words in an address.

    2.color=red     2.hood.color=red     3.place=1.25,-0.5     1.remove

Numbers are those of the scene as it was stored. Relations that derive from positions follow; what stood on the ground
stays on it. Nothing is stored: the picture is drawn anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ..edit import ON, ImpossibleEdit, RemoveObjects
from ..errors import UserError, unknown
from ..geometry.camera import camera_of
from ..geometry.mesh import bodies_of
from ..scene import Object, Relation, Scene, derive_relations
from ..schema import Schema
from ..store.image import StoredImage
from ..suites.scene_images import render_stored_images

MOST_EDITS = 64
FARTHEST = 8.0  # world units from the middle: pictures end before
ON_GROUND = 1e-3  # world units: what is so near to its resting height rests
STANDARD_SIZE = (480, 320)
_NUMBER = r"-?\d{1,3}(?:\.\d{1,6})?"
_EDIT = re.compile(
    rf"(?P<object>\d{{1,4}})\.(?:(?P<remove>remove)|place=(?P<x>{_NUMBER}),(?P<y>{_NUMBER})"
    r"|(?:(?P<part>\w{1,40})\.)?(?P<attribute>\w{1,40})=(?P<value>[^\x00-\x1f]{1,60}))"
)


def apply_edits(scene: Scene, edits: Sequence[str]) -> Scene:
    """The scene after these edits; one that cannot be made is a UserError that says why."""
    if len(edits) > MOST_EDITS:
        raise UserError(f"{len(edits)} edits; {MOST_EDITS} are the most")
    objects, gone, moved = list(scene.objects), set[int](), set[int]()
    for text in edits:
        match = _EDIT.fullmatch(text)
        if match is None:
            raise UserError(f"{text!r} is no edit; write 2.color=red, 2.place=1.5,-0.5 or 2.remove")
        i = int(match["object"])
        if i >= len(objects):
            raise UserError(f"there is no object {i}; there are {len(objects)}, counted from 0")
        if match["remove"]:
            gone.add(i)
        elif match["x"]:
            objects[i] = _place(objects[i], float(match["x"]), float(match["y"]))
            moved.add(i)
        elif match["attribute"] == "place" and not match["part"]:
            raise UserError(f"{text!r} is no place; write two numbers, as in 2.place=1.5,-0.5")
        else:
            objects[i] = _change(objects[i], match["part"] or "", match["attribute"], match["value"], scene.schema)
            moved.add(i)
    carrying = [i for r in scene.relations if r.name == ON for i, row in enumerate(r.rows) if row and i in moved | gone]
    if carrying:
        raise UserError(f"object {carrying[0]} carries another; it cannot be edited")
    edited = replace(scene, objects=tuple(objects), relations=_derive_again(scene, objects))
    try:
        return RemoveObjects(tuple(sorted(gone))).apply(edited) if gone else edited
    except ImpossibleEdit as error:
        raise UserError(str(error)) from None


def _place(thing: Object, x: float, y: float) -> Object:
    if thing.position is None:
        raise UserError("the scene does not say where its objects stand, so none can be moved")
    if max(abs(x), abs(y)) > FARTHEST:
        raise UserError(f"a place lies at most {FARTHEST:g} units from the middle")
    return replace(thing, position=(x, y, thing.position[2]), pixel=None, box=None)


def _change(thing: Object, part: str, attribute: str, value: str, schema: Schema) -> Object:
    if part:
        if part not in {p.name for p in thing.parts}:
            raise unknown("part", part, [p.name for p in thing.parts], "this object")
        if schema.closed and value not in schema.attribute(attribute, part=True).values:
            raise unknown(attribute, value, schema.attribute(attribute, part=True).values)
        changed = tuple(
            replace(p, attributes=_set_value(p.attributes, attribute, value)) if p.name == part else p
            for p in thing.parts
        )
        return replace(thing, parts=changed)
    if schema.closed and value not in schema.attribute(attribute).values:
        raise unknown(attribute, value, schema.attribute(attribute).values)
    before = measure_rest_height(thing, schema)
    changed_thing = replace(thing, attributes=_set_value(thing.attributes, attribute, value))
    after = measure_rest_height(changed_thing, schema)
    if before is None or after is None or thing.position is None:
        return changed_thing
    names = bodies_of(Scene((replace(changed_thing, parts=()),), schema=schema))[0].mesh.parts
    parts = tuple(p for p in thing.parts if p.name in names)  # of another shape, those that it has too
    if attribute == "size":
        parts = tuple(replace(p, attributes=_set_value(p.attributes, attribute, value)) for p in parts)
    x, y, z = thing.position
    rests = abs(z - before) < ON_GROUND
    return replace(changed_thing, parts=parts, position=(x, y, after if rests else z), pixel=None, box=None)


def _set_value(pairs: tuple[tuple[str, str], ...], attribute: str, value: str) -> tuple[tuple[str, str], ...]:
    changed = [(a, value if a == attribute else v) for a, v in pairs]
    return tuple(dict.fromkeys(changed if attribute in dict(pairs) else [*changed, (attribute, value)]))


def measure_rest_height(thing: Object, schema: Schema) -> float | None:
    """How high the middle of an object is when it stands on the ground; None where nothing tells its shape."""
    try:
        (body,) = bodies_of(Scene((replace(thing, parts=()),), schema=schema))
    except UserError:
        return None
    return float(-body.mesh.vertices[:, 2].min() * body.scale)


def _derive_again(scene: Scene, objects: Sequence[Object]) -> tuple[Relation, ...]:
    """The relations of the scene, those that derive from positions anew."""
    directions = dict(scene.directions)
    positions = [o.position for o in objects]
    if not directions or any(p is None for p in positions):
        return scene.relations
    names = [r.name for r in scene.relations if r.name in directions]
    anew = dict(zip(names, derive_relations(positions, [directions[n] for n in names]), strict=True))
    return tuple(Relation(r.name, anew[r.name]) if r.name in anew else r for r in scene.relations)


def explain_undrawable(scene: Scene) -> str:
    """Why a scene cannot be drawn; nothing where it can."""
    if not scene.objects:
        return "there is nothing in the scene"
    try:
        bodies_of(scene)
        camera_of(scene)
    except UserError as error:
        return str(error)
    return ""


def complete_image(image: StoredImage) -> StoredImage:
    """The image; one that was stored without its picture is drawn, where that can be."""
    return image if image.png or explain_undrawable(image.scene) else draw_scene(image.scene)


@lru_cache(maxsize=64)
def draw_scene(scene: Scene) -> StoredImage:
    """The scene drawn now, with its masks; a UserError where nobody knows what its objects look like."""
    parts = bool(scene.schema.part_attributes)
    [image] = render_stored_images([scene], scene.size or STANDARD_SIZE, parts=parts)
    return image
