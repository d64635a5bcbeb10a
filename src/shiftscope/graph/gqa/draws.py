"""Draws that several forms make: a thing with a word of it, one with a relation, something that is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..ask._adjectives import described as adjective
from ..ask._nouns import THE, is_animal, is_person
from ..ask._relations import Predicate, predicate
from .described import Described, Link, Word
from .drawing import Drawing
from .view import DEEPEST, Tie

_OTHERWISE = ((False, False), (True, False), (False, True))  # how two do not both hold


def attribute(
    d: Drawing, fits: Callable[[Word], bool] = lambda word: True, away: frozenset[int] = frozenset()
) -> tuple[int, Word, Described] | None:
    """A thing, a word of it that can be asked about, and a description that does not tell."""
    thing = d.one_of([i for i in d.view.things if i not in away])
    if thing is None:
        return None
    word = d.one_of([w for w in d.view.words[thing] if fits(w) and is_predicate(w.value)])
    if word is None:
        return None
    said = d.view.describe(d.draw, thing, silent=frozenset({word.attribute}), away=away)
    return None if said is None else (thing, word, said)


def another(d: Drawing, thing: int, word: Word) -> str | None:
    """A value that the thing surely does not have, of the same attribute."""
    options = d.words.values.get(word.attribute, {})
    return d.other("attribute", own(d, thing, word), options, is_predicate)


def own(d: Drawing, thing: int, word: Word) -> list[str]:
    """All values that the thing has of the word's attribute."""
    return [w.value for w in d.view.words[thing] if w.attribute == word.attribute]


def related(d: Drawing, kind: Callable[[str], str]) -> tuple[int, Described, Tie] | None:
    """A thing that is the only one, of a kind, that stands in some relation to another."""
    thing = d.thing()
    tie = d.one_of(d.view.ties[thing]) if thing is not None else None
    if thing is None or tie is None:
        return None
    depth = (
        DEEPEST if tie.subject else 1
    )  # a preposition follows: not "what is the cat on the mat by the bed on?"
    other = d.view.describe(d.draw, tie.other, away=frozenset({thing}), depth=depth)
    if other is None:
        return None
    said = Described(kind(d.view.names[thing]), link=Link(tie.relation, other, tie.subject))
    return (thing, said, tie) if d.view.found(said) == 1 << thing else None


def kind_of(name: str) -> str:
    return "person" if is_person(name) else "animal" if is_animal(name) else ""


def there(d: Drawing, holds: bool) -> Described | None:
    """A description of something that is there; or of what is not, by another word or another name.

    There is one only where there is the other, so that neither answer is likelier for some things.
    """
    thing = d.one_of([i for i in d.view.things if d.view.names[i] not in THE])
    said = d.view.describe(d.draw, thing, alone=False) if thing is not None else None
    if thing is None or said is None:
        return None
    by_word = bool(d.draw.integers(2)) and bool(said.words)
    made = _other_word(d, thing, said) if by_word else _other_name(d, thing, said)
    if made is None or d.view.found(made):
        return None
    return said if holds else made


def _other_word(d: Drawing, thing: int, said: Described) -> Described | None:
    word = said.words[0]
    value = another(d, thing, word)
    return None if value is None else replace(said, words=(Word(word.attribute, value),))


def _other_name(d: Drawing, thing: int, said: Described) -> Described | None:
    tie = said.link or d.one_of(d.view.ties[thing])
    options = d.words.names.get((tie.relation, tie.subject), {}) if tie else {}
    name = d.other("object", d.view.names, options, lambda n: n not in THE)
    return None if name is None else replace(said, name=name)


def joined(d: Drawing) -> tuple[str, tuple[bool, bool]]:
    """And, or; and which of two then hold, so that it is as wanted."""
    if d.draw.integers(2):
        return "and", (True, True) if d.holds else _OTHERWISE[d.draw.integers(3)]
    return "or", (not _OTHERWISE[k := d.draw.integers(3)][0], not _OTHERWISE[k][1]) if d.holds else (
        False,
        False,
    )


def shuffled(d: Drawing, one: str, other: str) -> tuple[str, str]:
    return (one, other) if d.draw.integers(2) else (other, one)


def is_predicate(value: str) -> bool:
    said = adjective(value)
    return said is not None and said.after


def is_place(relation: str) -> bool:
    """Whether it is said after "is" as it stands, so that it can be the answer: on, next to."""
    return predicate(relation) == Predicate("", relation) and not relation.endswith("ing")
