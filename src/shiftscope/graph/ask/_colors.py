"""Which attributes are colors, also of words that no schema has: what has two of them has no one color."""

from __future__ import annotations

from functools import lru_cache

from ...schemas.gqa import SCHEMA
from ._listed import listed

_MORE = listed(
    """grey, navy, burgundy, wine, crimson, scarlet, ruby, rose, rust, magenta, fuchsia, violet,
    lilac, indigo, plum, peach, coral, salmon, cream, ivory, off white, eggshell, golden, blonde,
    bronze, mustard, amber, olive, lime, mint, emerald, aqua, cyan, cobalt, charcoal, ebony,
    chocolate, caramel, auburn, ginger, mauve, chestnut, copper colored, rainbow, reddish,
    brownish, greenish, bluish, grayish, greyish, yellowish, pinkish, purplish, whitish, blackish"""
)
_SEVERAL = listed(
    """multicolored, multi colored, multi-colored, multicolor, multi color, colorful, colourful,
    rainbow, two tone, two-tone, two toned, striped, spotted, checkered, plaid, polka dot, polka
    dotted, dotted, floral, patterned, camouflage, tie dye, calico, tabby, brindle, rainbow
    colored, multi, variegated"""
)
_SHADES = listed(
    "light, dark, bright, deep, pale, hot, neon, royal, baby, sky, forest, lime, navy, off, dull"
)
_FAMILY = frozenset(value for a in SCHEMA.attributes if a.name == "color" for value in a.values)


@lru_cache(maxsize=16384)
def colors_in(attribute: str) -> int:
    """How many colors the word tells: none, one, or two for all that are more."""
    word = " ".join(attribute.lower().replace("-", " ").split())
    if word in _SEVERAL or attribute.lower() in _SEVERAL or word.endswith((" striped", " spotted")):
        return 2
    if word in _FAMILY or word in _MORE:
        return 1
    parts = word.removesuffix(" colored").split()
    known = sum(part in _FAMILY or part in _MORE for part in parts)
    if known > 1 and not _SHADES.isdisjoint(parts[:1]):  # dark gray: dark is a color of its own
        known -= 1
    return min(known, 2) if known and all(_part_of_one(part) for part in parts) else 0


def _part_of_one(word: str) -> bool:
    return word in _FAMILY or word in _MORE or word in _SHADES or word == "and"


def is_color(attribute: str) -> bool:
    return colors_in(attribute) > 0
