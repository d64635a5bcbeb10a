"""What the templates draw: a thing with a word of it, one with a relation, something that is there or is not."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from ...english.adjectives import is_predicative
from ...english.nouns import OWN_PARTS, THE, THE_AFTER, is_kind, is_person, is_worn
from ...english.relations import parse_relation
from ...scene import FREE
from ...scene_graph.exclusivity import THRESHOLD, MutualExclusivity
from ...scene_graph.subgraph import NodeKind
from .commonplace import can_be, has_always, is_about_body, is_always_so, is_doing
from .plausibility import NOT_EXCLUSIVE, UNTELLING, is_state, is_wearing, is_worth_asking
from .scene_view import (
    DEEPEST,
    GqaVocabulary,
    ObjectRelation,
    SceneView,
    WordCounts,
    are_alternatives,
    can_exist,
    find_kind,
)
from .soundness import OF_SOMETHING
from .wording import DescriptionLink, DescriptionWord, ObjectDescription

T = TypeVar("T")


class NothingToDraw(Exception):
    """A scene has nothing that a template could ask about, or not this time."""


def attempt(draw: Callable[[], T]) -> T | None:
    """What is drawn, or None; for where more is drawn in either case, which stored datasets depend on."""
    try:
        return draw()
    except NothingToDraw:
        return None


class GqaSampler(NamedTuple):
    view: SceneView
    words: GqaVocabulary
    overlap: MutualExclusivity
    draw: np.random.Generator
    holds: bool = True  # the answer wanted of a template that asks for yes or no
    luck: float = 1.0  # from 0 to 1, of a template that asks which; see `draw_rival_word`

    def draw_one(self, options: Sequence[T]) -> T:
        if not options:
            raise NothingToDraw
        return options[int(self.draw.integers(len(options)))]

    def find_fitting_names(self, relation: str, subject: bool, other: str) -> WordCounts:
        """The names that stand in such a relation to such things, as its subject or object, and need not always."""
        found = self.words.fitting_names.get((relation, subject, self._find_kind(other, wide=True)), {})
        worn = not subject and is_wearing(relation)  # not "a coat or a number"
        fitting = ((name, n) for name, n in found.items() if name not in OWN_PARTS and (not worn or is_worn(name)))
        return {name: n for name, n in fitting if not has_always(other, name) and not has_always(name, other)}

    def find_rival_names(self, tie: ObjectRelation, thing: int) -> WordCounts:
        """Of these, what could be in the place of what the thing stands in the relation to, or of the thing itself.

        Where a thing is, it can only be in one of several alike: on a chair or a table, not on a chair or the floor.
        """
        name, other = self.view.names[thing], self.view.names[tie.other]
        found = self.find_fitting_names(tie.relation, tie.subject, other)
        if tie.relation in NOT_EXCLUSIVE:
            return {}
        predicate = parse_relation(tie.relation)
        loose = predicate is not None and (predicate.manner == 0 or predicate.is_place or predicate.rest == "wearing")
        alike = partial(are_alternatives, self.view.scene.schema, name, where=not tie.subject)
        return {word: n for word, n in found.items() if not is_always_so(word, other) and (not loose or alike(word))}

    def find_fitting_values(self, attribute: str, name: str) -> WordCounts:
        """The values of an attribute that such things have; people have no color."""
        if attribute == FREE or (attribute == "color" and is_person(name)):  # not "wooden or rusty"
            return {}
        return self.words.fitting_values.get((attribute, self._find_kind(name, wide=False)), {})

    def _find_kind(self, name: str, wide: bool) -> str:
        return find_kind(self.view.scene.schema, name, wide)

    def shuffle_pair(self, one: str, other: str) -> tuple[str, str]:
        return (one, other) if self.draw.integers(2) else (other, one)

    def draw_false_word(
        self, kind: NodeKind, truths: Iterable[str], options: WordCounts, fits: Callable[[str], bool] = bool
    ) -> str:
        """A word that surely does not hold where the true ones do.

        Common ones are drawn more often, as they are also true more often: to be rare tells nothing.
        """
        left = [word for word in options if fits(word)]
        for truth in truths:
            scores = self.overlap.score_exclusivity(kind, truth, left)
            left = [word for word, m in zip(left, scores, strict=True) if m > THRESHOLD]
        if not left:
            raise NothingToDraw
        ends = np.cumsum([options[word] for word in left])
        return left[int(np.searchsorted(ends, self.draw.integers(ends[-1]), side="right"))]

    def draw_rival_word(
        self, kind: NodeKind, truth: str, truths: Iterable[str], options: WordCounts, fits: Callable[[str], bool] = bool
    ) -> str:
        """Such a word to choose from beside the true one.

        A true word is passed over the more often the commoner it is; else, of "on or under", it would be on.
        """
        fitting = sum(n for word, n in options.items() if fits(word))
        if not fitting or self.luck < options.get(truth, 0) / fitting:
            raise NothingToDraw
        return self.draw_false_word(kind, truths, options, fits)


# Draws that several templates make: a thing with a word of it, one with a relation, something that is there.

_OTHERWISE = ((False, False), (True, False), (False, True))  # how two do not both hold


def draw_attribute(
    d: GqaSampler, fits: Callable[[DescriptionWord], bool] = lambda word: True, away: frozenset[int] = frozenset()
) -> tuple[int, DescriptionWord, ObjectDescription]:
    """A thing, one of its attributes to ask for, and a description that does not mention it."""
    thing = d.draw_one([i for i in d.view.things if i not in away])
    word = d.draw_one([w for w in d.view.words[thing] if fits(w) and is_predicative(w.value)])
    description = d.view.describe(d.draw, thing, silent=frozenset({word.attribute}), away=away)
    head = d.view.names[thing].rpartition(" ")[2]
    bare = head in OF_SOMETHING and description is not None and description.link is None  # a leg: whose?
    if description is None or bare:
        raise NothingToDraw
    return thing, word, description


def draw_other_value(d: GqaSampler, thing: int, word: DescriptionWord) -> str:
    """A value that the thing surely does not have, of the same attribute."""
    options = d.find_fitting_values(word.attribute, d.view.names[thing])
    return d.draw_false_word("attribute", list_own_values(d, thing, word), options, is_predicative)


def list_own_values(d: GqaSampler, thing: int, word: DescriptionWord) -> list[str]:
    return [w.value for w in d.view.words[thing] if w.attribute == word.attribute]


def draw_subject(d: GqaSampler) -> tuple[int, ObjectRelation]:
    """A thing, and a relation whose subject it is; nobody asks where the sky is."""
    thing = d.draw_one([i for i in d.view.things if d.view.names[i] not in THE])
    names = d.view.names
    ties = [t for t in d.view.ties[thing] if t.subject and not is_state(t.relation)]
    ties = [t for t in ties if not is_always_so(names[thing], names[t.other])]
    ties = [t for t in ties if not is_about_body(names[thing], names[t.other], t.relation)]
    return thing, d.draw_one(ties)


def draw_related(d: GqaSampler, kind: Callable[[str], str]) -> tuple[int, ObjectDescription, ObjectRelation]:
    """A thing that is the only one, of a kind, that stands in some relation to another."""
    thing = d.draw_one([i for i in d.view.things if d.view.names[i] not in UNTELLING])
    tie = d.draw_one([t for t in d.view.ties[thing] if is_worth_asking(d.view, thing, t)])
    depth = DEEPEST if tie.subject else 0  # a verb or preposition follows: not "what is the cat on the mat on?"
    other = d.view.describe(d.draw, tie.other, away=frozenset({thing}), depth=depth)
    if other is None:
        raise NothingToDraw
    description = ObjectDescription(kind(d.view.names[thing]), link=DescriptionLink(tie.relation, other, tie.subject))
    if d.view.find_matches(description) != 1 << thing:
        raise NothingToDraw
    return thing, description, tie


def draw_existing(d: GqaSampler, holds: bool) -> ObjectDescription:
    """A description of something that is there; or of what is not, by another word or another name.

    There is one only where there is the other, so that neither answer is likelier for some things. A region of a
    picture does not tell what else is there: in one we ask only who or what does or undergoes something.
    """
    thing = d.draw_one([i for i in d.view.things if can_exist(d.view.names[i])])
    description = d.view.describe(d.draw, thing, alone=False)
    if description is None or (description.link and not _can_have_link(description.name, description.link)):
        raise NothingToDraw
    if d.view.is_region and not (description.link and is_doing(description.link.relation)):
        raise NothingToDraw
    if d.draw.integers(2) and description.words and not d.view.is_region:
        value = draw_other_value(d, thing, description.words[0])
        absent = replace(description, words=(DescriptionWord(description.words[0].attribute, value),))
    else:
        link = description.link
        if link is not None:
            options = d.find_fitting_names(link.relation, link.subject, link.other.name)
        else:
            options = d.words.together.get((description.name,), {})
        said = [(w.value, w.attribute) for w in description.words]

        def fits(name: str) -> bool:
            apt = can_exist(name) and all(value in d.find_fitting_values(family, name) for value, family in said)
            return apt and (link is None or _can_have_link(name, link))

        named = (*d.view.names, *d.view.elsewhere)
        absent = replace(description, name=d.draw_false_word("object", named, options, fits))
    if d.view.find_matches(absent):
        raise NothingToDraw
    return description if holds else absent


def _can_have_link(name: str, link: DescriptionLink) -> bool:
    other = link.other.name
    if not link.subject and (name in THE_AFTER or is_kind(name, "place")):
        return False  # a floor with a man on it
    return can_be(name, link.relation, other) if link.subject else can_be(other, link.relation, name)


def draw_conjunction(d: GqaSampler) -> tuple[str, tuple[bool, bool]]:
    """And, or; and which of two then hold, so that it is as wanted."""
    if d.draw.integers(2):
        return "and", (True, True) if d.holds else _OTHERWISE[d.draw.integers(3)]
    return "or", (not _OTHERWISE[k := d.draw.integers(3)][0], not _OTHERWISE[k][1]) if d.holds else (False, False)
