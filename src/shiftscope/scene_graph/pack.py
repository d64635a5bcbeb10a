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
        """[name] the names whose things answer to this one: the other way round."""
        of = np.repeat(np.arange(len(self.names)), np.diff(self.wider_starts))
        order = np.argsort(self.wider, kind="stable")
        cuts = np.searchsorted(self.wider[order], np.arange(1, len(self.names)))
        return tuple(np.split(of[order].astype(np.int32), cuts))

    @cached_property
    def attribute_owners(self) -> Codes:
        """[attribute] the object it is said of."""
        return np.repeat(np.arange(len(self.object_names), dtype=np.int32), np.diff(self.attribute_starts))

    @cached_property
    def triple_subjects(self) -> Codes:
        return np.repeat(np.arange(len(self.object_names), dtype=np.int32), np.diff(self.triple_starts))

    @cached_property
    def graph_of(self) -> Codes:
        """[object] the graph it is in."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.object_starts))

    def list_attributes(self, thing: int) -> list[str]:
        """What is said of an object."""
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
        if scene.id in packer.seen:
            raise UserError(f"image {scene.id!r} has two scene graphs; an image can have only one")
        packer.add(scene)
    return packer.build()


class _WordCodes:
    """Words in the order they are met; their codes are sorted at the end."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def get_code(self, word: str) -> int:
        return self.codes.setdefault(word, len(self.codes))

    def sort_codes(self, codes: array[int], more: Iterable[str] = ()) -> tuple[tuple[str, ...], Codes]:
        """The vocabulary, with more words besides, and the codes given so far as places in it."""
        words = tuple(sorted({*self.codes, *more}))
        places = np.empty(len(self.codes) + 1, np.int32)
        places[-1] = -1  # for −1: none
        for place, word in enumerate(words):
            if word in self.codes:
                places[self.codes[word]] = place
        return words, places[np.frombuffer(codes, np.int32) if codes else np.empty(0, np.int32)]


class _GraphPacker:
    """The arrays while they grow."""

    def __init__(self, keep_spatial: bool) -> None:
        self.keep_spatial = keep_spatial
        self.schema: Schema | None = None
        self.noun = ""
        self.seen: dict[str, None] = {}
        self.vocabularies = {kind: _WordCodes() for kind in ("name", "attribute", "relation", "modifier")}
        self.counts = array("i")  # objects of each graph
        self.names = array("i")
        self.owners, self.attributes = array("i"), array("i")
        self.subjects, self.relations = array("i"), array("i")
        self.modifiers, self.objects = array("i"), array("i")

    def add(self, scene: Scene) -> None:
        if self.schema is None:
            self.schema, self.noun = scene.schema, get_noun_attribute(scene.schema)
        elif scene.schema != self.schema:
            raise UserError(
                f"image {scene.id!r} is described in the words of {scene.schema.name}, "
                f"the ones before it in those of {self.schema.name}; each needs an index of its own"
            )
        self.seen[scene.id] = None
        base = len(self.names)
        name, attribute = self.vocabularies["name"].get_code, self.vocabularies["attribute"].get_code
        for at, thing in enumerate(scene.objects):
            named = False
            for what, value in thing.attributes:
                if what == self.noun:
                    if named or not value:
                        raise UserError(f"image {scene.id!r}: object {thing.id or at} needs one {self.noun}")
                    named = True
                    self.names.append(name(value))
                elif what not in DERIVED and value:
                    self.owners.append(base + at)
                    self.attributes.append(attribute(value))
            if not named:
                raise UserError(f"image {scene.id!r}: object {thing.id or at} has no {self.noun}")
        self.counts.append(len(scene.objects))
        self._add_relations(scene, base)

    def _add_relations(self, scene: Scene, base: int) -> None:
        assert self.schema is not None
        relation, modifier = self.vocabularies["relation"].get_code, self.vocabularies["modifier"].get_code
        dropped = frozenset() if self.keep_spatial else PLANE if self.schema.closed else SIDES
        if self.schema.closed:  # that a centre is higher than another's is not to be above it
            dropped |= {name for name, _ in scene.directions} - set(self.schema.relations)
        parted: dict[str, Sequence[str]] = dict(scene.note("modifiers", ()))
        stored = {r.name: r for r in scene.relations}
        for name, one in stored.items():
            if name in dropped:
                continue
            plain, extra = parted.get(name, (name, ""))
            codes = relation(plain), modifier(extra) if extra else -1
            for subject, target in one.triples():
                self._add_triple(base + subject, *codes, base + target)
        for name, _ in scene.directions:
            if name not in dropped and name not in stored:
                for target, row in enumerate(scene.relation(name) or ()):
                    for subject in range(len(scene.objects)):
                        if row >> subject & 1:
                            self._add_triple(base + subject, relation(name), -1, base + target)

    def _add_triple(self, subject: int, relation: int, modifier: int, target: int) -> None:
        self.subjects.append(subject)
        self.relations.append(relation)
        self.modifiers.append(modifier)
        self.objects.append(target)

    def build(self) -> PackedGraphs:
        if self.schema is None:
            raise UserError("there are no scene graphs to pack")
        size = len(self.names)
        called = self.vocabularies["name"]
        answers = _list_kinds(called.codes, self.schema, self.noun)
        names, object_names = called.sort_codes(self.names, (k for kinds in answers.values() for k in kinds))
        attributes, said = self.vocabularies["attribute"].sort_codes(self.attributes)
        relations, related = self.vocabularies["relation"].sort_codes(self.relations)
        modifiers, modified = self.vocabularies["modifier"].sort_codes(self.modifiers)
        owned = _sort_unique_rows(_to_codes(self.owners), said)
        triples = _sort_unique_rows(_to_codes(self.subjects), related, modified, _to_codes(self.objects))
        wider_starts, wider = _build_wider(names, answers)
        return PackedGraphs(
            schema=self.schema,
            noun=self.noun,
            ids=tuple(self.seen),
            names=names,
            attributes=attributes,
            relations=relations,
            modifiers=modifiers,
            object_starts=np.concatenate(([0], np.cumsum(_to_codes(self.counts), dtype=np.int64))),
            object_names=object_names,
            attribute_starts=_compute_starts(owned[0], size),
            object_attributes=owned[1],
            triple_starts=_compute_starts(triples[0], size),
            triple_relations=triples[1],
            triple_modifiers=triples[2],
            triple_objects=triples[3],
            wider_starts=wider_starts,
            wider=wider,
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


def _list_kinds(names: Iterable[str], schema: Schema, noun: str) -> dict[str, set[str]]:
    """For each name the kinds that contain it."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for attribute in schema.attributes:
        if attribute.name == noun:
            for kind, members in attribute.kinds:
                for member in members:
                    if member in found:
                        found[member].add(kind)
    return found


def _build_wider(names: tuple[str, ...], answers: dict[str, set[str]]) -> tuple[Starts, Codes]:
    """For each name the codes of what its things answer to."""
    codes = _number_words(names)
    each = [sorted({codes[word], *(codes[k] for k in answers.get(word, ()))}) for word in names]
    starts = np.concatenate(([0], np.cumsum([len(found) for found in each], dtype=np.int64)))
    return starts, np.array([code for found in each for code in found], np.int32)
