"""Edit: a hypothetical change to a scene. `apply` returns another Scene; the original stays as it was.

Relations that derive from geometry are recomputed afterwards; annotated ones lose what no longer exists.
A place that the words leave open ("to the left of") is found by a fixed search, so equal edits give equal
scenes; give `position` to choose the place yourself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

from .bits import mask_of, members
from .scene import RELATION_MARGIN, Object, Relation, Scene, Vector, derive_rows

ON = "on"  # the one relation that is not in the plane: resting on top of an object
RADIUS = {"large": 0.7, "small": 0.35}  # CLEVR's solids; other objects rest at their own height
CLEARANCE = 0.25  # between two solids, as CLEVR places them
AREA = 3.0  # objects stand within ±3 units of the origin
STEP = 0.1  # the grid on which a free place is looked for


class Impossible(ValueError):
    """An edit that this scene does not allow; the message says why."""


@dataclass(frozen=True, slots=True)
class Add:
    """A new object, anywhere free or in a relation to `anchor`."""

    thing: Object
    relation: str = ""
    anchor: int | None = None
    position: Vector | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """Objects that disappear."""

    objects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Objects that get another value of one attribute."""

    objects: tuple[int, ...]
    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Move:
    """An object that goes to another place, in a relation to `anchor`."""

    object: int
    relation: str
    anchor: int
    position: Vector | None = None


Edit = Add | Remove | Change | Move


def apply(scene: Scene, edit: Edit) -> Scene:
    """The scene as it would be after the edit."""
    match edit:
        case Add():
            return _add(scene, edit)
        case Remove():
            return _remove(scene, edit)
        case Change():
            return _change(scene, edit)
        case Move():
            return _move(scene, edit)


def _add(scene: Scene, edit: Add) -> Scene:
    thing = edit.thing
    if _placed(scene):
        radius = _radius(thing)
        position = edit.position or _place(scene, radius, edit.relation, edit.anchor)
        thing = replace(thing, position=position, rotation=thing.rotation or 0.0)
    new = len(scene.objects)
    grown = [Relation(r.name, (*r.rows, 0)) for r in scene.relations]
    pairs = [(edit.relation, new, edit.anchor)] if edit.anchor is not None else []
    return _settle(scene, (*scene.objects, thing), grown, pairs)


def _remove(scene: Scene, edit: Remove) -> Scene:
    gone = mask_of(edit.objects)
    for relation in scene.relations:
        if relation.name == ON and any(gone >> i & 1 and row & ~gone for i, row in enumerate(relation.rows)):
            raise Impossible("an object that carries another can not be removed alone")
    kept = [i for i in range(len(scene.objects)) if not gone >> i & 1]
    new_index = {old: new for new, old in enumerate(kept)}
    relations = [
        Relation(
            r.name,
            tuple(mask_of(new_index[j] for j in members(r.rows[i] & ~gone)) for i in kept),
        )
        for r in scene.relations
    ]
    return _settle(scene, tuple(scene.objects[i] for i in kept), relations, [])


def _change(scene: Scene, edit: Change) -> Scene:
    chosen = frozenset(edit.objects)
    objects = tuple(
        _with_value(o, edit.attribute, edit.value) if i in chosen else o for i, o in enumerate(scene.objects)
    )
    return _settle(scene, objects, list(scene.relations), [])


def _with_value(thing: Object, attribute: str, value: str) -> Object:
    """The object with one value of the attribute; a solid that changes size stays on the ground."""
    if thing.values(attribute):
        pairs = tuple((a, value if a == attribute else v) for a, v in thing.attributes)
    else:
        pairs = (*thing.attributes, (attribute, value))
    changed = replace(thing, attributes=tuple(dict.fromkeys(pairs)))
    if attribute == "size" and thing.position and value in RADIUS:
        x, y, z = thing.position
        changed = replace(changed, position=(x, y, z - _radius(thing) + RADIUS[value]))
    return changed


def _move(scene: Scene, edit: Move) -> Scene:
    mover = edit.object
    if mover == edit.anchor:
        raise Impossible("an object can not be moved relative to itself")
    for relation in scene.relations:
        if relation.name == ON and relation.rows[mover]:
            raise Impossible("an object that carries another can not be moved")
    thing = replace(scene.objects[mover], pixel=None, box=None)
    if _placed(scene):
        others = replace(scene, objects=tuple(o for i, o in enumerate(scene.objects) if i != mover))
        anchor = edit.anchor - (edit.anchor > mover)
        position = edit.position or _place(others, _radius(thing), edit.relation, anchor)
        thing = replace(thing, position=position)
    objects = tuple(thing if i == mover else o for i, o in enumerate(scene.objects))
    relations = [
        Relation(r.name, tuple(0 if i == mover else row & ~(1 << mover) for i, row in enumerate(r.rows)))
        for r in scene.relations
    ]
    return _settle(scene, objects, relations, [(edit.relation, mover, edit.anchor)])


def _settle(
    scene: Scene,
    objects: tuple[Object, ...],
    relations: list[Relation],
    stated: list[tuple[str, int, int]],
) -> Scene:
    """The edited scene: derived relations anew, annotated ones with what the edit states added."""
    if _placed(scene):
        positions = [o.position for o in objects]
        directions = dict(scene.directions)
        relations = [
            Relation(r.name, derive_rows(positions, directions[r.name])) if r.name in directions else r
            for r in relations
        ]
        stated = [pair for pair in stated if pair[0] not in directions]
    for name, subject, target in stated:
        rows = next((r.rows for r in relations if r.name == name), (0,) * len(objects))
        rows = tuple(row | (1 << subject if i == target else 0) for i, row in enumerate(rows))
        relations = [r for r in relations if r.name != name] + [Relation(name, rows)]
    relations = [r for r in relations if r.name in dict(scene.directions) or any(r.rows)]
    return replace(scene, objects=objects, relations=tuple(relations))


def _placed(scene: Scene) -> bool:
    """Whether the scene has geometry to find a place in."""
    return bool(scene.directions) and all(o.position is not None for o in scene.objects)


def _radius(thing: Object) -> float:
    size = thing.values("size")
    if size and size[0] in RADIUS:
        return RADIUS[size[0]]
    return thing.position[2] if thing.position else RADIUS["large"]


def _place(scene: Scene, radius: float, relation: str, anchor: int | None) -> Vector:
    """The nearest free place that makes the relation true, or Impossible."""
    if relation == ON and anchor is not None:
        return _on_top(scene, radius, anchor)
    base = scene.objects[anchor].position if anchor is not None else (0.0, 0.0, 0.0)
    assert base is not None
    along = dict(scene.directions).get(relation)
    if anchor is not None and along is None:
        raise Impossible(f"no direction {relation!r} in this scene")
    solids = [(o.position, _radius(o)) for o in scene.objects if o.position is not None]
    for dx, dy in _spiral():
        x, y = base[0] + dx, base[1] + dy
        if abs(x) > AREA or abs(y) > AREA:
            continue
        # Twice the margin, as CLEVR spaces its objects, so that the relation is plain to see.
        if along is not None and dx * along[0] + dy * along[1] <= 2 * RELATION_MARGIN:
            continue
        if all(_apart(x, y, radius, p, r) for p, r in solids):
            return (x, y, radius)
    where = f" {relation} of the object" if relation else ""
    raise Impossible(f"no free place{where}")


def _apart(x: float, y: float, radius: float, other: Vector, other_radius: float) -> bool:
    dx, dy = x - other[0], y - other[1]
    return sqrt(dx * dx + dy * dy) - radius - other_radius >= CLEARANCE


def _on_top(scene: Scene, radius: float, anchor: int) -> Vector:
    for relation in scene.relations:
        if relation.name == ON and relation.rows[anchor]:
            raise Impossible("something already rests on that object")
    base = scene.objects[anchor].position
    assert base is not None
    return (base[0], base[1], base[2] + _radius(scene.objects[anchor]) + radius)


def _spiral() -> Iterator[tuple[float, float]]:
    """Grid offsets by distance, then by x and y: one fixed order on every machine."""
    reach = int(2 * AREA / STEP)
    cells = [(i, j) for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)]
    cells.sort(key=lambda c: (c[0] * c[0] + c[1] * c[1], c))
    return ((i * STEP, j * STEP) for i, j in cells)
