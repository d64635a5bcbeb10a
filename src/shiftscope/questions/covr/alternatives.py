"""Alternatives: which two things are set against each other, be it by "or", by "both" or in a comparison."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from ...english.nouns import (
    OWN_PARTS,
    are_other_words,
    are_part_and_whole,
    classify_garment,
    is_food,
    is_location,
    is_mass_noun,
    is_plural_noun,
    is_worn,
)
from ...english.word_lists import word_set
from ...scene_graph.relation_exclusivity import classify_target
from ...scene_graph.wordnet import WordNet, load_wordnet
from .fluency import ENCOMPASSING

ALIKE_MODIFIERS: tuple[Callable[[str], bool], ...] = (OWN_PARTS.__contains__,)  # with a hand, with a fork
ALIKE = (*ALIKE_MODIFIERS, is_worn, is_food)  # such things are set against such: in a jacket, in a doorway


def are_alternatives(one: str, other: str, tests: Sequence[Callable[[str], bool]] = ALIKE) -> bool:
    """Whether one would ask which of the two: they are of one kind and not the same in other words."""
    if are_other_words(one, other) or not ENCOMPASSING.isdisjoint((one, other)):  # a remote or a controller, in a zoo
        return False
    return all(test(one) == test(other) for test in tests)


@lru_cache(maxsize=65536)
def share_kind(one: str, other: str) -> bool:
    """Whether both are of a kind that is less wide than "artifact": a surfboard and a blanket are not.

    What one is on anyway, and what WordNet does not know, is not judged.
    """
    if classify_target(one) == classify_target(other) == "ground":
        return True
    if (is_food(one) and is_food(other)) or (is_worn(one) and is_worn(other)):
        return True
    wordnet, wide = _find_wide_kinds()
    known = [wordnet.noun(name) for name in (one, other)]
    if None in known:
        return True
    kinds = [noun.wider - wide for noun in known if noun is not None]
    return not kinds[0].isdisjoint(kinds[1])


@cache
def _find_wide_kinds() -> tuple[WordNet, frozenset[int]]:
    wordnet = load_wordnet()
    found = (wordnet.find_senses(name, "noun")[0] for name in word_set("nouns", "kinds too wide to choose within"))
    return wordnet, frozenset[int]().union(*map(wordnet.list_wider, found))


def are_both_on_ground(one: str, other: str) -> bool:
    """Whether both are what one is on anyway, or neither: not next to a horse and next to a road."""
    return (classify_target(one) == "ground") == (classify_target(other) == "ground")


def are_comparable_things(one: str, other: str) -> bool:
    """Whether one would compare things that differ in what they are: there are some or one of each."""
    return are_alternatives(one, other) and is_mass_noun(one) == is_mass_noun(other)


def are_comparable_objects(one: str, other: str) -> bool:
    """Whether one would compare things that differ in what they are related to."""
    if not are_comparable_things(one, other) or not are_both_on_ground(one, other):
        return False
    if is_location(one) != is_location(other):  # in a bathroom, in a sink
        return False
    if not share_kind(one, other) or is_plural_noun(one) != is_plural_noun(other):  # on a horse, on a bench
        return False
    if one in OWN_PARTS and other in OWN_PARTS:  # a bear with a brown neck, one with brown ears
        return False
    if classify_garment(one) != classify_garment(other):  # ski pants, eyeglasses
        return False
    if is_worn(one):
        return classify_garment(one) != ""
    return not are_part_and_whole(one, other)  # on a bed, on a blanket
