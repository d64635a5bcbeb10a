"""Scene view and vocabulary: how to describe a scene graph's objects, and which other values are common.

Descriptions are drawn here. Like GQA's they say more than they must: an object that its name alone singles
out may still be "the black cat that is on the mat". The vocabulary counts the values and names that a
collection of graphs has.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from ...english.adjectives import describe_attribute as adjective
from ...english.nouns import COUNTS, is_noun, is_scene_region
from ...english.relations import parse_relation
from ...lang.execution_world import ExecutionWorld
from ...lang.ops.attributes import NOT_IN_COMMON
from ...scene import FREE, Scene, mask_members
from ...schema import Schema
from .wording import DescriptionLink, DescriptionWord, ObjectDescription

MENTION_PROBABILITY = 2 / 3  # how likely a description mentions an attribute, and a relation
INNER_MENTION_PROBABILITY = 1 / 3  # and a relation of what another is described by
DEEPEST = 2  # relations on a path
_UNSAYABLE = frozenset("|,()_")  # marks that GQA's notation is made of
MOST = 60  # words kept for each place, the commonest
FEWEST = 3  # times that a word is there; what is rarer is often a slip
WordCounts = Mapping[str, int]


class ObjectRelation(NamedTuple):
    """A relation of a thing; `subject` says that the thing is its subject."""

    relation: str
    other: int
    subject: bool


class SceneView:
    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.world = ExecutionWorld((scene,))
        self.names = [next(iter(o.values("name")), "") for o in scene.objects]
        self.things = [i for i, name in enumerate(self.names) if is_thing(name)]
        self.words: list[list[DescriptionWord]] = []
        for o, name in zip(scene.objects, self.names, strict=True):
            pairs = [(a, v) for a, v in o.attributes if a != "name" and is_adjective(v) and v not in name.split()]
            found = (DescriptionWord(get_attribute_family(scene.schema, a, v), v) for a, v in pairs)
            self.words.append(list(dict.fromkeys(found)))
        self.ties: list[list[ObjectRelation]] = [[] for _ in self.names]
        for relation in scene.relations:
            if parse_relation(relation.name) is not None and _is_plain(relation.name):
                for subject, target in relation.triples():
                    if subject != target and subject in self.things and target in self.things:
                        self.ties[subject].append(ObjectRelation(relation.name, target, True))
                        self.ties[target].append(ObjectRelation(relation.name, subject, False))

    def find_matches(self, thing: ObjectDescription) -> int:
        world = self.world
        mask = world.objects.mask("name", thing.name) if thing.name else world.objects.everything
        for word in thing.words:
            mask &= world.objects.mask(word.attribute, word.value)
        if thing.link is not None:
            rows = world.rows(thing.link.relation) if thing.link.subject else world.targets(thing.link.relation)
            reached = 0
            for i in mask_members(self.find_matches(thing.link.other)):
                reached |= rows[i] if rows else 0
            mask &= reached
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
    ) -> ObjectDescription | None:
        """A description of the thing that no other fits, drawn at random; None where there is none.

        It says nothing of the attributes that are `silent`, and mentions none of the things kept `away`. One
        that need not be `alone` may fit others too.
        """
        words = [w for w in self.words[thing] if w.attribute not in silent]
        ties = [t for t in self.ties[thing] if t.other not in away and t.other != thing] if depth else []
        word = words[draw.integers(len(words))] if words else None
        phrase = adjective(word.value) if word else None
        tie = ties[draw.integers(len(ties))] if ties else None
        link = None
        if tie is not None:
            further = depth - 1 if tie.subject else 0  # not "the mat that the cat that the man feeds is on"
            other = self.describe(draw, tie.other, away=away | {thing}, depth=further)
            link = None if other is None else DescriptionLink(tie.relation, other, tie.subject)
        say_word = draw.random() < MENTION_PROBABILITY
        say_link = draw.random() < (MENTION_PROBABILITY if depth == DEEPEST else INNER_MENTION_PROBABILITY)
        # Not both: that is at the top of the picture, and that is on the mat.
        fluent = phrase is not None and phrase.before and word is not None and word.attribute not in NOT_IN_COMMON
        for with_word, with_link in ((say_word, say_link), (True, say_link), (say_word, True), (True, True)):
            said_link = link if with_link else None
            description = (word,) if word and with_word and (said_link is None or fluent) else ()
            made = ObjectDescription(self.names[thing], description, said_link)
            if not alone or self.find_matches(made) == 1 << thing:
                return made
        return None


@lru_cache(maxsize=16_384)
def get_attribute_family(schema: Schema, attribute: str, value: str) -> str:
    """The attribute that a value is of: white → color; what the schema does not know stays as it is."""
    if attribute != FREE:
        return attribute
    found = schema.attribute_of(value)
    return FREE if found in (None, "name") else str(found)


@lru_cache(maxsize=16_384)
def is_adjective(value: str) -> bool:
    """Whether the value reads as an adjective of an object, and is no count."""
    first = value.split()[0].lower() if value.split() else ""
    return bool(first) and first not in COUNTS and adjective(value) is not None and _is_plain(value)


@lru_cache(maxsize=16_384)
def is_thing(name: str) -> bool:
    """Whether the name reads as that of a thing one can point at, and GQA's notation can hold it."""
    return is_noun(name) and not is_scene_region(name, "in") and _is_plain(name)


def _is_plain(word: str) -> bool:
    return not _UNSAYABLE.intersection(word) and word not in ("this", "scene")


@dataclass(frozen=True, slots=True)
class GqaVocabulary:
    """Words by where they stand, the commonest first, with how often they do."""

    values: Mapping[str, WordCounts]  # of an attribute: color → white, black, …
    names: Mapping[tuple[str, bool], WordCounts]  # of a relation's subjects (True) and objects (False)
    relations: WordCounts

    @classmethod
    def from_scenes(cls, scenes: Iterable[Scene]) -> Self:
        values: dict[str, Counter[str]] = {}
        names: dict[tuple[str, bool], Counter[str]] = {}
        relations: Counter[str] = Counter()
        for scene in scenes:
            called = [next(iter(o.values("name")), "") for o in scene.objects]
            for o in scene.objects:
                for attribute, value in o.attributes:
                    if attribute != "name" and is_adjective(value):
                        values.setdefault(get_attribute_family(scene.schema, attribute, value), Counter())[value] += 1
            for relation in scene.relations:
                for subject, target in relation.triples():
                    relations[relation.name] += 1
                    for end, one in ((True, called[subject]), (False, called[target])):
                        if is_thing(one):
                            names.setdefault((relation.name, end), Counter())[one] += 1
        return cls(
            {family: _keep_common(found) for family, found in sorted(values.items())},
            {place: _keep_common(found) for place, found in sorted(names.items())},
            _keep_common(relations),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the order of the words."""
        values = {family: dict(counts) for family, counts in self.values.items()}
        names = [[relation, end, dict(counts)] for (relation, end), counts in self.names.items()]
        return {"values": values, "names": names, "relations": dict(self.relations)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        names = {(relation, end): counts for relation, end, counts in data["names"]}
        return cls(data["values"], names, data["relations"])


def _keep_common(found: Counter[str]) -> WordCounts:
    kept = sorted((word for word in found if found[word] >= FEWEST), key=lambda word: (-found[word], word))
    return {word: found[word] for word in kept[:MOST]}
