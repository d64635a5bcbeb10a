"""A scene in words: every object with its attributes and parts, and how the objects stand to each other."""

from __future__ import annotations

from functools import lru_cache

from ..bits import members
from ..lang.trace import describe
from ..scene import Object, Scene

OPENING = "The scene holds"  # so begins every scene in words
SAID = {"left": "Left of", "right": "Right of", "front": "In front of", "behind": "Behind"}


@lru_cache(maxsize=256)
def described(scene: Scene) -> str:
    """Complete: whatever can be asked of the scene follows from the text."""
    objects = [f"{i}: {_thing(o)}." for i, o in enumerate(scene.objects, 1)]
    lines = [f"{OPENING} {len(objects)} objects, numbered from 1.", *objects]
    lines += [f"The {name} of the scene is {value}." for name, value in scene.attributes]
    names = scene.schema.relations if scene.schema.closed else tuple(r.name for r in scene.relations)
    for name in names:
        rows = scene.relation(name)
        if rows is not None:
            lines += _closed(name, rows) if scene.schema.closed else _open(name, rows)
    return "\n".join(lines)


def _thing(thing: Object) -> str:
    parts = [f"{' '.join(v for _, v in p.attributes)} {p.name.replace('_', ' ')}" for p in thing.parts]
    return describe(thing) + (f"; parts: {', '.join(parts)}" if parts else "")


def _closed(name: str, rows: tuple[int, ...]) -> list[str]:
    """One line for each object: what stands so to it."""
    said = SAID.get(name, f"{name} of".capitalize())
    return [f"{said} {i}: {_numbers(row) or 'nothing'}." for i, row in enumerate(rows, 1)]


def _open(name: str, rows: tuple[int, ...]) -> list[str]:
    return [f"{subject + 1} {name} {i}." for i, row in enumerate(rows, 1) for subject in members(row)]


def _numbers(row: int) -> str:
    return ", ".join(str(j + 1) for j in members(row))
