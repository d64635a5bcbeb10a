"""Commonplaces: what is always so, and what annotators wrote that cannot be, as far as words alone tell."""

from functools import lru_cache

from ...english.inflection import list_singulars
from ...english.nouns import (
    ALWAYS_SEVERAL,
    FLESH,
    GAMES,
    OWN_PARTS,
    THE,
    are_part_and_whole,
    grammatical_number,
    is_alive,
    is_kind,
    is_many,
    is_person,
    is_plural_noun,
    is_worn,
)
from ...english.relations import can_take, parse_relation
from ...english.word_lists import word_set, word_table

_EVERY_ONE_HAS = {kind: frozenset(parts) for kind, parts in word_table("nouns", "every one has").items()}
_ALWAYS_THERE = {where: frozenset(things) for where, things in word_table("gqa", "always there").items()}
_NOT_IN = word_set("nouns", "not in") | word_set("gqa", "not in")
_OF_THE_LIVING = word_set("relations", "of the living")
SIDEWAYS = ("to the left of", "to the right of")
FIXED = word_set("gqa", "fixed")
_ONE_EACH = word_set("gqa", "one each")
_ON_A_BODY = word_set("gqa", "on a body")
_NOT_SAT_ON = word_set("gqa", "not sat on")
_NOT_DRIVEN = word_set("gqa", "not driven")
_NOT_ON = word_set("gqa", "not on")
_OF_SEVERAL = word_set("gqa", "of several")


def is_bodily(whole: str, part: str) -> bool:
    return part.rpartition(" ")[2] in OWN_PARTS and is_alive(whole)


@lru_cache(maxsize=65_536)
def has_always(whole: str, part: str) -> bool:
    """Whether such a thing has such a part even where the graph does not say so: a boy has eyes, a plane windows."""
    return is_bodily(whole, part) if is_alive(whole) else are_part_and_whole(whole, part)


@lru_cache(maxsize=65_536)
def is_always_so(one: str, other: str) -> bool:
    """Whether the two go together wherever one is, so nobody asks or tells: leaves and a tree."""
    return _belongs(one, other) or _belongs(other, one)


def _belongs(part: str, whole: str) -> bool:
    if is_bodily(whole, part) or part.startswith(f"{whole} "):  # a tree branch
        return True
    parts, wholes = {part, part.rpartition(" ")[2]}, {whole, whole.rpartition(" ")[2]}
    if any(parts & _ALWAYS_THERE.get(one, frozenset()) for one in wholes):
        return True
    return any(parts & listed and any(is_kind(one, kind) for one in wholes) for kind, listed in _EVERY_ONE_HAS.items())


def is_about_body(subject: str, target: str, place: str) -> bool:
    """Whether the one is worn by the other, said as where it is: a shirt on a man, a man in a shirt."""
    return place in _ON_A_BODY and ((is_person(target) and not is_person(subject)) or is_worn(target))


def is_fixed(name: str) -> bool:
    spread = grammatical_number(name) == "mass" or is_kind(name, "place") or is_kind(name, "plant")
    return spread or name in FIXED or name in THE


@lru_cache(maxsize=65_536)
def can_be(subject: str, relation: str, target: str) -> bool:
    """Whether one thing may stand so to another: no sidewalk walks on people, nor do men share one chair."""
    predicate = parse_relation(relation)
    if predicate is None or not can_take(predicate, target):
        return False
    if predicate.verb == "have" and not is_alive(subject) and target.rpartition(" ")[2] in FLESH:
        return False  # a shirt that has a shoulder
    if predicate.verb != "have" and any(end.rpartition(" ")[2] in OWN_PARTS for end in (subject, target)):
        return False  # whose hand is it that holds a cup?
    if predicate.rest in SIDEWAYS and (is_fixed(subject) or is_fixed(target)):
        return False
    built = is_kind(subject, "building") or is_kind(subject, "place")
    if built and predicate.rest in ("on", "in") and (is_kind(target, "vehicle") or target == "water"):
        return False  # a city on the water
    verb = predicate.rest.partition(" ")[0]
    if verb in _OF_THE_LIVING and not is_alive(subject):
        return False
    if predicate.rest == "playing" and target not in GAMES and not is_kind(target, "instrument"):
        return False
    head = target.rpartition(" ")[2]
    if predicate.rest == "driving" and (not is_kind(head, "vehicle") or head in _NOT_DRIVEN):
        return False
    if predicate.rest.rpartition(" ")[2] == "in" and target in _NOT_IN:
        return False
    if predicate.rest in ("using", "holding") and is_worn(target) and target.rpartition(" ")[2] in ALWAYS_SEVERAL:
        return False
    if predicate.rest == "sitting on" and is_person(subject) and head in _NOT_SAT_ON:
        return False
    if predicate.rest.rpartition(" ")[2] == "on" and not is_person(subject) and head in _NOT_ON:
        return False
    if is_plural_noun(target):  # nor does one man hold umbrellas
        return is_many(subject) or not is_person(subject) or _ONE_EACH.isdisjoint(list_singulars(head))
    if grammatical_number(target) == "mass":
        return predicate.rest not in _OF_SEVERAL
    shared = head in _ONE_EACH or (is_worn(target) and predicate.rest in ("wearing", "in"))
    return predicate.rest not in _OF_SEVERAL and not (shared and is_person(subject) and is_many(subject))


def is_doing(relation: str) -> bool:
    """Whether it is something that few in a picture do: riding, but neither wearing nor near."""
    predicate = parse_relation(relation)
    return predicate is not None and predicate.manner == 1 and predicate.rest != "wearing"
