"""View: a scene graph as questions see it: names, words and relations that can be said of its things.

Descriptions are drawn here. Like GQA's they say more than they must: a thing that its name alone singles out
may still be "the black cat that is on the mat".
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...lang.ops.attributes import NOT_IN_COMMON
from ...lang.world import World
from ...scene import FREE, Scene
from ...schema import Schema
from ..ask._adjectives import described as adjective
from ..ask._nouns import is_noun, is_place
from ..ask._relations import predicate
from ..extract import QUANTITIES
from .described import Described, Link, Word

SAID = 2 / 3  # how likely a word, and a relation, is said where there is one
SAID_INSIDE = 1 / 3  # and a relation of what another is described by
DEEPEST = 2  # relations on a path
_UNSAYABLE = frozenset("|,()_")  # marks that GQA's notation is made of


class Tie(NamedTuple):
    """A relation of a thing; `subject` says that the thing is its subject."""

    relation: str
    other: int
    subject: bool


class View:
    """One scene; things are numbered as in it."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.world = World((scene,))
        self.names = [next(iter(o.values("name")), "") for o in scene.objects]
        self.things = [i for i, name in enumerate(self.names) if is_thing(name)]
        self.words = [self._words(i) for i in range(len(self.names))]
        self.ties: list[list[Tie]] = [[] for _ in self.names]
        for relation in scene.relations:
            if predicate(relation.name) is not None and _is_plain(relation.name):
                for subject, target in relation.triples():
                    if subject != target and subject in self.things and target in self.things:
                        self.ties[subject].append(Tie(relation.name, target, True))
                        self.ties[target].append(Tie(relation.name, subject, False))

    def _words(self, thing: int) -> list[Word]:
        schema = self.scene.schema
        found = [
            Word(family_of(schema, a, v), v)
            for a, v in self.scene.objects[thing].attributes
            if a != "name" and is_adjective(v) and v not in self.names[thing].split()
        ]
        return list(dict.fromkeys(found))

    def found(self, thing: Described) -> int:
        """The mask of what fits a description."""
        world = self.world
        mask = world.objects.mask("name", thing.name) if thing.name else world.objects.everything
        for word in thing.words:
            mask &= world.objects.mask(word.attribute, word.value)
        if thing.link is not None:
            rows = (
                world.rows(thing.link.relation) if thing.link.subject else world.targets(thing.link.relation)
            )
            others = self.found(thing.link.other)
            mask &= _union(rows or (), others)
        return mask

    def describe(
        self,
        draw: np.random.Generator,
        thing: int,
        *,
        silent: frozenset[str] = frozenset(),
        away: frozenset[int] = frozenset(),
        depth: int = DEEPEST,
        alone: bool = True,
    ) -> Described | None:
        """A description of the thing that no other fits, drawn at random; None where there is none.

        It says nothing of the attributes that are `silent`, and mentions none of the things kept `away`. One
        that need not be `alone` may fit others too.
        """
        words = [w for w in self.words[thing] if w.attribute not in silent]
        ties = [t for t in self.ties[thing] if t.other not in away and t.other != thing] if depth else []
        word = words[draw.integers(len(words))] if words else None
        tie = ties[draw.integers(len(ties))] if ties else None
        link = self._link(draw, tie, away | {thing}, depth) if tie else None
        say_word = draw.random() < SAID
        say_link = draw.random() < (SAID if depth == DEEPEST else SAID_INSIDE)
        for with_word, with_link in ((say_word, say_link), (True, say_link), (say_word, True), (True, True)):
            said_link = link if with_link else None
            said = (word,) if word and with_word and _reads_well(word, said_link) else ()
            made = Described(self.names[thing], said, said_link)
            if not alone or self.found(made) == 1 << thing:
                return made
        return None

    def _link(self, draw: np.random.Generator, tie: Tie, away: frozenset[int], depth: int) -> Link | None:
        further = depth - 1 if tie.subject else 0  # not "the mat that the cat that the man feeds is on"
        other = self.describe(draw, tie.other, away=away, depth=further)
        return None if other is None else Link(tie.relation, other, tie.subject)


def _reads_well(word: Word, link: Link | None) -> bool:
    """Not both: that is at the top of the picture, and that is on the mat."""
    said = adjective(word.value)
    return link is None or (said is not None and said.before and word.attribute not in NOT_IN_COMMON)


def _union(rows: tuple[int, ...], among: int) -> int:
    found = 0
    for i, row in enumerate(rows):
        if among >> i & 1:
            found |= row
    return found


@lru_cache(maxsize=16_384)
def family_of(schema: Schema, attribute: str, value: str) -> str:
    """The attribute that a value is of: white → color; what the schema does not know stays as it is."""
    if attribute != FREE:
        return attribute
    found = schema.attribute_of(value)
    return FREE if found in (None, "name") else str(found)


@lru_cache(maxsize=16_384)
def is_adjective(value: str) -> bool:
    """Whether the value is said of a thing as an adjective, and is no count of it."""
    first = value.split()[0].lower() if value.split() else ""
    return bool(first) and first not in QUANTITIES and adjective(value) is not None and _is_plain(value)


@lru_cache(maxsize=16_384)
def is_thing(name: str) -> bool:
    """Whether the name reads as that of a thing one can point at, and GQA's notation can hold it."""
    return is_noun(name) and not is_place(name, "in") and _is_plain(name)


def _is_plain(word: str) -> bool:
    return not _UNSAYABLE.intersection(word) and word not in ("this", "scene")
