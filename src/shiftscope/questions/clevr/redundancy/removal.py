"""Dropping (rd-): elements that a question does without, every set it refers to staying as it is (docs/decisions/010).

An element is a filter, or a relation with all that only led to it. The order is fixed: relations from the answer
backwards, then words by attribute (`rank_attribute`), those nearest the answer first.
"""

from functools import lru_cache
from typing import NamedTuple

from ....english.synonyms import noun_attribute
from ....lang.execution_world import ExecutionWorld, Things
from ....schema import Attribute, Schema
from .program_tree import RELATIONS, FilterWord, TreeStep, gives_itself_away, list_steps, list_suspects


class DroppableElement(NamedTuple):
    """A word of a set, or (where `word` is None) the relation it stands in."""

    step: TreeStep
    word: FilterWord | None


@lru_cache(maxsize=64)
def order_attributes(schema: Schema) -> tuple[Attribute, ...]:
    """The attributes in the order of dropping: as worded, size first, and the noun last."""
    noun = noun_attribute(schema.attributes)
    return tuple(sorted(schema.attributes, key=lambda a: a.name == noun))


@lru_cache(maxsize=1024)
def rank_attribute(schema: Schema, attribute: str) -> int:
    """The place of an attribute in that order; what the schema does not know goes first, a name last."""
    names = [a.name for a in order_attributes(schema)]
    return names.index(attribute) if attribute in names else len(names) if attribute == "name" else -1


def list_relations(last: TreeStep) -> list[DroppableElement]:
    """The relations that sets stand in, from the answer backwards; `same` where it only says which are meant."""
    return [
        DroppableElement(s, None)
        for s in list_steps(last)
        if s.op in RELATIONS or (s.op == "same" and not s.on_parts and not s.is_subject)
    ]


def list_words(last: TreeStep, schema: Schema) -> list[DroppableElement]:
    """The words of all sets, in the order in which they are dropped."""
    found = [(rank_attribute(schema, w.attribute), DroppableElement(s, w)) for s in list_steps(last) for w in s.words]
    return [element for _, element in sorted(found, key=lambda pair: pair[0])]


def drop_element(element: DroppableElement, last: TreeStep, world: ExecutionWorld, schema: Schema) -> bool:
    """Drop a redundant element in place; False, and nothing changed, where it is needed.

    It is also needed where the question would otherwise lose its last word, or give its answer away.
    """
    step, word = element
    things = world.parts if step.on_parts else world.objects
    left = narrow_set(step, step.root if word else things.everything, things, word)
    if not _keeps_described_set(step, left, world):
        return False
    kept = (step.op, step.params, step.inputs, list(step.words), step.root, step.value)
    if word is None:
        if step.is_half:
            return _drop_half_of_intersection(step, last, world, schema)
        everything = world.objects.everything
        step.op, step.params, step.inputs, step.root, step.value = "scene", (), [], everything, left
    else:
        step.words.remove(word)
        step.value = left
    # Only `how many things are there?` goes without a word.
    says_something = step.words or step.op != "scene" or (step.above is last and last.op == "count")
    if says_something and not gives_itself_away(list_suspects(last), schema):
        _update_intersections(step)
        return True
    step.op, step.params, step.inputs, step.words, step.root, step.value = kept
    return False


def drop_all(last: TreeStep, world: ExecutionWorld, schema: Schema, relations_only: bool = False) -> int:
    """Drop elements in order until no single one can go; how many went."""
    gone = 0
    while True:
        before = gone
        while any(drop_element(e, last, world, schema) for e in list_relations(last)):
            gone += 1
        if not relations_only:
            gone += sum(drop_element(e, last, world, schema) for e in list_words(last, schema))
        if gone == before or not list_suspects(last):
            return gone  # else a word that had to stay may go now that another has gone


def narrow_set(step: TreeStep, among: int, things: Things, without: FilterWord | None = None) -> int:
    """What the words of a step, all but one, leave of a set."""
    for word in step.words:
        if word is not without:
            mask = things.mask(word.attribute, word.value)
            among &= mask if word.op == "filter" else ~mask
    return among


def _keeps_described_set(step: TreeStep, value: int, world: ExecutionWorld) -> bool:
    while step.is_half and step.above is not None:
        whole = step.above
        value &= next(s for s in whole.inputs if s is not step).value
        step, value = whole, narrow_set(whole, value, world.parts if whole.on_parts else world.objects)
    return bool(value == step.value)


def _drop_half_of_intersection(step: TreeStep, last: TreeStep, world: ExecutionWorld, schema: Schema) -> bool:
    """Drop one of the two relations of a description: the other, with all the words, is left."""
    whole = step.above
    assert whole is not None
    other = next(s for s in whole.inputs if s is not step)
    kept = (whole.op, whole.params, whole.inputs, whole.words, whole.root, whole.value)
    whole.op, whole.params, whole.inputs = other.op, other.params, other.inputs
    whole.words = other.words + step.words + whole.words
    whole.root = other.root
    whole.value = narrow_set(whole, whole.root, world.parts if whole.on_parts else world.objects)
    if not gives_itself_away(list_suspects(last), schema):
        for below in whole.inputs:
            below.above = whole
        _update_intersections(whole)
        return True
    whole.op, whole.params, whole.inputs, whole.words, whole.root, whole.value = kept
    return False


def _update_intersections(step: TreeStep) -> None:
    """Half of a description may have changed where the whole has not."""
    while step.is_half and step.above is not None:
        step = step.above
        step.root = step.inputs[0].value & step.inputs[1].value
