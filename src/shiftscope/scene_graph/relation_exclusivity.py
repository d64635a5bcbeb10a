"""Mutual exclusivity of relations: a verb, a place, and what the thing is like that they lead to.

What is on a box is not in it, but on the grass is in the grass; who is on a surfboard does not carry it. A specific
relation excludes a vague one and not the other way round: "near" is not what one says of who rides, so it may replace
"riding", but who is near may well ride (COVR, appendix A). The verdict depends on the target's class only.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..english.inflection import gerund, past_participle
from ..english.nouns import OWN_PARTS
from ..english.relations import find_base_verb
from ..english.word_lists import word_groups, word_pairs, word_set, word_table
from .subgraph import NodeKind

OTHER, PART, RIDE, SURFACE = "other", "part", "ride", "surface"  # classes of targets
NEAR, REAR = "near", "rear"
HAVE = "have"
PLACES = {name: place for place, names in word_table("exclusivity", "places").items() for name in names}
VERB_PLACES = word_pairs("exclusivity", "places of verbs")
EXCLUSIVE_PLACES = {frozenset(one + other) for one, other in word_groups("exclusivity", "exclusive places")}
BY_TARGET = {
    frozenset(both.split(" | ")): frozenset(targets)
    for both, targets in word_table("exclusivity", "exclusive places by target").items()
}
TARGETS = {name: target for target, names in word_table("exclusivity", "targets").items() for name in names}
TOUCHING = word_set("exclusivity", "touching")
APART = word_set("exclusivity", "apart")
LOCATED = word_set("exclusivity", "located") | {""}
POSTURES = word_set("exclusivity", "postures") | {""}
POSSESSING = word_set("exclusivity", "possessing")
AT_WORK = word_set("exclusivity", "at work")
ACTS = word_set("exclusivity", "acts")
ABOVE = word_set("exclusivity", "above when over")
LEANING = word_set("exclusivity", "leaning")
FROM_AFAR = word_set("exclusivity", "from afar")
NOT_STANDING_BY = word_set("exclusivity", "exclusive with standing by")
SEEMING = word_set("exclusivity", "seeming")
CLOSE_ACTS = (ACTS | POSSESSING) - {HAVE}
BESIDE = APART - {REAR}
PASSIVE = LOCATED | AT_WORK | SEEMING  # of the verbs, those whose participle tells where a thing is
_ON = ("on", "on top")

WordGroups = dict[int, int]  # line of a table → the group there that the word is in


class RelationParts(NamedTuple):
    """`sitting on top of`: sit, on top."""

    verb: str
    place: str

    @property
    def doing(self) -> str:
        """The verb, unless it only says how one is at a place where one may do much: standing in front of."""
        return "" if self.verb in POSTURES and self.place not in TOUCHING else self.verb

    @property
    def is_near(self) -> bool:
        return self.place == NEAR and self.verb not in AT_WORK  # but "wrapped around"

    @property
    def is_contact(self) -> bool:
        return self.place in TOUCHING or (self.verb in AT_WORK and self.place != NEAR and self.place not in APART)


class RelationSource:
    """Everyday relations and modifiers."""

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]:
        if kind == "relation":
            like = classify_target(target)
            return [score_relations(first, second, like) for second in seconds]
        if kind == "modifier":
            apart = _MODIFIERS.get(first)
            return [1.0 if are_apart(apart, _MODIFIERS.get(second)) else None for second in seconds]
        return [None] * len(seconds)


@lru_cache(maxsize=65_536)
def classify_target(name: str) -> str:
    """What a thing is like to be in, on or with: container, enclosure, ground, surface, ride, part, other."""
    last = name.rpartition(" ")[2]
    if name in OWN_PARTS or last in OWN_PARTS:
        return PART
    return TARGETS.get(name) or TARGETS.get(last) or OTHER


@lru_cache(maxsize=262_144)
def score_relations(name: str, other_name: str, like: str = OTHER) -> float | None:
    """m of two relations to such a target, as far as their verbs and places tell."""
    one, other = split_relation(name), split_relation(other_name)
    if one == other:
        return 0.0 if any(one) else None
    if _exclude_by_verb(one, other, like):
        return 1.0
    if other.verb in POSSESSING and (one.verb in ACTS or (other.verb == HAVE != one.verb != "" and like == PART)):
        return 1.0  # more would have been said
    if one.verb == HAVE and (like == PART or other.verb not in POSTURES):  # one has it all the same
        return None
    places = frozenset((one.place, other.place))
    if one.verb in LOCATED and other.verb in LOCATED:
        if places in EXCLUSIVE_PLACES:
            return 1.0
        if places in BY_TARGET:
            return float(like in BY_TARGET[places])
    beside = one.is_near or one.place in BESIDE
    if beside and one.verb and one.verb in POSTURES and _find_act(other, like) in NOT_STANDING_BY:
        return 1.0
    if one.is_near:
        return 0.0
    if other.is_near or (other.place in APART and one.verb in CLOSE_ACTS):
        return float(one.is_contact)
    if other.verb and other.verb in POSTURES and one.verb in ACTS and one.verb not in NOT_STANDING_BY:
        return 1.0  # as above
    return None if other.verb == HAVE or go_together(one.doing, other.doing) else 1.0


def _exclude_by_verb(one: RelationParts, other: RelationParts, like: str) -> bool:
    """Whether the verbs alone tell, or a verb and where the other puts its thing."""
    if are_apart(_ACTIONS.get(one.verb), _ACTIONS.get(other.verb)):
        return True
    if like == RIDE:
        if are_apart(_ACTIONS.get(_find_act(one, like)), _ACTIONS.get(_find_act(other, like))):
            return True
    elif are_apart(_GROUND_ACTIONS.get(one.verb), _GROUND_ACTIONS.get(other.verb)):
        return True
    if (one.verb in SEEMING) != (other.verb in SEEMING) and not one.is_near and not _are_listed(one.verb, other.verb):
        return True
    if one.verb and other.verb:
        return False
    verb, place = (one.verb, other.place) if one.verb else (other.verb, one.place)
    return (verb in LEANING and place in _ON and like != SURFACE) or (verb in FROM_AFAR and place in TOUCHING)


def go_together(one: str, other: str) -> bool:
    """Whether what does the one may do the other besides; also where a verb is unknown."""
    return one == other or not (one in _TOGETHER and other in _TOGETHER) or other in _TOGETHER[one]


def _are_listed(one: str, other: str) -> bool:
    return other in _TOGETHER.get(one, ())


@lru_cache(maxsize=65_536)
def find_acts(attribute: str) -> WordGroups | None:
    """The groups of an attribute that is a verb: parked excludes driving."""
    return _ACTIONS.get(find_base_verb(attribute))


def _find_act(parts: RelationParts, like: str) -> str:
    """Its verb; who is on what one rides, rides."""
    return RIDE if like == RIDE and parts.place in _ON and parts.verb in POSTURES else parts.verb


@lru_cache(maxsize=65_536)
def split_relation(relation: str) -> RelationParts:
    name = relation.removeprefix("pv:").lower().replace("doing a trick", "tricking")
    if name == "with":
        return RelationParts(HAVE, "")
    if name in PLACES:  # before verbs: close to
        return RelationParts("", PLACES[name])
    first, _, rest = name.partition(" ")
    verb = find_base_verb(first) or _FORMS.get(first, "")
    if (
        first == past_participle(verb) and verb not in LOCATED | AT_WORK | SEEMING
    ):  # what is made of wood does not make it
        verb = ""
    rest = "" if rest == "over" and verb not in ABOVE else rest  # a towel draped over a chair is on it
    return RelationParts(verb, PLACES.get(rest, "") if rest else VERB_PLACES.get(verb, ""))


def _index_company() -> dict[str, set[str]]:
    """The verbs that may be true besides each verb."""
    found: dict[str, set[str]] = {}
    lines = [set(words) for (words,) in word_groups("exclusivity", "verbs that go together")]
    pairs = word_table("exclusivity", "what goes with a verb").items()
    for words in (*lines, *({verb, other} for verb, others in pairs for other in others)):
        for word in words:
            found.setdefault(word, set()).update(words)
    return found


def index_groups(section: str) -> dict[str, WordGroups]:
    found: dict[str, WordGroups] = {}
    for line, groups in enumerate(word_groups("exclusivity", section)):
        for group, words in enumerate(groups):
            for word in words:
                found.setdefault(word, {})[line] = group
    return found


def are_apart(one: WordGroups | None, other: WordGroups | None) -> bool:
    """Whether two words stand in different groups of some line."""
    if not one or not other:
        return False
    return any(other.get(line, group) != group for line, group in one.items())


_ACTIONS = index_groups("exclusive verbs")
_GROUND_ACTIONS = index_groups("exclusive verbs unless on a ride")
_MODIFIERS = index_groups("exclusive modifiers")
_TOGETHER = _index_company()
_FORMS = {form(verb): verb for verb in sorted(_TOGETHER) for form in (str, gerund, past_participle)}
