"""Lexicon: how the words of a schema are said, in the singular and the plural.

A template folder's own synonyms come first, then the table below, then the schema's words. What a value means
is the schema's business; here "articulated" merely reads "articulated bus".
"""

from __future__ import annotations

from dataclasses import dataclass

from ..schema import Attribute, Schema, Words
from .english import plural

THING, PART = "thing", "part"  # said where a description has no noun

SAID: dict[str, tuple[str, ...]] = {
    THING: ("thing", "object"),
    PART: ("part",),
    "gray": ("gray",),
    "left": ("to the left of", "left of"),
    "right": ("to the right of", "right of"),
    "front": ("in front of",),
    "suv": ("SUV",),
    "articulated": ("articulated bus",),
    "regular": ("regular bus",),
    "double": ("double-decker bus",),
    "school": ("school bus",),
    "dirtbike": ("dirt bike",),
    "fighter": ("fighter plane",),
    "bicycle": ("bicycle",),  # "bike" alone could also be a motorbike
    "road": ("road bike",),
    "utility": ("utility bike",),
    "mountain": ("mountain bike",),
    "tandem": ("tandem bike",),
    "plate": ("license plate",),
    "door_left_s": ("left door",),
    "door_right_s": ("right door",),
    "exhaust_left_s": ("left exhaust",),
    "exhaust_right_s": ("right exhaust",),
    "footrest_left_s": ("left footrest",),
    "footrest_right_s": ("right footrest",),
}
SIDES = ("front", "mid", "center", "back", "left", "right")  # in the order they are said before a part
SIDE_WORDS = {"mid": "middle"}


@dataclass(frozen=True, slots=True)
class Said:
    """The ways to say one word; `shift` spreads the choice over a question's random bits."""

    one: tuple[str, ...]
    several: tuple[str, ...]
    shift: int


class Lexicon:
    """Ways to say the values, kinds and relations of a schema."""

    def __init__(self, schema: Schema, synonyms: Words = ()) -> None:
        self.schema = schema
        self._given = dict(synonyms)
        self._known = {value: (value, *words) for value, words in schema.synonyms}
        self._said: dict[str, Said] = {}

    def said(self, word: str) -> Said:
        found = self._said.get(word)
        if found is None:
            ways = self._given.get(word) or SAID.get(word) or self._known.get(word) or (_plain(word),)
            several = tuple(plural(w) for w in ways)
            found = self._said[word] = Said(tuple(ways), several, 7 * len(self._said) % 31)
        return found


def noun_of(attributes: tuple[Attribute, ...]) -> str:
    """The attribute that a description's noun names: shape, name, or whatever is worded last."""
    names = [a.name for a in attributes]
    return next((n for n in ("shape", "name") if n in names), names[-1] if names else "")


def _plain(word: str) -> str:
    """A name of a file as English: wheel_front_left → front left wheel."""
    pieces = word.split("_")
    sides = sorted((p for p in pieces if p in SIDES), key=SIDES.index)
    rest = [p for p in pieces if p not in SIDES]
    if not rest:
        return " ".join(pieces)
    return " ".join([SIDE_WORDS.get(s, s) for s in sides] + rest)
