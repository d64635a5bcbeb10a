"""Inquire: questions in English about what a subgraph describes, "Is the woman carrying a bottle or a purse".

Capitals are here, question marks are the template's. `plural` asks about all of them; `said` are other words
for the subject, with the number of `plural` or of its own name.
"""

from __future__ import annotations

from ..subgraph import Link, Subgraph, Thing
from ._fits import goes_on
from ._nouns import is_alive, number
from ._nouns import pronoun as stands_for
from ._phrases import (
    after_noun,
    be,
    being,
    known,
    modifiers_of,
    noun,
    object_of,
    predicate_of,
    predicates,
    target,
)
from ._relations import Predicate, predicate
from .say import many, several_of, the

POSTURES = frozenset({"", "sitting", "standing", "lying", "resting"})  # which a thing has none of
INTO = frozenset({"in", "on", "on top of", "inside"})  # of water or grass, hard to tell apart


def is_it(subject: Subgraph, attribute: str, plural: bool = False, said: str = "") -> str:
    """Whether it is so: "Is the sink that is below a towel white", "Are the trees green"."""
    verb = be(plural or several_of(subject.name)).capitalize()
    return f"{verb} {said or the(subject, plural)} {being(attribute)}"


def how_many(subject: Subgraph) -> str:
    """How many there are: "How many boys are wearing a hat", "How many boys are there"."""
    links, after = subject.relations, after_noun(subject)
    if len(links) + bool(after) != 1:
        return f"How many {many(subject)} are there"
    return f"How many {noun(subject, True)} {predicates(subject, True)}"


def what_of(subject: Subgraph, relation: str, plural: bool = False, said: str = "") -> str:
    """What it is related to: "What is the woman that is wearing glasses holding", "What does it have"."""
    verb = known(relation)
    helper = _helper(verb, plural or several_of(subject.name))
    return f"What {helper} {said or the(subject, plural)} {verb.bare()}"


def does_it(subject: Subgraph, link: Link, plural: bool = False, said: str = "") -> str:
    """Whether it is so related: "Is the woman carrying a bottle", "Do all of the dogs have a tail"."""
    verb = predicate_of(link)
    start = _asked(verb, subject, plural, said)
    return f"{start} {verb.bare()} {target(link, verb, subject.name)}"


def either_object(subject: Subgraph, link: Link, other: str, plural: bool = False, said: str = "") -> str:
    """Which of two things: "Is the woman that is wearing a dress carrying a bottle or a purse"."""
    verb = predicate_of(link)
    start = _asked(verb, subject, plural, said)
    return f"{start} {verb.bare()} {two_objects(subject, link, other)}"


def two_objects(subject: Subgraph, link: Link, other: str) -> str:
    """The two things to choose from: "a bottle or a purse"."""
    verb = predicate_of(link)
    first, second = object_of(link.thing, verb, subject.name), object_of(Thing(other), verb, subject.name)
    return f"{first} or {second}{modifiers_of(link)}"


def either_modifier(subject: Subgraph, link: Link, other: str, plural: bool = False, said: str = "") -> str:
    """With which of two things: "Is the woman that is lighting a cigar lighting it using a match or a lamp".

    The link has the one modifier that is asked about.
    """
    verb, (modifier,) = predicate_of(link), link.modifiers
    led = Predicate("", modifier.name)
    first, second = (object_of(thing, led, subject.name) for thing in (modifier.thing, Thing(other)))
    start, it = _asked(verb, subject, plural, said), stands_for(link.thing.name)
    return f"{start} {verb.bare()} {it} {modifier.name} {first} or {second}"


def either_relation(subject: Subgraph, link: Link, other: str, plural: bool = False, said: str = "") -> str:
    """Which of two relations: "Is the sitting man holding a hat or wearing it"; see `comparable`."""
    first, second = _as_being(predicate_of(link)), _as_being(known(other))
    thing, it = object_of(link.thing, first, subject.name), stands_for(link.thing.name)
    start = _asked(first, subject, plural, said)
    return f"{start} {first.rest} {thing} or {second.rest} {it}{modifiers_of(link)}"


def comparable(link: Link, other: str, subject: str = "") -> bool:
    """Whether `either_relation` can set the two side by side: not "have" beside "wearing".

    Nor can it where more is said of the object: "on a bed that is in a room or under it" has two meanings;
    nor where both may be said of one thing: a cup "sitting on" or "standing on", a boat "in" or "on" water.
    """
    second = predicate(other)
    if predicate(link.relation) is None or second is None or goes_on(link.thing):
        return False
    first = predicate_of(link)
    if "have" in (first.verb, second.verb) or first.reduced() == second.reduced():
        return False
    (doing, place), (doing_too, other_place) = _parted(first), _parted(second)
    if place == other_place and subject and not is_alive(subject):
        return not {doing, doing_too} <= POSTURES
    into = {place, other_place} <= INTO and number(link.thing.name) == "mass"
    return not (into and (doing == doing_too or not doing or not doing_too))


def _parted(said: Predicate) -> tuple[str, str]:
    """What one is doing, and where: "sitting", "on"."""
    head, _, rest = said.reduced().partition(" ")
    return (head, rest) if head.endswith("ing") else ("", said.reduced())


def _as_being(said: Predicate) -> Predicate:
    """Said with "be": surrounding, where it would be "surrounds"."""
    return Predicate("", said.reduced())


def _helper(said: Predicate, plural: bool) -> str:
    return be(plural) if not said.verb else "do" if plural else "does"


def _asked(verb: Predicate, subject: Subgraph, plural: bool, said: str) -> str:
    helper = _helper(verb, plural or several_of(subject.name)).capitalize()
    return f"{helper} {said or the(subject, plural)}"
