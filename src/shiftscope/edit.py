"""Edit: a hypothetical change to a scene. `edit.apply` returns another Scene; the original stays as it was.

Relations that derive from geometry are recomputed afterwards; annotated ones lose what no longer exists.
A place that the words leave open ("to the left of") is found by a fixed search, so equal edits give equal
scenes; give `position` to choose the place yourself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from .scene import RELATION_MARGIN, Object, Relation, Scene, Vector, derive_relations, mask_members, mask_of

ON = "on"  # the one relation that is not in the plane: resting on top of an object
RADIUS = {"large": 0.7, "small": 0.35}  # CLEVR's solids; other objects rest at their own height
CLEARANCE = 0.25  # between two solids, as CLEVR places them
AREA = 3.0  # objects stand within ±3 units of the origin
STEP = 0.1  # the grid on which a free place is looked for
Rows = tuple[int, ...]  # of a relation
OCCUPIED = "something already rests on that object"


class ImpossibleEdit(ValueError):
    """An edit that this scene does not allow; the message says why."""


@dataclass(frozen=True, slots=True)
class AddObject:
    """A new object, anywhere free or in a relation to `anchor`."""

    thing: Object
    relation: str = ""
    anchor: int | None = None
    position: Vector | None = None

    def apply(self, scene: Scene) -> Scene:
        thing = self.thing
        if self.relation == ON and self.anchor is not None and _list_loads(scene)[self.anchor]:
            raise ImpossibleEdit(OCCUPIED)
        if _has_geometry(scene):
            position = self.position or _find_place(scene, scene.objects, _radius(thing), self.relation, self.anchor)
            thing = replace(thing, position=position, rotation=thing.rotation or 0.0)
        stated = (self.relation, len(scene.objects), self.anchor) if self.anchor is not None else None
        return _rebuild_scene(scene, (*scene.objects, thing), lambda rows: (*rows, 0), stated)


@dataclass(frozen=True, slots=True)
class RemoveObjects:
    """Objects that disappear."""

    objects: tuple[int, ...]

    def apply(self, scene: Scene) -> Scene:
        gone = mask_of(self.objects)
        if any(gone >> i & 1 and row & ~gone for i, row in enumerate(_list_loads(scene))):
            raise ImpossibleEdit("an object that carries another cannot be removed alone")
        kept = [i for i in range(len(scene.objects)) if not gone >> i & 1]
        new_index = {old: new for new, old in enumerate(kept)}

        def renumber(rows: Rows) -> Rows:
            return tuple([mask_of([new_index[j] for j in mask_members(rows[i] & ~gone)]) for i in kept])

        return _rebuild_scene(scene, tuple([scene.objects[i] for i in kept]), renumber)


@dataclass(frozen=True, slots=True)
class ChangeAttributes:
    """Objects that get other values of one attribute or more, all at once."""

    objects: tuple[int, ...]
    changes: tuple[tuple[str, str], ...]  # attribute and value

    def apply(self, scene: Scene) -> Scene:
        resized = "size" in dict(self.changes)
        if resized and any(_list_loads(scene)[i] for i in self.objects):
            raise ImpossibleEdit("an object that carries another cannot change its size")
        objects = tuple([self._change(o) if i in self.objects else o for i, o in enumerate(scene.objects)])
        if not resized:  # all stand where they stood
            return replace(scene, objects=objects)
        return _rebuild_scene(scene, objects, lambda rows: rows)

    def _change(self, thing: Object) -> Object:
        """The object with one value of each attribute; a solid that changes size stays on the ground."""
        new = dict(self.changes)
        pairs = [(a, new.get(a, v)) for a, v in thing.attributes] + [p for p in self.changes if not thing.values(p[0])]
        changed = replace(thing, attributes=tuple(dict.fromkeys(pairs)))
        if thing.position and new.get("size") in RADIUS:
            x, y, z = thing.position
            place = (x, y, z - _radius(thing) + RADIUS[new["size"]])
            changed = replace(changed, position=place, pixel=None, box=None)
        return changed


@dataclass(frozen=True, slots=True)
class MoveObject:
    """An object that goes to another place, in a relation to `anchor`."""

    object: int
    relation: str
    anchor: int
    position: Vector | None = None

    def apply(self, scene: Scene) -> Scene:
        mover = self.object
        if mover == self.anchor:
            raise ImpossibleEdit("an object cannot be moved relative to itself")
        if _list_loads(scene)[mover]:
            raise ImpossibleEdit("an object that carries another cannot be moved")
        if self.relation == ON and _list_loads(scene)[self.anchor]:
            raise ImpossibleEdit(OCCUPIED)
        thing = scene.objects[mover]
        position = thing.position
        if _has_geometry(scene):
            others = (*scene.objects[:mover], *scene.objects[mover + 1 :])
            anchor = self.anchor - (self.anchor > mover)
            position = self.position or _find_place(scene, others, _radius(thing), self.relation, anchor)
        thing = replace(thing, position=position, pixel=None, box=None)
        objects = (*scene.objects[:mover], thing, *scene.objects[mover + 1 :])

        def detach(rows: Rows) -> Rows:
            return tuple([0 if i == mover else row & ~(1 << mover) for i, row in enumerate(rows)])

        return _rebuild_scene(scene, objects, detach, (self.relation, mover, self.anchor))


@dataclass(frozen=True, slots=True)
class SwapObjects:
    """Two objects that change places."""

    one: int
    other: int

    def apply(self, scene: Scene) -> Scene:
        a, b = self.one, self.other
        if a == b:
            raise ImpossibleEdit("an object cannot change places with itself")
        loads = _list_loads(scene)
        if loads[a] or loads[b] or any(row >> a & 1 or row >> b & 1 for row in loads):
            raise ImpossibleEdit("an object that carries another or rests on one cannot change places")
        order = [b if i == a else a if i == b else i for i in range(len(scene.objects))]
        things = list(scene.objects)
        if _has_geometry(scene):
            for i, j in ((a, b), (b, a)):  # each where the other stands, at its own height
                thing, there = scene.objects[i], scene.objects[j].position
                assert thing.position is not None and there is not None
                things[i] = replace(thing, position=(*there[:2], thing.position[2]), pixel=None, box=None)

        def exchange(rows: Rows) -> Rows:
            return tuple([mask_of([order[j] for j in mask_members(rows[i])]) for i in order])

        return _rebuild_scene(scene, tuple(things), exchange)


Edit = AddObject | RemoveObjects | ChangeAttributes | MoveObject | SwapObjects


def _list_loads(scene: Scene) -> tuple[int, ...]:
    """What rests on each object."""
    return next((r.rows for r in scene.relations if r.name == ON), (0,) * len(scene.objects))


def _rebuild_scene(
    scene: Scene, objects: tuple[Object, ...], edit: Callable[[Rows], Rows], stated: tuple[str, int, int] | None = None
) -> Scene:
    """The edited scene: derived relations anew, annotated ones edited, and what the edit states added."""
    directions = dict(scene.directions)
    anew: dict[str, Rows] = {}
    if _has_geometry(scene):
        derived = [r.name for r in scene.relations if r.name in directions]
        rows = derive_relations([o.position for o in objects], [directions[name] for name in derived])
        anew = dict(zip(derived, rows, strict=True))
        stated = stated if stated and stated[0] not in directions else None
    relations = [Relation(r.name, anew[r.name] if r.name in anew else edit(r.rows)) for r in scene.relations]
    if stated:
        name, subject, target = stated
        before = next((r.rows for r in relations if r.name == name), (0,) * len(objects))
        after = tuple([row | (1 << subject if i == target else 0) for i, row in enumerate(before)])
        relations = [*(r for r in relations if r.name != name), Relation(name, after)]
    kept = [r for r in relations if r.name in directions or any(r.rows)]
    return replace(scene, objects=objects, relations=tuple(kept))


def _has_geometry(scene: Scene) -> bool:
    """Whether the scene has geometry to find a place in."""
    return bool(scene.directions) and None not in [o.position for o in scene.objects]


def _radius(thing: Object) -> float:
    for attribute, value in thing.attributes:
        if attribute == "size":
            if value in RADIUS:
                return RADIUS[value]
            break
    return thing.position[2] if thing.position else RADIUS["large"]


def _find_place(scene: Scene, others: tuple[Object, ...], radius: float, relation: str, anchor: int | None) -> Vector:
    """The nearest free place (first of the spiral) that makes the relation true, or an ImpossibleEdit.

    It is clear of the `others`, of which `anchor` is one.
    """
    import numpy as np

    from .kernels import find_free_place

    base = others[anchor].position if anchor is not None else (0.0, 0.0, 0.0)
    assert base is not None
    if relation == ON and anchor is not None:
        return (base[0], base[1], base[2] + _radius(others[anchor]) + radius)
    along = dict(scene.directions).get(relation)
    if anchor is not None and along is None:
        raise ImpossibleEdit(f"no direction {relation!r} in this scene")
    solids = [(o.position[0], o.position[1], _radius(o)) for o in others if o.position is not None]
    # Twice the margin, as CLEVR spaces its objects, so that the relation is plain to see.
    k = find_free_place(
        spiral(),
        np.array(base[:2]),
        np.array(along[:2] if along is not None else (0.0, 0.0)),
        np.array(solids).reshape(-1, 3),
        *(radius, AREA, 2 * RELATION_MARGIN, CLEARANCE),
    )
    if k < 0:
        raise ImpossibleEdit(f"no free place{f' {relation} of the object' if relation else ''}")
    dx, dy = spiral()[k].tolist()
    return (base[0] + dx, base[1] + dy, radius)


@cache
def spiral() -> Any:
    """Grid offsets [place, xy] by distance, then by x and y: one fixed order on every machine."""
    import numpy as np

    reach = int(2 * AREA / STEP)
    cells = [(i, j) for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)]
    cells.sort(key=lambda c: (c[0] * c[0] + c[1] * c[1], c))
    return np.array([(i * STEP, j * STEP) for i, j in cells])
