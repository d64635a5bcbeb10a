"""Dropping: elements that a question does without, every set it refers to staying as it is.

An element is a filter or a relation. It is redundant when the set that its description ends with is the same
without it; then everything after it, the answer included, is the same too. A relation goes with all that only
led to it. Being the same as a thing in some attribute is a relation too, unless the question is about that.
The order is fixed: relations from the answer backwards, then words by attribute (`rank`), those nearest the
answer first.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ...lang.world import Things, World
from ...schema import Attribute, Schema
from ..lexicon import noun_of
from .step import RELATIONS, Step, Word, is_subject, steps
from .told import gives_itself_away, suspects


class Element(NamedTuple):
    """A word of a set, or (where `word` is None) the relation it stands in."""

    step: Step
    word: Word | None


@lru_cache(maxsize=64)
def in_order(schema: Schema) -> tuple[Attribute, ...]:
    """The attributes in the order of dropping: as worded, size first, and the noun last."""
    noun = noun_of(schema.attributes)
    return tuple(sorted(schema.attributes, key=lambda a: a.name == noun))


@lru_cache(maxsize=1024)
def rank(schema: Schema, attribute: str) -> int:
    """The place of an attribute in that order; what the schema does not know goes first, a name last."""
    names = [a.name for a in in_order(schema)]
    return names.index(attribute) if attribute in names else len(names) if attribute == "name" else -1


def relations(last: Step) -> list[Element]:
    """The relations that sets stand in, from the answer backwards."""
    return [Element(s, None) for s in steps(last) if s.op in RELATIONS or _likens(s)]


def _likens(step: Step) -> bool:
    """Whether `same` only serves to say which things are meant."""
    return step.op == "same" and not step.on_parts and not is_subject(step)


def words(last: Step, schema: Schema) -> list[Element]:
    """The words of all sets, in the order in which they are dropped."""
    found = [(rank(schema, w.attribute), Element(s, w)) for s in steps(last) for w in s.words]
    return [element for _, element in sorted(found, key=lambda pair: pair[0])]


def redundant(element: Element, world: World) -> bool:
    """Whether the set that the element's description ends with is the same without it."""
    return _ends_with_the_same(element.step, _without(element, world), world)


def drop(element: Element, last: Step, world: World, schema: Schema) -> bool:
    """Drop a redundant element in place; False, and nothing changed, where it is needed.

    It is also needed where the question would otherwise lose its last word, or give its answer away.
    """
    step, word = element
    left = _without(element, world)
    if not _ends_with_the_same(step, left, world):
        return False
    kept = (step.op, step.params, step.inputs, list(step.words), step.root, step.value)
    if word is None:
        if step.loose:
            return _drop_half(step, last, world, schema)
        everything = world.objects.everything
        step.op, step.params, step.inputs, step.root, step.value = "scene", (), [], everything, left
    else:
        step.words.remove(word)
        step.value = left
    if _sensible(step, last) and not gives_itself_away(suspects(last), schema):
        _settle(step)
        return True
    step.op, step.params, step.inputs, step.words, step.root, step.value = kept
    return False


def drop_all(last: Step, world: World, schema: Schema, relations_only: bool = False) -> int:
    """Drop elements in order until no single one can go; how many went."""
    gone = 0
    while True:
        before = gone
        while any(drop(e, last, world, schema) for e in relations(last)):
            gone += 1
        if not relations_only:
            gone += sum(drop(e, last, world, schema) for e in words(last, schema))
        if gone == before or not suspects(last):
            return gone  # else a word that had to stay may go now that another has gone


def narrowed(step: Step, among: int, things: Things, without: Word | None = None) -> int:
    """What the words of a step, all but one, leave of a set."""
    for word in step.words:
        if word is not without:
            mask = things.mask(word.attribute, word.value)
            among &= mask if word.op == "filter" else ~mask
    return among


def _without(element: Element, world: World) -> int:
    step, word = element
    things = world.parts if step.on_parts else world.objects
    return narrowed(step, step.root if word else things.everything, things, word)


def _ends_with_the_same(step: Step, value: int, world: World) -> bool:
    while step.loose and step.above is not None:
        whole = step.above
        value &= next(s for s in whole.inputs if s is not step).value
        step, value = whole, narrowed(whole, value, world.parts if whole.on_parts else world.objects)
    return bool(value == step.value)


def _drop_half(step: Step, last: Step, world: World, schema: Schema) -> bool:
    """Drop one of the two relations of a description: the other, with all the words, is left."""
    whole = step.above
    assert whole is not None
    other = next(s for s in whole.inputs if s is not step)
    kept = (whole.op, whole.params, whole.inputs, whole.words, whole.root, whole.value)
    whole.op, whole.params, whole.inputs = other.op, other.params, other.inputs
    whole.words = other.words + step.words + whole.words
    whole.root = other.root
    whole.value = narrowed(whole, whole.root, world.parts if whole.on_parts else world.objects)
    if not gives_itself_away(suspects(last), schema):
        for below in whole.inputs:
            below.above = whole
        _settle(whole)
        return True
    whole.op, whole.params, whole.inputs, whole.words, whole.root, whole.value = kept
    return False


def _settle(step: Step) -> None:
    """Half of a description may have changed where the whole has not."""
    while step.loose and step.above is not None:
        step = step.above
        step.root = step.inputs[0].value & step.inputs[1].value


def _sensible(step: Step, last: Step) -> bool:
    """Whether something is still said: only `how many things are there?` goes without a word."""
    return bool(step.words) or step.op != "scene" or (step.above is last and last.op == "count")
