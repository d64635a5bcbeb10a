"""Attributes as English adjectives, and colors.

An adjective stands before the noun ("black dog") or after "that is" ("man that is looking up"). Colors are
counted also in words that no schema has: what has two of them has no one color.
"""

from functools import lru_cache
from typing import NamedTuple

from ..schemas import clevr, gqa
from .word_lists import word_set, word_table


class AdjectivePhrase(NamedTuple):
    words: str
    before: bool  # it can stand before the noun
    after: bool  # it can stand after "is"


_AFTER_ONLY = word_set("adjectives", "after only")
_NORMALIZED = {word: usual for word, (usual,) in word_table("adjectives", "normalized").items()}
_BEFORE_ONLY = word_set("adjectives", "before only")
_NOT_AFTER = word_set("adjectives", "not after")
_PLAIN = word_set("adjectives", "plain")
_SHADES = word_set("adjectives", "shades")
_HUES = word_set("adjectives", "hues")
_MULTICOLORED = word_set("adjectives", "multicolored")
_COLOR_SHADES = word_set("adjectives", "color shades")
_COLORS = word_set("adjectives", "more colors").union(gqa.SCHEMA.attribute("color").values)
_NO_ADJECTIVE = word_set("adjectives", "no adjective")
_NOUN_ATTRIBUTES = ("name", "shape", "sport", "room", "flavor", "hposition", "vposition", "location", "power")
_ATTRIBUTES = [a for a in (*clevr.SCHEMA.attributes, *gqa.SCHEMA.attributes) if a.name not in _NOUN_ATTRIBUTES]
_SCHEMA_ADJECTIVES = frozenset(value for a in _ATTRIBUTES for value in a.values if " " not in value)


@lru_cache(maxsize=8192)
def describe_attribute(attribute: str) -> AdjectivePhrase | None:
    """How to say the attribute; None if it does not read well."""
    word = " ".join(attribute.strip().split())
    word = _NORMALIZED.get(word.lower(), word)
    lowered = word.lower()
    if not word.replace(" ", "").replace("-", "").replace("'", "").isalpha() or lowered in _NO_ADJECTIVE:
        return None
    if lowered in _AFTER_ONLY or word in _AFTER_ONLY:
        return AdjectivePhrase(word, before=False, after=True)
    if word in _PLAIN or word in _SCHEMA_ADJECTIVES:
        return AdjectivePhrase(word, before=True, after=lowered not in _NOT_AFTER)
    if lowered in _BEFORE_ONLY:
        return AdjectivePhrase(word, before=True, after=False)
    first, _, rest = word.partition(" ")
    if first in _SHADES and rest in _HUES:
        return AdjectivePhrase(word, before=True, after=True)
    if rest:
        if word.rpartition(" ")[2] in ("colored", "shaped", "sized", "patterned", "covered", "trimmed"):
            return AdjectivePhrase(word, before=True, after=True)
        if first.endswith("ing") and rest in ("up", "down", "left", "right", "away", "back", "around", "out", "over"):
            return AdjectivePhrase(word, before=False, after=True)
        return None
    if len(word) > 4 and word.endswith(("ed", "ing")):
        return AdjectivePhrase(word, before=True, after=True)
    return None


@lru_cache(maxsize=16384)
def count_colors(attribute: str) -> int:
    """How many colors the word names: none, one, or two for two and more."""
    word = " ".join(attribute.lower().replace("-", " ").split())
    if word in _MULTICOLORED or attribute.lower() in _MULTICOLORED or word.endswith((" striped", " spotted")):
        return 2
    if word in _COLORS:
        return 1
    parts = word.removesuffix(" colored").split()
    known = sum(part in _COLORS for part in parts)
    if known > 1 and not _COLOR_SHADES.isdisjoint(parts[:1]):  # dark gray: dark is a color of its own
        known -= 1
    return min(known, 2) if known and _COLORS.union(_COLOR_SHADES, ("and",)).issuperset(parts) else 0


def is_predicative(attribute: str) -> bool:
    """Whether it can follow "is": white, not "main"."""
    phrase = describe_attribute(attribute)
    return phrase is not None and phrase.after
