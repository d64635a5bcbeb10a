"""What of a subgraph can be said well: each word by itself, and words that go together."""

from __future__ import annotations

from ..subgraph import Link, Modifier, Thing
from ._adjectives import described
from ._nouns import (
    ON_FLESH,
    SIDED,
    is_alive,
    is_flesh,
    is_noun,
    is_own_part,
    is_person,
    is_place,
    is_worn,
    number,
)
from ._relations import AFTER_VERBS, Predicate, predicate

BETWEEN = ("between", "among", "amongst", "in between")  # of several things
BESIDE = ("behind", "in front of", "near", "next to", "beside", "by", "above", "below", "under", "over")
HARDLY_HAD = ("number", "numbers", "name", "letter", "letters", "word", "words", "shadow", "reflection")
ON = ("on", "on top of", "above", "over", "under", "around")
LIKENESSES = (
    "bear",
    "doll",
    "statue",
    "sculpture",
    "snowman",
    "mannequin",
    "figurine",
    "toy",
    "puppet",
    "figure",
)


def fits(thing: Thing, above: tuple[str, ...] = ()) -> bool:
    """Whether the thing's attribute and relations can be said; `above` are the names on the way to it."""
    if thing.attribute and not _attribute_fits(thing):
        return False
    names = [link.thing.name for link in thing.relations]
    if len(set(names)) < len(names):  # on a chair and next to a chair: one of them or two?
        return False
    if sum(goes_on(link.thing) for link in thing.relations) > 1:  # no telling what the last one is about
        return False
    return all(_link_fits(thing, link, (*above, thing.name)) for link in thing.relations)


def goes_on(thing: Thing) -> bool:
    """Whether there is more to say after the thing's noun."""
    said = described(thing.attribute) if thing.attribute else None
    return bool(thing.relations) or (said is not None and not said.before)


def _attribute_fits(thing: Thing) -> bool:
    said = described(thing.attribute)
    if said is None or (thing.attribute in ("left", "right") and thing.name not in SIDED):
        return False
    return not set(thing.attribute.split()) & set(thing.name.split())


def _link_fits(thing: Thing, link: Link, above: tuple[str, ...]) -> bool:
    said, target = predicate(link.relation), link.thing
    if said is None or target.name in above[:-1] or not _name_fits(target, said):
        return False
    if thing.attribute and said.rest.startswith(thing.attribute):  # a walking dog that is walking on a road
        return False
    if target.name == thing.name and not _another_fits(thing, target, said):
        return False
    if said.rest in BETWEEN and number(target.name) != "several":
        return False
    if said.rest == "made of" and number(target.name) == "one":
        return False
    if not _sensible(thing, said, target):
        return False
    if link.modifiers and (goes_on(target) or not all(map(_modifier_fits, link.modifiers))):
        return False
    return fits(target, above)


def _name_fits(target: Thing, said: Predicate) -> bool:
    return is_noun(target.name) or (is_place(target.name, said.rest) and not target.relations)


def _another_fits(thing: Thing, target: Thing, said: Predicate) -> bool:
    """Whether one of them can be so related to another: next to another man, not wearing another man."""
    worn = said.verb == "have" or said.rest.startswith("wearing")
    return not worn and number(thing.name) == "one" and not target.relations and target.attribute == ""


def _sensible(thing: Thing, said: Predicate, target: Thing) -> bool:
    """Annotators' slips, and what is true of everyone."""
    alive = is_alive(thing.name)
    if said.rest.startswith("wearing"):
        return not is_alive(target.name)
    if said.verb == "have" and target.name in HARDLY_HAD and not target.attribute:  # as all of them do
        return False
    if alive and said.verb == "have":
        return bool(target.attribute) or not is_own_part(target.name)
    if is_own_part(target.name) and said.is_place and _is_own_place(thing):
        return False
    if is_own_part(thing.name) and is_worn(target.name) and said.rest in BESIDE:  # a face behind a shirt
        return False
    if not alive and is_flesh(target.name) and not _is_likeness(thing.name):
        if said.verb == "have":  # a train that has a head
            return False
        if said.rest in ON and not _goes_on_flesh(thing.name):  # an umbrella on a head
            return False
    if said.rest == "in" and number(thing.name) == "mass" and number(target.name) == "several":
        return False  # the grass that is in fields
    if said.verb == "have" and is_person(target.name):
        return is_person(thing.name)
    return not (alive and said.rest in ON and is_worn(target.name))


def _is_likeness(name: str) -> bool:
    return name.rpartition(" ")[2] in LIKENESSES


def _goes_on_flesh(name: str) -> bool:
    """Whether it can be on a head or a finger: what is worn, grows there or was put on the skin."""
    if name.startswith("umbrella"):  # held, though an accessory
        return False
    return is_worn(name) or is_own_part(name) or number(name) == "mass" or name.rpartition(" ")[2] in ON_FLESH


def _is_own_place(thing: Thing) -> bool:
    """Whether a part of a body is no place for it: a man on a stomach, unlike a bird on a head."""
    return is_person(thing.name) or is_own_part(thing.name)


def _modifier_fits(modifier: Modifier) -> bool:
    thing = modifier.thing
    named = modifier.name in AFTER_VERBS or modifier.name in ("using", "by")
    return named and is_noun(thing.name) and not thing.relations and fits(thing)
