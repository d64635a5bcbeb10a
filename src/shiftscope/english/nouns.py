"""Nouns: singular, plural or mass, persons and animals, places, pronouns, and which thing is part of which."""

import re
from functools import cache, lru_cache
from typing import Literal

from ..schemas.gqa import SCHEMA
from .inflection import is_plural
from .word_lists import word_groups, word_list, word_set, word_table

GrammaticalNumber = Literal["one", "several", "mass"]

MASS = word_set("nouns", "mass")
NO_LAST = word_set("nouns", "no last")
COUNTED = word_set("nouns", "counted")
ALWAYS_SEVERAL = word_set("nouns", "always several")
THE = word_set("nouns", "the")
THE_OR_A = word_set("nouns", "the or a")
THE_AFTER = word_set("nouns", "the after")
THE_IN = word_set("nouns", "the in")
NEVER_THE = word_set("nouns", "never the")
GAMES = word_set("nouns", "games")
INSTRUMENTS = word_set("nouns", "instruments")
BARE = word_set("nouns", "bare")
NO_NOUN = word_set("nouns", "no noun")
OWN_PARTS = word_set("nouns", "own parts")  # of every person or animal, so that to say so says nothing
FLESH = OWN_PARTS - word_set("nouns", "not flesh")  # of what is alive only: eyes, but not legs
INSIDE = word_set("nouns", "inside")
OUTSIDE = word_set("nouns", "outside")
SIDED = word_set("nouns", "sided")
COUNTS = word_set("quantities", "counts")
_SEVERAL = word_set("quantities", "several")
_COLLECTIVES = word_set("quantities", "collectives")
CAPITALS = {word.lower(): word for word in word_list("nouns", "capitals")}
_GARMENTS = word_table("nouns", "garments")
_WORN_IN_PAIRS = word_set("nouns", "worn in pairs")
_IN_PLACE = word_set("nouns", "in place")
_NAME = re.compile(r"[A-Za-z][A-Za-z'’.-]*(?: [A-Za-z'’-]+)*")
_ODD_START = word_set("nouns", "odd start")
_ODD_INSIDE = word_set("nouns", "odd inside")


@lru_cache(maxsize=8192)
def is_noun(name: str) -> bool:
    """Whether the name reads as what a thing is called."""
    lowered = name.lower()
    head = lowered.partition(" of ")[0]
    if lowered in NO_NOUN or head in NO_NOUN or len(name) < 2 or not _NAME.fullmatch(name):
        return False
    words = lowered.split()
    return (
        words[0] not in _ODD_START
        and not _ODD_INSIDE.intersection(words)
        and len(words) <= 4
        and words[-1] not in NO_LAST
        and len(set(words)) == len(words)
        and not (words[0] in ("left", "right") and words[-1] not in SIDED)
    )


def is_thing(name: str) -> bool:
    """Whether it is something to ask about: not the background."""
    return is_noun(name) and name not in _IN_PLACE


def is_scene_region(name: str, preposition: str) -> bool:
    """Whether it can be where something is, though it is no thing to ask about: in the background."""
    return name in _IN_PLACE and preposition.split()[-1] in ("in", "through")


@lru_cache(maxsize=8192)
def grammatical_number(name: str) -> GrammaticalNumber:
    """Whether the name is one thing's, several things', or a mass noun."""
    lowered = name.lower().partition(" of ")[0]
    start, _, last = lowered.rpartition(" ")
    if lowered in ALWAYS_SEVERAL or last in ALWAYS_SEVERAL:
        return "several"
    if start and last in COUNTED:
        return "one"
    if lowered in MASS or last in MASS:
        return "mass"
    return "several" if is_plural(lowered) else "one"


def is_plural_noun(name: str) -> bool:
    """Whether the name itself is plural: trees, people, pants."""
    return grammatical_number(name) == "several"


def is_mass_noun(name: str) -> bool:
    """Whether there is some of it: water, grass."""
    return grammatical_number(name) == "mass"


def takes_same_article(one: str, other: str) -> bool:
    """Whether the two read alike after an article: a man or a boy, men or boys; not a man or boys."""
    same = grammatical_number(one) == grammatical_number(other)
    return same and all((one in some) == (other in some) for some in (BARE, THE, THE_AFTER))


def is_countable(name: str) -> bool:
    """Whether "how many" goes with it, and one node of a graph is one of them."""
    return grammatical_number(name) == "one" and name not in THE


def is_food(name: str) -> bool:
    return is_kind(name, "food") or is_kind(name.rpartition(" ")[2], "food")


def is_worn(name: str) -> bool:
    return is_kind(name, "clothing") or is_kind(name, "accessory")


def is_worn_alone(name: str) -> bool:
    """Whether the plural name is of garments that one person wears one of: shirts, but not shoes or pants."""
    last = name.rpartition(" ")[2]
    return is_plural_noun(name) and last not in ALWAYS_SEVERAL and last not in _WORN_IN_PAIRS


@lru_cache(maxsize=8192)
def classify_garment(name: str) -> str:
    """Where it is worn: torso, legs, feet, head, eyes, neck; "" where that is not known."""
    known = (part for part, names in _GARMENTS.items() if name in names or name.rpartition(" ")[2] in names)
    return next(known, "")


@lru_cache(maxsize=16384)
def is_many(name: str) -> bool:
    """Whether one object of this name may be several things, or some of a mass."""
    words = name.lower().replace("-", " ").split()
    head = name.lower().partition(" of ")[0].rpartition(" ")[2]
    counted = not _SEVERAL.isdisjoint(words[:1]) or any(word.isdigit() for word in words)
    return counted or head in _COLLECTIVES or grammatical_number(name) != "one"


@lru_cache(maxsize=16384)
def is_quantity(attribute: str) -> bool:
    """Whether an attribute says that there are several: 4, two, group of."""
    lowered = attribute.lower().strip()
    words = lowered.replace("-", " ").split()
    if lowered in _SEVERAL:
        return True
    numeral = any(word.isdigit() and word != "1" for word in words)
    return numeral or (bool(words) and (words[0] in _SEVERAL or words[-1] == "of"))


def is_interior(name: str) -> bool:
    """Whether one is in it rather than at it: a kitchen."""
    return name in INSIDE or name.rpartition(" ")[2] in INSIDE or is_kind(name, "room")


def is_location(name: str) -> bool:
    """Whether it is a place where something is done."""
    return is_interior(name) or is_kind(name, "building") or name in OUTSIDE


def is_kind(name: str, kind: str) -> bool:
    """Whether the name is the kind's or of one of its members: a tower is a building."""
    return name in _kind_members(kind)


@lru_cache(maxsize=8192)
def capitalize_name(name: str) -> str:
    """The name as it is written: TV, American flag."""
    return " ".join(CAPITALS.get(word, word) for word in name.split(" "))


def is_person(name: str) -> bool:
    return is_kind(name, "person") or is_kind(name.rpartition(" ")[2], "person")


def is_animal(name: str) -> bool:
    return is_kind(name, "animal")


def is_alive(name: str) -> bool:
    return is_person(name) or is_animal(name)


def pronoun(name: str, subject: bool = False) -> str:
    """What stands for the thing where it was named before: it, them, him, her; or it, they, he, she."""
    if grammatical_number(name) == "several":
        return "they" if subject else "them"
    if is_kind(name, "woman") or name in ("girl", "daughter"):
        return "she" if subject else "her"
    if is_kind(name, "man") or name in ("boy", "son"):
        return "he" if subject else "him"
    if is_person(name):
        return "they" if subject else "them"
    return "it"


@cache
def _kind_members(word: str) -> frozenset[str]:
    """The nouns that name a kind of this, the word among them."""
    kinds = next(dict(a.kinds) for a in SCHEMA.attributes if a.name == "name")
    return frozenset((word, *kinds.get(word, ())))


_OTHER_WORDS = tuple(frozenset(one + other) for one, other in word_groups("nouns", "other words"))


@lru_cache(maxsize=16384)
def are_other_words(first: str, second: str) -> bool:
    """Whether two names are for one thing, or nearly so that nobody sets them against each other."""
    return any(first in words and second in words for words in _OTHER_WORDS)


# What belongs to what: a head to a woman, a roof to a house, a plate to the table it is on.
_OF_A_BODY = word_set("nouns", "of a body")
_PARTS_OF_KINDS = {kind: frozenset(parts) for kind, parts in word_table("nouns", "parts of kinds").items()}
_PARTS_OF_THINGS = {thing: frozenset(parts) for thing, parts in word_table("nouns", "parts of things").items()}
_ANYWHERE = word_set("nouns", "anywhere")


@lru_cache(maxsize=16384)
def are_part_and_whole(first: str, second: str) -> bool:
    """Whether one of the two is a part of the other, is worn by it or lies on it.

    A logo on a shirt is also on the man who wears it: no question asks "on a man or a shirt".
    """
    return _is_part_of(first, second) or _is_part_of(second, first)


def _is_part_of(part: str, whole: str) -> bool:
    if whole in _ANYWHERE or part.startswith(f"{whole} "):  # a tree branch
        return True
    if is_alive(whole):
        return part in OWN_PARTS or is_worn(part) or part in _OF_A_BODY
    parts = {part, part.rpartition(" ")[2]}
    wholes = {whole, whole.rpartition(" ")[2]}
    if any(parts & _PARTS_OF_THINGS.get(one, frozenset()) for one in wholes):
        return True
    return any(parts & listed_parts and is_kind(whole, kind) for kind, listed_parts in _PARTS_OF_KINDS.items())
