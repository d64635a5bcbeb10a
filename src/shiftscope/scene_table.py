"""SceneTable: many closed-vocabulary scenes as arrays. Lossless: `table[k]` is the scene that went in.

Sets of objects (and of parts) are uint64 words, one per scene, bit i for object i, so filtering is AND,
relating is a gather and counting is a popcount. At most 64 objects and 64 parts per scene.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .errors import UserError
from .scene import Box, Object, Part, Relation, Scene
from .schema import Attribute, Schema

WORD = 64  # most objects, or parts, of a scene
ABSENT = -1
SCENE_FIELDS = ("id", "size", "directions", "attributes", "notes")  # kept as they are

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Terms:
    """Numbers for everything a filter may ask for: (attribute, value or kind) → code."""

    attributes: tuple[Attribute, ...]
    code: dict[tuple[str, str], int]
    names: tuple[str, ...]  # of code c
    first: tuple[int, ...]  # code of an attribute's first value

    @classmethod
    def of(cls, attributes: tuple[Attribute, ...]) -> Self:
        listed = [(a.name, term) for a in attributes for term in a.terms]
        first = tuple(accumulate((len(a.terms) for a in attributes[:-1]), initial=0)) if attributes else ()
        return cls(attributes, {pair: c for c, pair in enumerate(listed)}, tuple(t for _, t in listed), first)

    def index(self, attribute: str) -> int:
        return [a.name for a in self.attributes].index(attribute)


@dataclass(frozen=True, slots=True, eq=False)
class SceneTable:
    """Arrays over scenes, objects and parts, and beside them what only text can hold."""

    schema: Schema
    terms: Terms
    part_terms: Terms
    relations: tuple[str, ...]
    start: NDArray[np.int64]  # [scene + 1] first object
    codes: NDArray[np.int16]  # [object, attribute] code of the value, or ABSENT
    masks: Words  # [scene, term]
    everything: Words  # [scene]
    rows: Words  # [object, relation] the objects that stand in the relation to this one
    knows: NDArray[np.bool_]  # [scene, relation] whether the scene has the relation at all
    part_start: NDArray[np.int64]  # [scene + 1] first part
    part_codes: NDArray[np.int16]  # [part, part attribute]
    part_masks: Words  # [scene, part term]
    owner: NDArray[np.int64]  # [part] number of its object in the scene
    parts_of: Words  # [object]
    numbers: NDArray[np.float64]  # [object, 11] position, rotation, pixel, box; NaN where not given
    sides: tuple[dict[str, Any], ...]  # [scene] id, size, directions, notes, …

    def __len__(self) -> int:
        return len(self.everything)

    def __iter__(self) -> Iterator[Scene]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> Scene:
        """Scene k as it went in."""
        if not 0 <= k < len(self):
            raise IndexError(k)
        side = self.sides[k]
        first, last = int(self.start[k]), int(self.start[k + 1])
        rows = self.rows[first:last]
        relations = tuple(
            Relation(name, tuple(int(w) for w in rows[:, self.relations.index(name)])) for name in side["stored"]
        )
        objects = tuple(self._object(i, i - first, k, side) for i in range(first, last))
        return Scene(objects, relations, schema=self.schema, **{f: side[f] for f in SCENE_FIELDS})

    def _object(self, i: int, local: int, k: int, side: dict[str, Any]) -> Object:
        def read_numbers(first: int, last: int) -> tuple[float, ...] | None:
            values = self.numbers[i, first:last].tolist()
            return None if values[0] != values[0] else tuple(values)

        first, last = int(self.part_start[k]), int(self.part_start[k + 1])
        owned = [p for p in range(first, last) if self.owner[p] == local]
        rotation = read_numbers(3, 4)
        return Object(
            id=side["object_ids"][local],
            attributes=_pairs(self.codes[i], self.terms),
            parts=tuple(self._part(p, side["part_looks"][p - first]) for p in owned),
            position=read_numbers(0, 3),  # type: ignore[arg-type]
            rotation=rotation[0] if rotation else None,
            pixel=read_numbers(4, 7),  # type: ignore[arg-type]
            box=read_numbers(7, 11),  # type: ignore[arg-type]
            texture=side["textures"][local],
        )

    def _part(self, p: int, look: tuple[str, Box | None]) -> Part:
        pairs = _pairs(self.part_codes[p], self.part_terms)
        name = next(value for attribute, value in pairs if attribute == "name")
        return Part(name, tuple(pair for pair in pairs if pair[0] != "name"), *look)


def pack_scenes(scenes: Iterable[Scene]) -> SceneTable:
    """Put scenes of one closed schema into arrays."""
    listed = tuple(scenes)
    if not listed:
        raise UserError("there are no scenes to pack")
    schema = listed[0].schema
    for scene in listed:
        if scene.schema != schema:
            known = f"those before it in {schema.name}"
            raise UserError(f"scene {scene.id!r} is in {scene.schema.name}, {known}: pack them apart")
        if not schema.closed:
            raise UserError(f"scene {scene.id!r} has an open vocabulary; only closed ones pack")
        if len(scene.objects) > WORD or sum(len(o.parts) for o in scene.objects) > WORD:
            raise UserError(f"scene {scene.id!r} has more than {WORD} objects or parts; such scenes do not pack")
    relations = tuple(dict.fromkeys((*schema.relations, *(r.name for scene in listed for r in scene.relations))))
    terms, part_terms = Terms.of(schema.attributes), Terms.of(schema.part_attributes)

    objects = [o for scene in listed for o in scene.objects]
    parts = [(k, i, p) for k, s in enumerate(listed) for i, o in enumerate(s.objects) for p in o.parts]
    start = _starts([len(s.objects) for s in listed])
    part_start = _starts([sum(len(o.parts) for o in s.objects) for s in listed])
    codes = _codes([o.attributes for o in objects], terms)
    part_codes = _codes([(("name", p.name), *p.attributes) for _, _, p in parts], part_terms)

    found = [[scene.relation(name) for name in relations] for scene in listed]
    rows = [
        zip(*[(0,) * len(s.objects) if own is None else own for own in each], strict=True)
        for s, each in zip(listed, found, strict=True)
    ]
    counts = [len(o.parts) for o in objects]
    before = np.cumsum([0, *counts])[:-1] - np.repeat(part_start[:-1], np.diff(start))  # of its scene's parts
    parts_of = [((1 << count) - 1) << first for count, first in zip(counts, before.tolist(), strict=True)]
    return SceneTable(
        schema=schema,
        terms=terms,
        part_terms=part_terms,
        relations=relations,
        start=start,
        codes=codes,
        masks=term_masks(codes, start, terms),
        everything=np.array([(1 << len(s.objects)) - 1 for s in listed], np.uint64),
        rows=np.array([*chain(*rows)], np.uint64).reshape(len(objects), len(relations)),
        knows=np.array([own is not None for own in chain(*found)], np.bool_).reshape(len(listed), len(relations)),
        part_start=part_start,
        part_codes=part_codes,
        part_masks=term_masks(part_codes, part_start, part_terms),
        owner=np.array([i for _, i, _ in parts], np.int64),
        parts_of=np.array(parts_of, np.uint64),
        numbers=np.array([_numbers(o) for o in objects], np.float64).reshape(-1, 11),
        sides=tuple(
            {f: getattr(scene, f) for f in SCENE_FIELDS}
            | {
                "stored": tuple(r.name for r in scene.relations),
                "object_ids": tuple(o.id for o in scene.objects),
                "textures": tuple(o.texture for o in scene.objects),
                "part_looks": tuple((p.texture, p.box) for o in scene.objects for p in o.parts),
            }
            for scene in listed
        ),
    )


def _starts(counts: list[int]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(counts, np.int64))])


def _codes(things: list[tuple[tuple[str, str], ...]], terms: Terms) -> NDArray[np.int16]:
    column = {a.name: c for c, a in enumerate(terms.attributes)}
    known = {pair: (column[pair[0]], code) for pair, code in terms.code.items()}
    rows: list[list[int]] = []
    for pairs in things:
        row = [ABSENT] * len(terms.attributes)
        for pair in pairs:
            at, code = known.get(pair, (-1, ABSENT))
            if at < 0 or row[at] != ABSENT:
                raise UserError(f"{pair[0]} {pair[1]!r} does not pack: it is not in the vocabulary, or a second value")
            row[at] = code
        rows.append(row)
    return np.array(rows, np.int16).reshape(len(rows), len(terms.attributes))


def term_masks(codes: NDArray[np.int16], start: NDArray[np.int64], terms: Terms) -> Words:
    """Which things of each scene have each term; a kind is the union of its values."""
    scenes = len(start) - 1
    masks = np.zeros((scenes, len(terms.names)), np.uint64)
    scene_of = np.repeat(np.arange(scenes), np.diff(start))
    bit = np.uint64(1) << (np.arange(len(codes)) - start[scene_of]).astype(np.uint64)
    for column in range(codes.shape[1]):
        there = codes[:, column] != ABSENT
        np.bitwise_or.at(masks, (scene_of[there], codes[there, column]), bit[there])
    for a in terms.attributes:
        for kind, values in a.kinds:
            for value in values:
                masks[:, terms.code[a.name, kind]] |= masks[:, terms.code[a.name, value]]
    return masks


def _numbers(o: Object) -> list[float]:
    nan = float("nan")
    rotation = (nan,) if o.rotation is None else (o.rotation,)
    return [*(o.position or (nan,) * 3), *rotation, *(o.pixel or (nan,) * 3), *(o.box or (nan,) * 4)]


def _pairs(codes: NDArray[np.int16], terms: Terms) -> tuple[tuple[str, str], ...]:
    return tuple((a.name, terms.names[c]) for a, c in zip(terms.attributes, codes.tolist(), strict=True) if c != ABSENT)
