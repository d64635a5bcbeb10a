"""Relations as English predicates: "on", "wearing", "wears", "wear", "pv:attach to", "has".

A predicate is worded either with "be" ("is on", "is wearing") or with a verb of its own in the simple present
("has", "surrounds").
"""

from functools import lru_cache
from typing import NamedTuple

from .inflection import NUMBER_WORDS, gerund, past_participle, third_person
from .inflection import article as a_or_an
from .nouns import BARE, GAMES, INSTRUMENTS, THE, grammatical_number, is_interior
from .word_lists import word_list, word_set, word_table


class RelationPredicate(NamedTuple):
    """A relation without its object; `verb` is empty where it takes "be"."""

    verb: str  # "have", "surround"
    rest: str  # after the verb or after "be": "", "to", "on", "wearing", "parked on"

    @property
    def manner(self) -> int:
        """Where something is, what it is doing, what it does: such are not mixed after a noun."""
        if self.verb:
            return 2 if self.verb != "have" else 3
        return 1 if self.rest.partition(" ")[0].endswith("ing") else 0

    @property
    def is_place(self) -> bool:
        """Whether it says where something is, up to its object: "sitting on", not "wearing" nor "made of"."""
        return self.rest.rpartition(" ")[2] in _LOCATING and not self.rest.startswith(_NOT_LOCATING)

    @property
    def is_spatial(self) -> bool:
        """Whether it ends in a preposition of space: "hanging from", not "pulled by" nor "talking to"."""
        head, _, last = self.rest.rpartition(" ")
        if last == "to" and not self.rest.endswith(_NEXT_TO):
            return False
        place = self.is_place or last in _BETWEEN
        return place and last != "at" and not (last == "by" and head and not head.endswith("ing"))

    def write_finite(self, plural: bool) -> str:
        """is on, are wearing, has, surround."""
        if not self.verb:
            return f"{'are' if plural else 'is'} {self.rest}"
        return _join_words(self.verb if plural else third_person(self.verb), self.rest)

    def write_reduced(self) -> str:
        """After a noun, without "that is": on, wearing, with, surrounding."""
        if not self.verb:
            return self.rest
        return "with" if self.verb == "have" and not self.rest else _join_words(gerund(self.verb), self.rest)

    def write_bare(self) -> str:
        """In a question, after "is it" or "does it": on, wearing, have, surround."""
        return _join_words(self.verb, self.rest)


_LOCATING = word_set("relations", "locating")
_NOT_LOCATING = word_list("relations", "not locating")
_BETWEEN = word_set("relations", "between")
_NEXT_TO = ("next to", "close to", "adjacent to")
PLACES = word_set("relations", "places")
_NORMALIZED = {name: usual for name, (usual,) in word_table("relations", "normalized").items()}
_BEFORE_OF = word_list("relations", "before of")
AFTER_VERBS = PLACES | word_set("relations", "after verbs")
STATES = word_set("relations", "states")
WITHOUT_OBJECT = word_set("relations", "without object")
NEEDS_OBJECT = word_set("relations", "needs object")
_PARTICLES = word_set("relations", "particles")
VERBS = word_set("relations", "verbs")
_TRICK = "doing a trick"
_GERUNDS = {gerund(verb): verb for verb in sorted(VERBS)} | {"laying": "lay", "layed": "lay"}
_THIRD = {third_person(verb): verb for verb in sorted(VERBS)}
_PARTICIPLES = {past_participle(verb): verb for verb in sorted(VERBS)}
_NO_GERUND = word_set("relations", "no gerund")
REFUSED = word_set("relations", "refused")
_NEVER_WITH = {rest: frozenset(targets) for rest, targets in word_table("relations", "never with").items()}
_OF_ROOMS = word_set("relations", "of rooms")
_PLAYED = GAMES | INSTRUMENTS | word_set("relations", "played")
_AT, _PLACES_AT = word_set("relations", "at"), word_set("relations", "places at")


@lru_cache(maxsize=8192)
def parse_relation(relation: str) -> RelationPredicate | None:
    """The relation as a predicate, or nothing if we have no good way to say it."""
    words = relation.strip().lower()
    passive = words.startswith("pv:")
    words = words.removeprefix("pv:").removeprefix("v:")
    words = _NORMALIZED.get(words, words)
    if words.startswith(("is ", "are ")):
        words = words.partition(" ")[2]
    if words in REFUSED or not words.replace(" ", "").replace("-", "").isalpha():
        return None
    words = _insert_article(words.removesuffix("upon") + "on" if words.endswith(" upon") else words)
    if words in PLACES and not passive:
        return RelationPredicate("", words)
    first, _, tail = words.partition(" ")
    if passive:
        known = tail in AFTER_VERBS or (first, tail) == ("make", "of")
        return RelationPredicate("", f"{past_participle(first)} {tail}") if known else None
    if first.endswith("er") and tail == "than":
        return RelationPredicate("", words)
    if first in ("trick", "tricking") and tail in AFTER_VERBS:
        return RelationPredicate("", f"{_TRICK} {tail}")
    if words.startswith(_TRICK) and words.removeprefix(_TRICK).strip() in AFTER_VERBS:
        return RelationPredicate("", words)
    return _parse_verb(first, tail)


@lru_cache(maxsize=16384)
def can_take(predicate: RelationPredicate, target: str) -> bool:
    """Whether such an object goes with it: nobody wears a bag or plays a ball, no sidewalk has such a corner."""
    if predicate.rest in _OF_ROOMS:
        return is_interior(target)
    head = target.rpartition(" ")[2]
    if predicate.rest in _AT:
        return head in _PLACES_AT
    if predicate.rest == "playing":
        return not _PLAYED.isdisjoint((target, head))
    refused = _NEVER_WITH.get(predicate.write_bare())
    return refused is None or refused.isdisjoint((target, head))


@lru_cache(maxsize=8192)
def find_base_verb(word: str) -> str:
    """The verb that a word is a form of: sitting → sit, parked → park; nothing where it is no form of one we know."""
    if word in VERBS:
        return word
    return next((table[word] for table in (_GERUNDS, _THIRD, _PARTICIPLES) if word in table), "")


def _parse_verb(first: str, tail: str) -> RelationPredicate | None:
    verb = next((table[first] for table in (_GERUNDS, _THIRD) if first in table), first)
    if tail and tail not in AFTER_VERBS:
        return None
    if verb in VERBS:
        if (verb in NEEDS_OBJECT and f"{verb} {tail}" not in _PARTICLES) if tail else verb in WITHOUT_OBJECT:
            return None
        if verb in ("lay", "lie") and tail == "down":
            return None
        verb = "lie" if verb == "lay" else verb  # what lies is said to "lay" in most captions
        return RelationPredicate(*((verb, tail) if verb in STATES else ("", _join_words(gerund(verb), tail))))
    if first in _PARTICIPLES or (first.endswith("ed") and len(first) > 4):
        return RelationPredicate("", f"{first} {tail}") if tail else None
    if first.endswith("ing") and len(first) > 4 and first not in _NO_GERUND:
        return RelationPredicate("", _join_words(first, tail))
    return None


def _insert_article(words: str) -> str:
    """on side of → on the side of, sit on edge of → sit on the edge of."""
    for short, phrase in _NORMALIZED.items():
        if words.endswith(f" {short}") and short.endswith(" of") and not words.endswith(f" the {short}"):
            return f"{words.removesuffix(short)}{phrase}"
    head, space, _ = words.rpartition(" of")
    if space and words.endswith(" of"):
        for noun in _BEFORE_OF:
            for preposition in ("on", "in", "at"):
                start = f"{preposition} {noun}"
                if (head == start or head.endswith(f" {start}")) and start not in ("on top", "in front"):
                    return f"{head.removesuffix(start)}{preposition} the {noun} of"
    return words


def _join_words(*words: str) -> str:
    return " ".join(word for word in words if word)


# Phrases: the pieces that every question is put together from: helper verbs, articles, numbers in words.


def be_form(plural: bool) -> str:
    return "are" if plural else "is"


def do_form(plural: bool) -> str:
    return "do" if plural else "does"


def helper_verb(predicate: RelationPredicate, plural: bool) -> str:
    """What a question about the relation starts with: is it on …, does it have …."""
    return do_form(plural) if predicate.verb else be_form(plural)


def add_article(phrase: str, name: str, article: str, keep_the: bool = True) -> str:
    """The phrase, whose noun is the name, with an article; `a` gives a, an or what the noun wants."""
    if article == "a":
        article = "" if grammatical_number(name) != "one" or name in BARE else a_or_an(phrase)
        if name in THE and keep_the:
            article = "the"
    return f"{article} {phrase}" if article else phrase


def phrase_number(test: str, number: int) -> str:
    """two or more, no more than one, exactly three."""
    word = NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else str(number)
    if test == "at least" and number > 1:
        return f"{word} or more"
    return f"no more than {word}" if test == "at most" else f"{test} {word}".lstrip()
