"""PackedGraphs: many scene graphs as arrays of codes, small enough to hold 100,000 and quick to search.

What a word answers to is the schema's: a thing called "puppy" is a dog too, as it is to the ops. Which side
of the image a thing is on, and relations that only say left or right, are left out: they are most of what is
annotated and make subgraphs explode.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..formats.gqa import DERIVED
from ..scene import Scene
from ..schema import Schema

Codes = NDArray[np.int32]
Starts = NDArray[np.int64]

SIDES = frozenset(  # relations that follow from where two boxes are
    f"{start}{side}{end}"
    for side in ("left", "right")
    for start in ("", "to the ", "to ", "on the ", "on ", "at the ", "in the ")
    for end in ("", " of", " side of")
) | {"left to", "right to"}
PLANE = SIDES | {"front", "behind"}  # of synthetic scenes, where geometry gives all four


@dataclass(frozen=True, eq=False)
class PackedGraphs:
    """Objects are numbered through all graphs; a triple stands with its subject."""

    schema: Schema
    noun: str  # the attribute that says what a thing is called: name, or shape
    ids: tuple[str, ...]
    names: tuple[str, ...]  # vocabularies, each sorted: a code is a place in them; kinds are names too
    attributes: tuple[str, ...]
    relations: tuple[str, ...]
    modifiers: tuple[str, ...]
    object_starts: Starts  # [graph + 1]
    object_names: Codes  # [object]
    attribute_starts: Starts  # [object + 1]
    object_attributes: Codes  # sorted within an object
    triple_starts: Starts  # [object + 1]
    triple_relations: Codes  # [triple]
    triple_modifiers: Codes  # [triple], −1 where the triple is a plain relation
    triple_objects: Codes  # [triple]
    wider_starts: Starts  # [name + 1]
    wider: Codes  # the names that a thing of this name answers to, its own among them

    def __len__(self) -> int:
        return len(self.ids)

    # By word its code, by image the number of its graph.
    name_codes = cached_property(lambda self: _number_words(self.names))
    attribute_codes = cached_property(lambda self: _number_words(self.attributes))
    relation_codes = cached_property(lambda self: _number_words(self.relations))
    modifier_codes = cached_property(lambda self: _number_words(self.modifiers))
    numbers = cached_property(lambda self: _number_words(self.ids))

    @cached_property
    def narrower(self) -> tuple[Codes, ...]:
        """[name] the names whose things answer to this one: `wider` the other way round."""
        of = np.repeat(np.arange(len(self.names), dtype=np.int32), np.diff(self.wider_starts))
        order = np.argsort(self.wider, kind="stable")
        return tuple(np.split(of[order], np.searchsorted(self.wider[order], np.arange(1, len(self.names)))))

    @cached_property
    def attribute_owners(self) -> Codes:
        """[attribute] the object that has it."""
        return np.repeat(np.arange(len(self.object_names), dtype=np.int32), np.diff(self.attribute_starts))

    @cached_property
    def triple_subjects(self) -> Codes:
        return np.repeat(np.arange(len(self.object_names), dtype=np.int32), np.diff(self.triple_starts))

    @cached_property
    def graph_of(self) -> Codes:
        """[object] the graph it is in."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.object_starts))

    def list_attributes(self, thing: int) -> list[str]:
        start, end = self.attribute_starts[thing : thing + 2]
        return [self.attributes[a] for a in self.object_attributes[start:end]]

    def list_triples(self, thing: int) -> range:
        """The numbers of the triples whose subject the object is."""
        return range(int(self.triple_starts[thing]), int(self.triple_starts[thing + 1]))


def _number_words(words: tuple[str, ...]) -> dict[str, int]:
    return {word: k for k, word in enumerate(words)}


def pack_graphs(scenes: Iterable[Scene], *, keep_spatial: bool = False) -> PackedGraphs:
    """Pack the scenes' graphs, with or without the relations that only say on which side things are."""
    packer = _GraphPacker(keep_spatial)
    for scene in scenes:
        packer.add(scene)
    return packer.build()


def _sort_codes(codes: dict[str, int], values: array[int], more: Iterable[str] = ()) -> tuple[tuple[str, ...], Codes]:
    """The words of the codes, with more words besides, sorted, and the values as places in them."""
    words = tuple(sorted({*codes, *more}))
    places = np.empty(len(codes) + 1, np.int32)
    places[-1] = -1  # for −1: none
    for place, word in enumerate(words):
        if word in codes:
            places[codes[word]] = place
    return words, places[_to_codes(values)]


class _GraphPacker:
    """The arrays while they grow; words are numbered in the order they are met, and sorted at the end."""

    def __init__(self, keep_spatial: bool) -> None:
        self.keep_spatial = keep_spatial
        self.schema: Schema | None = None
        self.noun = ""
        self.seen: dict[str, None] = {}
        self.codes: dict[str, dict[str, int]] = {k: {} for k in ("name", "attribute", "relation", "modifier")}
        self.counts, self.names = array("i"), array("i")  # objects of each graph, name of each object
        self.owners, self.attributes = array("i"), array("i")
        self.subjects, self.relations = array("i"), array("i")
        self.modifiers, self.objects = array("i"), array("i")

    def number_word(self, kind: str, word: str) -> int:
        codes = self.codes[kind]
        return codes.setdefault(word, len(codes))

    def add(self, scene: Scene) -> None:
        if scene.id in self.seen:
            raise UserError(f"image {scene.id!r} has two scene graphs; an image can have only one")
        if self.schema is None:
            self.schema, self.noun = scene.schema, get_noun_attribute(scene.schema)
        elif scene.schema != self.schema:
            raise UserError(
                f"image {scene.id!r} is described in the words of {scene.schema.name}, "
                f"the ones before it in those of {self.schema.name}; each needs an index of its own"
            )
        self.seen[scene.id] = None
        base = len(self.names)
        for at, thing in enumerate(scene.objects):
            for what, value in thing.attributes:
                if what == self.noun:
                    if len(self.names) > base + at or not value:
                        raise UserError(f"image {scene.id!r}: object {thing.id or at} needs one {self.noun}")
                    self.names.append(self.number_word("name", value))
                elif what not in DERIVED and value:
                    self.owners.append(base + at)
                    self.attributes.append(self.number_word("attribute", value))
            if len(self.names) == base + at:
                raise UserError(f"image {scene.id!r}: object {thing.id or at} has no {self.noun}")
        self.counts.append(len(scene.objects))
        self._add_relations(scene, base)

    def _add_relations(self, scene: Scene, base: int) -> None:
        assert self.schema is not None
        dropped = frozenset() if self.keep_spatial else PLANE if self.schema.closed else SIDES
        if self.schema.closed:  # that a centre is higher than another's is not to be above it
            dropped |= {name for name, _ in scene.directions} - set(self.schema.relations)
        parted: dict[str, Sequence[str]] = dict(scene.note("modifiers", ()))
        stored = {r.name: r for r in scene.relations}
        for name, one in stored.items():
            if name in dropped:
                continue
            plain, extra = parted.get(name, (name, ""))
            codes = self.number_word("relation", plain), self.number_word("modifier", extra) if extra else -1
            for subject, target in one.triples():
                self._add_triple(base + subject, *codes, base + target)
        for name, _ in scene.directions:
            if name not in dropped and name not in stored:
                for target, row in enumerate(scene.relation(name) or ()):
                    for subject in range(len(scene.objects)):
                        if row >> subject & 1:
                            self._add_triple(base + subject, self.number_word("relation", name), -1, base + target)

    def _add_triple(self, subject: int, relation: int, modifier: int, target: int) -> None:
        self.subjects.append(subject)
        self.relations.append(relation)
        self.modifiers.append(modifier)
        self.objects.append(target)

    def build(self) -> PackedGraphs:
        if self.schema is None:
            raise UserError("there are no scene graphs to pack")
        size, words = len(self.names), self.codes
        kinds: dict[str, set[str]] = {name: set() for name in words["name"]}  # that contain it
        for attribute in self.schema.attributes:
            for kind, members in attribute.kinds if attribute.name == self.noun else ():
                for member in kinds.keys() & members:
                    kinds[member].add(kind)
        names, object_names = _sort_codes(words["name"], self.names, chain.from_iterable(kinds.values()))
        codes = _number_words(names)
        wider = [sorted({codes[word], *(codes[k] for k in kinds.get(word, ()))}) for word in names]
        attributes, described = _sort_codes(words["attribute"], self.attributes)
        relations, related = _sort_codes(words["relation"], self.relations)
        modifiers, modified = _sort_codes(words["modifier"], self.modifiers)
        owned = _sort_unique_rows(_to_codes(self.owners), described)
        triples = _sort_unique_rows(_to_codes(self.subjects), related, modified, _to_codes(self.objects))
        return PackedGraphs(
            schema=self.schema,
            noun=self.noun,
            ids=tuple(self.seen),
            names=names,
            attributes=attributes,
            relations=relations,
            modifiers=modifiers,
            object_starts=np.cumsum([0, *self.counts], dtype=np.int64),
            object_names=object_names,
            attribute_starts=_compute_starts(owned[0], size),
            object_attributes=owned[1],
            triple_starts=_compute_starts(triples[0], size),
            triple_relations=triples[1],
            triple_modifiers=triples[2],
            triple_objects=triples[3],
            wider_starts=np.cumsum([0, *map(len, wider)], dtype=np.int64),
            wider=np.array([*chain.from_iterable(wider)], np.int32),
        )


def get_noun_attribute(schema: Schema) -> str:
    """The attribute that says what a thing is: its name, or its shape where solids have no names."""
    known = [a.name for a in schema.attributes]
    for noun in ("name", "shape"):
        if noun in known or (noun == "name" and not schema.closed):
            return noun
    raise UserError(f"things of schema {schema.name} have neither a name nor a shape to be called by")


def _to_codes(values: array[int]) -> Codes:
    return np.frombuffer(values, np.int32) if values else np.empty(0, np.int32)


def _sort_unique_rows(*columns: Codes) -> tuple[Codes, ...]:
    """The rows of these columns, sorted by the first, then the second, …, each once."""
    order = np.lexsort(columns[::-1])
    rows = [column[order] for column in columns]
    if len(order):
        new = np.ones(len(order), bool)
        new[1:] = np.any([row[1:] != row[:-1] for row in rows], axis=0)
        rows = [row[new] for row in rows]
    return tuple(rows)


def _compute_starts(owners: Codes, size: int) -> Starts:
    return np.searchsorted(owners, np.arange(size + 1)).astype(np.int64)
