"""Scene: what one image shows. One record for synthetic scenes, CLEVR files, scene graphs and boxes.

Nothing here changes in place: an edit returns another Scene (`edit.py`). Relations are stored where a file
annotates them and derived where geometry gives them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from .errors import UserError
from .records import content_id, pickle_by_fields
from .registry import SCHEMAS
from .schema import OPEN, Schema


def mask_of(members: Iterable[int]) -> int:
    mask = 0
    for i in members:
        mask |= 1 << i
    return mask


def mask_members(mask: int) -> Iterator[int]:
    """The numbers in the set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


Pairs = tuple[tuple[str, str], ...]
Vector = tuple[float, float, float]
Box = tuple[float, float, float, float]  # left, top, width, height in pixels
Notes = tuple[tuple[str, Any], ...]  # what a file holds besides the content; ignored by equality

RELATION_MARGIN = 0.2  # CLEVR: j is left of i when (p_j − p_i)·left exceeds this
FREE = "attribute"  # the attribute of a value whose attribute the annotator did not name


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Part:
    """A named part of an object, with attributes of its own."""

    name: str
    attributes: Pairs = ()
    texture: str = ""  # a pattern painted on it: visible, but no question mentions it
    box: Box | None = None


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Object:
    """A thing in a scene. An open-vocabulary object may carry several values of one attribute."""

    attributes: Pairs
    id: str = ""  # as its file names it; empty where the position in the list is the name
    parts: tuple[Part, ...] = ()
    position: Vector | None = None  # world units, z up
    rotation: float | None = None  # degrees about z
    pixel: Vector | None = None  # projected centre x, y in pixels, and depth
    box: Box | None = None
    texture: str = ""  # a pattern painted on its main body: visible, but no question mentions it

    def values(self, attribute: str) -> tuple[str, ...]:
        return tuple([v for a, v in self.attributes if a == attribute])


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Relation:
    """`rows[i]` is the set of objects that stand in this relation to object i: those *left of* i."""

    name: str
    rows: tuple[int, ...]  # bit masks

    @classmethod
    def of(cls, name: str, triples: Iterable[tuple[int, int]], size: int) -> Self:
        """From (subject, object) pairs: "subject is `name` object"."""
        rows = [0] * size
        for subject, target in triples:
            rows[target] |= 1 << subject
        return cls(name, tuple(rows))

    def triples(self) -> Iterable[tuple[int, int]]:
        """(subject, object), by object and then by subject."""
        return ((subject, target) for target, row in enumerate(self.rows) for subject in mask_members(row))


@pickle_by_fields
@dataclass(frozen=True, slots=True)
class Scene:
    """Objects, how they stand to each other, and the words used for them."""

    objects: tuple[Object, ...]
    relations: tuple[Relation, ...] = ()  # annotated, or given by the file
    directions: tuple[tuple[str, Vector], ...] = ()  # unit vectors that relations derive from
    attributes: Pairs = ()  # of the whole image: place, weather
    schema: Schema = OPEN
    size: tuple[int, int] | None = None  # image width, height in pixels
    id: str = ""  # what questions call this image
    notes: Notes = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return self.content() == other.content()

    def __hash__(self) -> int:
        return hash((self.id, self.objects))

    def content(self) -> tuple[object, ...]:
        """All that equality compares: everything but the notes."""
        return (*(self.id, self.objects, self.relations, self.directions), *(self.attributes, self.schema, self.size))

    def content_id(self) -> str:
        """The same for equal content, whatever file it came from and whatever it is called there."""
        data = self.to_json()
        data.pop("notes", None)
        data.pop("id", None)
        return content_id(data)

    def relation(self, name: str) -> tuple[int, ...] | None:
        """The rows of a relation: stored if the file gave it, else derived, else None."""
        for relation in self.relations:
            if relation.name == name:
                return relation.rows
        for direction, vector in self.directions:
            if direction == name:
                return derive_rows([o.position for o in self.objects], vector)
        return None

    def note(self, name: str, default: Any = None) -> Any:
        for key, value in self.notes:
            if key == name:
                return value
        return default

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; what is empty is left out."""
        known = _find_schema(self.schema.name) == self.schema
        data = {
            "id": self.id,
            "schema": self.schema.name if known else self.schema.to_json(),
            "size": list(self.size) if self.size else None,
            "attributes": [list(p) for p in self.attributes],
            "directions": {name: list(vector) for name, vector in self.directions},
            "objects": [_object_to_json(o) for o in self.objects],
            "relations": {r.name: [list(mask_members(row)) for row in r.rows] for r in self.relations},
            "notes": dict(self.notes),
        }
        return {k: v for k, v in data.items() if v or k == "objects"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        schema = data.get("schema", OPEN.name)
        return cls(
            id=data.get("id", ""),
            schema=load_schema(schema) if isinstance(schema, str) else Schema.from_json(schema),
            size=tuple(data["size"]) if "size" in data else None,
            attributes=tuple((a, v) for a, v in data.get("attributes", ())),
            directions=tuple((n, tuple(v)) for n, v in data.get("directions", {}).items()),
            objects=tuple(_object_from_json(o) for o in data["objects"]),
            relations=tuple(
                Relation(name, tuple(mask_of(row) for row in rows)) for name, rows in data.get("relations", {}).items()
            ),
            notes=tuple(data.get("notes", {}).items()),
        )


def derive_rows(positions: list[Vector | None], direction: Vector) -> tuple[int, ...]:
    """CLEVR's rule: j relates to i when the offset from i to j, along the direction, exceeds the margin."""
    return derive_relations(positions, [direction])[0]


def derive_relations(positions: list[Vector | None], directions: list[Vector]) -> list[tuple[int, ...]]:
    """The same for several directions at once."""
    if any(p is None for p in positions):
        raise UserError("relations cannot be derived: an object has no position")
    known = [p for p in positions if p is not None]
    offsets = [
        (i, j, 1 << i, 1 << j, q[0] - p[0], q[1] - p[1], q[2] - p[2])
        for i, p in enumerate(known)
        for j, q in enumerate(known[:i])
    ]
    rows: dict[Vector, list[int]] = {}
    for dx, dy, dz in directions:
        if (dx, dy, dz) in rows:
            continue
        # From j to i, and along the opposite direction, it is the same turned round, to the last bit.
        found = rows[dx, dy, dz] = [0] * len(known)
        other = rows[-dx, -dy, -dz] = [0] * len(known)
        for i, j, one, two, x, y, z in offsets:
            along = x * dx + y * dy + z * dz
            if along > RELATION_MARGIN:
                found[i] |= two
                other[j] |= one
            elif along < -RELATION_MARGIN:
                found[j] |= one
                other[i] |= two
    return [tuple(rows[dx, dy, dz]) for dx, dy, dz in directions]


@cache
def _find_schema(name: str) -> Schema | None:
    return load_schema(name) if name == OPEN.name or name in SCHEMAS.names() else None


@cache
def load_schema(name: str) -> Schema:
    """A schema of the registry: the `SCHEMA` of `schemas/NAME.py`."""
    if name == OPEN.name:
        return OPEN
    schema = SCHEMAS.load(name).SCHEMA
    assert isinstance(schema, Schema)
    return schema


def _object_to_json(o: Object) -> dict[str, Any]:
    data = {
        "id": o.id,
        "attributes": [list(p) for p in o.attributes],
        "parts": [
            {"name": p.name, "attributes": [list(q) for q in p.attributes]}
            | ({"texture": p.texture} if p.texture else {})
            | ({"box": list(p.box)} if p.box else {})
            for p in o.parts
        ],
        "position": list(o.position) if o.position else None,
        "rotation": o.rotation,
        "pixel": list(o.pixel) if o.pixel else None,
        "box": list(o.box) if o.box else None,
        "texture": o.texture,
    }
    return {k: v for k, v in data.items() if v not in ("", [], None) or k == "attributes"}


def _object_from_json(data: dict[str, Any]) -> Object:
    optional: dict[str, Any] = {key: tuple(data[key]) for key in ("position", "pixel", "box") if key in data}
    return Object(
        id=data.get("id", ""),
        attributes=tuple((a, v) for a, v in data["attributes"]),
        parts=tuple(_part_from_json(p) for p in data.get("parts", ())),
        rotation=data.get("rotation"),
        texture=data.get("texture", ""),
        **optional,
    )


def _part_from_json(data: dict[str, Any]) -> Part:
    box = tuple(data["box"]) if "box" in data else None
    return Part(data["name"], tuple((a, v) for a, v in data["attributes"]), data.get("texture", ""), box)
