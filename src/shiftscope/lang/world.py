"""World: one or several scenes as the ops see them, every set of things a bit mask.

Objects of all images share one numbering (image 0's first), so an op on a set works alike on one image and
on many. A World is built from scenes, only ever read, and holds nothing that they do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..bits import members
from ..edit import Edit, Impossible, apply
from ..scene import FREE, Pairs, Scene
from ..schema import Schema


class Things:
    """The objects, or the parts, of a world: which of them have which value."""

    __slots__ = ("_masks", "_pairs", "everything", "open", "schema")

    def __init__(self, pairs: Sequence[Pairs], schema: Schema, *, part: bool) -> None:
        self._pairs = pairs
        self.schema = schema
        self.everything = (1 << len(pairs)) - 1
        self.open = not schema.closed
        kinds = _kinds(schema, part)
        masks: dict[tuple[str, str], int] = {}
        bit = 1
        for attributes in pairs:
            for pair in attributes:
                masks[pair] = masks.get(pair, 0) | bit
                for wider in kinds.get(pair, ()):
                    masks[wider] = masks.get(wider, 0) | bit
            bit <<= 1
        self._masks = masks

    def mask(self, attribute: str, value: str) -> int:
        """The things that have the value, or a value of that kind."""
        found = self._masks.get((attribute, value), 0)
        if self.open and attribute != "name":
            found |= self._masks.get((FREE, value), 0)
            if attribute == FREE:
                for (name, other), mask in self._masks.items():
                    if other == value and name != "name":
                        found |= mask
        return found

    def values(self, index: int, attribute: str) -> tuple[str, ...]:
        """What the thing's values of the attribute are: one in a closed vocabulary, any number in an open."""
        found = tuple([v for a, v in self._pairs[index] if a == attribute])
        if self.open and attribute != FREE:
            known = _words(self.schema, attribute)
            found += tuple([v for a, v in self._pairs[index] if a == FREE and v in known])
        return found

    def value(self, index: int, attribute: str) -> str | None:
        """The single value of the attribute; None when there is none or more than one."""
        if self.open:
            found = self.values(index, attribute)
            return found[0] if len(found) == 1 else None
        for a, v in self._pairs[index]:
            if a == attribute:
                return v
        return None


class World:
    """What a program runs on."""

    __slots__ = ("_rows", "image_masks", "objects", "offsets", "owner", "parts", "parts_of", "scenes")

    def __init__(self, scenes: Iterable[Scene]) -> None:
        self.scenes = tuple(scenes)
        if not self.scenes:
            raise ValueError("a world needs at least one scene")
        schema = self.scenes[0].schema
        objects = [o for scene in self.scenes for o in scene.objects]
        self.objects = Things([o.attributes for o in objects], schema, part=False)
        self.offsets: list[int] = []
        self.image_masks: list[int] = []
        start = 0
        for scene in self.scenes:
            n = len(scene.objects)
            self.offsets.append(start)
            self.image_masks.append(((1 << n) - 1) << start)
            start += n
        self.owner: list[int] = []  # of part p
        self.parts_of: list[int] = []  # mask of the parts of object i
        part_pairs: list[Pairs] = []
        for i, thing in enumerate(objects):
            mask = 0
            for part in thing.parts:
                mask |= 1 << len(self.owner)
                self.owner.append(i)
                part_pairs.append((("name", part.name), *part.attributes))
            self.parts_of.append(mask)
        self.parts = Things(part_pairs, schema, part=True)
        self._rows: dict[str, tuple[int, ...] | None] = {}

    def rows(self, relation: str) -> tuple[int, ...] | None:
        """`rows[i]`: the objects in that relation to object i; None if no scene knows the relation."""
        if relation not in self._rows:
            self._rows[relation] = self._find_rows(relation)
        return self._rows[relation]

    def _find_rows(self, relation: str) -> tuple[int, ...] | None:
        if len(self.scenes) == 1:
            return self.scenes[0].relation(relation)
        joined: list[int] = []
        known = False
        for scene, start in zip(self.scenes, self.offsets, strict=True):
            rows = scene.relation(relation)
            known = known or rows is not None
            joined.extend(row << start for row in rows or (0,) * len(scene.objects))
        return tuple(joined) if known else None

    def targets(self, relation: str) -> tuple[int, ...] | None:
        """`targets[i]`: the objects that object i is in that relation to."""
        rows = self.rows(relation)
        if rows is None:
            return None
        turned = [0] * len(rows)
        for target, row in enumerate(rows):
            for subject in members(row):
                turned[subject] |= 1 << target
        return tuple(turned)

    def edited(self, edit: Edit) -> World:
        """The world after the edit; only a world of one scene can be edited."""
        if len(self.scenes) != 1:
            raise Impossible("only a single image can be edited")
        return World((apply(self.scenes[0], edit),))


@lru_cache(maxsize=256)
def _words(schema: Schema, attribute: str) -> frozenset[str]:
    """The values of an attribute; `short` is one of several, so `Schema.attribute_of` would not do."""
    return frozenset(v for a in schema.attributes if a.name == attribute for v in a.values)


@lru_cache(maxsize=64)
def _kinds(schema: Schema, part: bool) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """(attribute, value) → the wider (attribute, kind) pairs it also counts as."""
    table: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
    for attribute in schema.part_attributes if part else schema.attributes:
        for kind, values in attribute.kinds:
            for value in values:
                key = (attribute.name, value)
                table[key] = (*table.get(key, ()), (attribute.name, kind))
    return table
