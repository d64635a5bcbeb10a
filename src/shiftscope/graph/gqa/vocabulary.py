"""Vocabulary: what a thing might have been instead: the values and names that a collection of graphs has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...scene import Scene
from .view import family_of, is_adjective, is_thing

MOST = 60  # words kept for each place, the commonest
FEWEST = 3  # times that a word is there; what is rarer is often a slip

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words by where they stand, the commonest first, with how often they do."""

    values: Mapping[str, Counts]  # of an attribute: color → white, black, …
    names: Mapping[tuple[str, bool], Counts]  # of a relation's subjects (True) and objects (False)
    relations: Counts

    @classmethod
    def of(cls, scenes: Iterable[Scene]) -> Vocabulary:
        values: dict[str, Counter[str]] = {}
        names: dict[tuple[str, bool], Counter[str]] = {}
        relations: Counter[str] = Counter()
        for scene in scenes:
            called = [next(iter(o.values("name")), "") for o in scene.objects]
            for o in scene.objects:
                for attribute, value in o.attributes:
                    if attribute != "name" and is_adjective(value):
                        values.setdefault(family_of(scene.schema, attribute, value), Counter())[value] += 1
            for relation in scene.relations:
                for subject, target in relation.triples():
                    relations[relation.name] += 1
                    for end, one in ((True, called[subject]), (False, called[target])):
                        if is_thing(one):
                            names.setdefault((relation.name, end), Counter())[one] += 1
        return cls(
            {family: _common(found) for family, found in sorted(values.items())},
            {place: _common(found) for place, found in sorted(names.items())},
            _common(relations),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the order of the words."""
        names = [[relation, end, dict(counts)] for (relation, end), counts in self.names.items()]
        return {
            "values": {family: dict(counts) for family, counts in self.values.items()},
            "names": names,
            "relations": dict(self.relations),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Vocabulary:
        names = {(relation, end): counts for relation, end, counts in data["names"]}
        return cls(data["values"], names, data["relations"])


def _common(found: Counter[str]) -> Counts:
    kept = sorted((word for word in found if found[word] >= FEWEST), key=lambda word: (-found[word], word))
    return {word: found[word] for word in kept[:MOST]}
