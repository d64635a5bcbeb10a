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
from ...english.nouns import (
    COUNTS,
    OWN_PARTS,
    THE,
    are_part_and_whole,
    grammatical_number,
    is_alive,
    is_kind,
    is_noun,
    is_person,
    is_plural_noun,
    is_scene_region,
    is_worn,
)
from ...english.relations import parse_relation
from ...english.word_lists import word_set, word_table
from ...lang.execution_world import ExecutionWorld
from ...lang.ops.attributes import NOT_IN_COMMON
from ...scene import FREE, Scene, mask_members
from ...schema import Schema
from .commonplace import SIDEWAYS, can_be, is_about_body, is_always_so
from .wording import DescriptionLink, DescriptionWord, ObjectDescription, can_be_about

MENTION_PROBABILITY = 2 / 3  # how likely a description mentions an attribute, and a relation
INNER_MENTION_PROBABILITY = 1 / 3  # and a relation of what another is described by
DEEPEST = 2  # relations on a path
_UNSAYABLE = frozenset("|,()_")  # marks that GQA's notation is made of
MOST = 60  # words kept for each place, the commonest
FEWEST = 3  # times that a word is there; what is rarer is often a slip
FEWEST_FITTING = 2  # and that it goes with a kind of thing
LOOSE_KINDS = word_set("gqa", "loose kinds")
_ALTERNATIVES = tuple(map(frozenset, word_table("gqa", "alternatives").values()))
_WORN_ALIKE = tuple(map(frozenset, word_table("gqa", "worn alike").values()))
_MISSPELT = word_set("gqa", "misspelt")
_MISREAD = word_set("gqa", "misread")
WordCounts = Mapping[str, int]


class ObjectRelation(NamedTuple):
    """A relation of a thing; `subject` says that the thing is its subject."""

    relation: str
    other: int
    subject: bool


class SceneView:
    """A graph, and the names that other graphs of the same picture have."""

    def __init__(self, scene: Scene, elsewhere: Iterable[str] = (), words: "GqaVocabulary | None" = None) -> None:
        """With the `words` of many graphs, only what is usual among them is a tie."""
        self.scene, self.elsewhere = scene, tuple(elsewhere)
        self.is_region = bool(scene.note("caption"))  # what it does not have may well be in the picture
        self.world = ExecutionWorld((scene,))
        self.names = [next(iter(o.values("name")), "") for o in scene.objects]
        self.things = [i for i, name in enumerate(self.names) if is_thing(name)]
        self.words: list[list[DescriptionWord]] = []
        for o, name in zip(scene.objects, self.names, strict=True):
            pairs = [(a, v) for a, v in o.attributes if a != "name" and is_adjective(v) and v not in name.split()]
            found = (DescriptionWord(get_attribute_family(scene.schema, a, v), v) for a, v in pairs)
            # The color of a person is that of the skin, the hair or the clothes: nobody knows which.
            fit = (word for word in found if word.attribute != "color" or not is_person(name))
            self.words.append(list(dict.fromkeys(fit)))
        self.ties: list[list[ObjectRelation]] = [[] for _ in self.names]
        for relation in scene.relations:
            if parse_relation(relation.name) is not None and _is_plain(relation.name):
                for subject, target in relation.triples():
                    usual = words is None or words.is_usual(relation.name, self.names[target])
                    if subject != target and usual and self._can_be(subject, relation.name, target):
                        self.ties[subject].append(ObjectRelation(relation.name, target, True))
                        self.ties[target].append(ObjectRelation(relation.name, subject, False))

    def _can_be(self, subject: int, relation: str, target: int) -> bool:
        known = subject in self.things and target in self.things
        return known and can_be(self.names[subject], relation, self.names[target])

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
        that need not be `alone` may fit others too. With no `depth`, nothing follows the noun.
        """
        words = [w for w in self.words[thing] if w.attribute not in silent and _goes_before(w)]
        ties = [t for t in self.ties[thing] if t.other not in away and t.other != thing]
        ties = ties if depth and self.names[thing] not in THE else []
        ties = [t for t in ties if self._is_telling(thing, t) and (depth == DEEPEST or _can_follow(t))]
        word = words[draw.integers(len(words))] if words else None
        tie = ties[draw.integers(len(ties))] if ties else None
        link = None
        if tie is not None:
            further = depth - 1 if tie.subject else 0  # not "the mat that the cat that the man feeds is on"
            other = self.describe(draw, tie.other, away=away | {thing}, depth=further)
            link = None if other is None else DescriptionLink(tie.relation, other, tie.subject)
        say_word = draw.random() < MENTION_PROBABILITY
        say_link = draw.random() < (MENTION_PROBABILITY if depth == DEEPEST else INNER_MENTION_PROBABILITY)
        for with_word, with_link in ((say_word, say_link), (True, say_link), (say_word, True), (True, True)):
            said_link = link if with_link else None
            description = (word,) if word and with_word else ()
            made = ObjectDescription(self.names[thing], description, said_link)
            if not alone or self.find_matches(made) == 1 << thing:
                return made
        return None

    def _is_telling(self, thing: int, tie: ObjectRelation) -> bool:
        """Whether one would tell a thing by it: not the shirt that has the sleeve, nor what a box is filled with."""
        predicate = parse_relation(tie.relation)
        one, other = (thing, tie.other) if tie.subject else (tie.other, thing)
        ends = self.names[one], self.names[other]
        if predicate is None or is_always_so(*ends) or is_about_body(*ends, predicate.rest):
            return False
        if is_having(tie.relation):
            return tie.subject and is_alive(ends[0]) and not are_part_and_whole(*ends)
        if tie.subject:
            return True
        # Not the winter jacket with the man in it.
        worn = any(is_worn(end.rpartition(" ")[2]) for end in ends) and any(map(is_person, ends))
        # That the man is wearing, that it surrounds; not a frisbee that he is playing.
        acts = predicate.verb or is_alive(self.names[tie.other])
        does = acts and predicate.manner and " " not in predicate.write_bare() and predicate.rest != "playing"
        # The mat with the cat on it; not sand with a bear on it, nor the chairs with the table beside them.
        name = self.names[thing]
        about = predicate.rest.endswith(("on", "in")) and grammatical_number(name) != "mass" and name not in THE
        about = about and can_be_about(tie.relation)
        return (about and not worn) or (bool(does) and not is_person(name))  # no child that the father is helping


def _can_follow(tie: ObjectRelation) -> bool:
    """Whether it may tell what another is told by: no "cup to the left of the lamp that is to the right of the bed"."""
    return tie.subject and tie.relation not in SIDEWAYS


def _goes_before(word: DescriptionWord) -> bool:
    """Whether it stands before the noun: black, but neither asleep nor at the top of the picture."""
    phrase = adjective(word.value)
    return phrase is not None and phrase.before and word.attribute not in NOT_IN_COMMON


def is_having(relation: str) -> bool:
    predicate = parse_relation(relation)
    return predicate is not None and predicate.verb == "have"


def are_alternatives(schema: Schema, one: str, other: str, where: bool = True) -> bool:
    """Whether a thing may be in the one place in place of the other: on a chair or a table, not on a chair or a man."""
    if is_worn(one):
        return any(one in some and other in some for some in _WORN_ALIKE)
    if where and any(one in some and other in some for some in _ALTERNATIVES):
        return True
    kinds = _index_kinds(schema)
    if any(is_kind(one, kind) != is_kind(other, kind) for kind in ("aircraft", "watercraft")):
        return False
    known = [kinds.get(name) or kinds.get(name.rpartition(" ")[2]) for name in (one, other)]
    return known[0] is not None and known[1] is not None and known[0][1] == known[1][1]


def find_kind(schema: Schema, name: str, wide: bool) -> str:
    """What sort of thing it is, in the singular: ponies → animal, or the narrowest, pony.

    A name that the schema does not know goes by its last word, else by itself.
    """
    kinds = _index_kinds(schema)
    found = kinds.get(name) or kinds.get(name.rpartition(" ")[2])
    return name if found is None else found[wide]


@lru_cache(maxsize=8)
def _index_kinds(schema: Schema) -> Mapping[str, tuple[str, str]]:
    """The narrowest and the widest kind of every noun that the schema knows."""
    kinds = next((dict(a.kinds) for a in schema.attributes if a.name == "name"), {})
    found: dict[str, tuple[str, str]] = {}
    apt = [kind for kind in kinds if kind not in LOOSE_KINDS and not is_plural_noun(kind)]
    for kind in sorted(apt, key=lambda kind: (len(kinds[kind]), kind)):
        for name in (kind, *kinds[kind]):
            found[name] = (found.get(name, (kind,))[0], kind)
    return found


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
    known = bool(first) and first not in COUNTS and value not in _MISREAD
    return known and adjective(value) is not None and _is_plain(value)


@lru_cache(maxsize=16_384)
def is_thing(name: str) -> bool:
    """Whether the name reads as that of a thing one can point at, and GQA's notation can hold it."""
    spelled = name not in _MISSPELT and name.rpartition(" ")[2] not in _MISSPELT
    return is_noun(name) and spelled and not is_scene_region(name, "in") and _is_plain(name)


def can_exist(name: str) -> bool:
    """Whether one would ask if there is such a thing: neither the sky nor an ear."""
    return is_thing(name) and name not in THE and name.rpartition(" ")[2] not in OWN_PARTS


def _is_plain(word: str) -> bool:
    return not _UNSAYABLE.intersection(word) and word not in ("this", "scene")


@dataclass(frozen=True, slots=True)
class GqaVocabulary:
    """Words by where they stand, the commonest first, with how often they do."""

    values: Mapping[str, WordCounts]  # of an attribute: color → white, black, …
    names: Mapping[tuple[str, bool], WordCounts]  # of a relation's subjects (True) and objects (False)
    relations: WordCounts
    # What goes together, so that a wrong answer is no silly one: a bus is not asked whether it is ripe or has ears.
    fitting_values: Mapping[tuple[str, str], WordCounts]  # of an attribute, for a narrow kind of thing
    fitting_names: Mapping[tuple[str, bool, str], WordCounts]  # of `names`, beside a wide kind of thing
    together: Mapping[tuple[str], WordCounts]  # with a name, in one graph

    def is_usual(self, relation: str, target: str) -> bool:
        """Whether things are so related to others; not told of few graphs. What is rare is often a slip."""
        if len(self.relations) < MOST:
            return True
        targets = self.names.get((relation, False), {})
        return relation in self.relations and (target in targets or len(targets) == MOST)

    @classmethod
    def from_scenes(cls, scenes: Iterable[Scene]) -> Self:
        values: dict[str, Counter[str]] = {}
        names: dict[tuple[str, bool], Counter[str]] = {}
        relations: Counter[str] = Counter()
        suited: dict[tuple[str, str], Counter[str]] = {}
        beside: dict[tuple[str, bool, str], Counter[str]] = {}
        together: dict[tuple[str], Counter[str]] = {}
        for scene in scenes:
            called = [next(iter(o.values("name")), "") for o in scene.objects]
            kinds = [find_kind(scene.schema, name, wide=True) for name in called]
            for o, name in zip(scene.objects, called, strict=True):
                kind = find_kind(scene.schema, name, wide=False)
                for attribute, value in o.attributes:
                    if attribute != "name" and is_adjective(value):
                        family = get_attribute_family(scene.schema, attribute, value)
                        values.setdefault(family, Counter())[value] += 1
                        suited.setdefault((family, kind), Counter())[value] += 1
            things = sorted({name for name in called if can_exist(name)})
            for name in things:
                together.setdefault((name,), Counter()).update(other for other in things if other != name)
            for relation in scene.relations:
                for subject, target in relation.triples():
                    relations[relation.name] += 1
                    for end, one, other in ((True, subject, target), (False, target, subject)):
                        if is_thing(called[one]):
                            names.setdefault((relation.name, end), Counter())[called[one]] += 1
                            beside.setdefault((relation.name, end, kinds[other]), Counter())[called[one]] += 1
        return cls(
            {family: _keep_common(found) for family, found in sorted(values.items())},
            {place: _keep_common(found) for place, found in sorted(names.items())},
            _keep_common(relations),
            {place: _keep_common(found, FEWEST_FITTING) for place, found in sorted(suited.items())},
            {place: _keep_common(found, FEWEST_FITTING) for place, found in sorted(beside.items())},
            {place: _keep_common(found) for place, found in sorted(together.items())},
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the order of the words."""
        values = {family: dict(counts) for family, counts in self.values.items()}
        names = [[*place, dict(counts)] for place, counts in self.names.items()]
        fitting = [[[*place, dict(counts)] for place, counts in table.items()] for table in self._fitting]
        return {"values": values, "names": names, "relations": dict(self.relations), "fitting": fitting}

    @property
    def _fitting(self) -> tuple[Mapping[Any, WordCounts], ...]:
        return self.fitting_values, self.fitting_names, self.together

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        names, *fitting = (
            {tuple(place): counts for *place, counts in table} for table in (data["names"], *data["fitting"])
        )
        return cls(data["values"], names, data["relations"], *fitting)


def _keep_common(found: Counter[str], fewest: int = FEWEST) -> WordCounts:
    kept = sorted((word for word in found if found[word] >= fewest), key=lambda word: (-found[word], word))
    return {word: found[word] for word in kept[:MOST]}
