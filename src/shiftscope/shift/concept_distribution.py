"""Concept distribution: the same layouts with shapes, colours and materials that are common or rare.

Super-CLEVR's fourth factor; `world/distribution.py` holds the shares. Sizes are left alone.
"""

from dataclasses import replace
from typing import Any

from ..geometry.shapes.superclevr import load_vehicle
from ..geometry.visibility import list_parts
from ..scene import Object, Scene, derive_rows
from ..world.superclevr.concepts import DISTRIBUTIONS, distribution
from ..world.superclevr.layout import put_on_ground
from . import Factor, differing_scene_fields

FACTOR = Factor("distribution", "Concept distribution", DISTRIBUTIONS, "bal", test_only=("head", "tail", "oppo"))
concepts = distribution
MOVED = "moved"  # the note that names vehicles which would be hidden where their base stands


def variant(spec: Any, level: str) -> Any:
    """The spec with this factor at the level."""
    return replace(spec, concepts=distribution(level))


def breaches(base: Scene, twin: Scene) -> list[str]:
    """What differs besides shapes, colours and materials, and what follows from them.

    Heights, boxes, and which parts are seen follow from the shapes: in a scene that has all the shapes of its
    base, in the places of its base, these may not differ either. The note `moved` frees a vehicle's place.
    """
    moved = set(twin.note(MOVED, ()))
    bare = replace(twin, notes=tuple(n for n in twin.notes if n[0] != MOVED))
    found = differing_scene_fields(base, bare, but=("relations",) if moved else ())
    if len(base.objects) != len(twin.objects):
        return found
    alike = has_same_outlines(base, twin)
    for i, (a, b) in enumerate(zip(base.objects, twin.objects, strict=True)):
        faults = [*_find_changes(a, b, i in moved, alike), *_find_part_faults(b)]
        found += [f"{what} of object {i}" for what in faults]
    places = [o.position for o in twin.objects]
    if all(place is not None for place in places):
        known = dict(twin.directions)
        rows = {r.name: r.rows for r in twin.relations if r.name in known}
        found += [f"relation {n}" for n, row in rows.items() if row != derive_rows(places, known[n])]
    return found


def has_same_outlines(base: Scene, twin: Scene) -> bool:
    """Whether the same shapes stand in the same places, so that the same is seen of each."""
    one, two = ([o.values("shape") for o in s.objects] for s in (base, twin))
    return one == two and not twin.note(MOVED)


def off_level(base: Scene, twin: Scene, level: str) -> list[str]:
    """Concepts that the distribution of this name never gives."""
    given = distribution(level).frequencies()
    values = [(i, a, v) for i, o in enumerate(twin.objects) for a, v in o.attributes if a in given]
    return [f"{v} of object {i}" for i, a, v in values if not given[a].get(v)]


def _find_changes(a: Object, b: Object, moved: bool, alike: bool) -> list[str]:
    pairs: dict[str, tuple[object, object]] = {
        "id": (a.id, b.id),
        "attributes": ([n for n, _ in a.attributes], [n for n, _ in b.attributes]),
        "size": (a.values("size"), b.values("size")),
        "texture": (a.texture, b.texture),
    }
    if a.position is not None and b.position is not None:
        x, y, _ = b.position
        if a.values("size") == b.values("size"):
            pairs["height"] = (put_on_ground(b, x, y, 0.0).position, b.position)
        if not moved:
            pairs |= {"rotation": (a.rotation, b.rotation), "position": (a.position[:2], (x, y))}
        else:
            pairs["note moved"] = (True, a.position[:2] != (x, y))
    if not moved and a.values("shape") == b.values("shape"):
        pairs["pixel"] = (a.pixel, b.pixel)
        textures = {p.name: p.texture for p in a.parts}
        pairs["part textures"] = ([textures.get(p.name, p.texture) for p in b.parts], [p.texture for p in b.parts])
    if alike:
        pairs["box"] = (a.box, b.box)
        pairs["parts"] = ([(p.name, p.box) for p in a.parts], [(p.name, p.box) for p in b.parts])
    return [what for what, (one, two) in pairs.items() if one != two]


def _find_part_faults(thing: Object) -> list[str]:
    """What is wrong about a vehicle's parts whatever its base: strange names, sizes or colours."""
    names = [p.name for p in thing.parts]
    known = list_parts(load_vehicle(*thing.values("shape")))
    found = ["part names"] if len(set(names)) < len(names) or not set(names) <= set(known) else []
    for part in thing.parts:
        own = dict(part.attributes)
        found += [f"size of {part.name}"] if (own.get("size"),) != thing.values("size") else []
        found += [f"color of {part.name}"] if (own.get("color"),) == thing.values("color") else []
    return found
