"""Lexicon: how the words of a schema are said, in the singular and the plural.

A template folder's own synonyms come first, then the table below, then the schema's words. Which words mean a
value is the schema's business; the table chooses among them what is said, where not all of them would do.
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
    **{model: (model,) for model in ("wagon", "minivan", "sedan", "truck", "chopper", "scooter", "cruiser")},
    **{model: (model,) for model in ("jet", "biplane", "airliner")},
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
    "any engine": ("engine",),
    "any seat": ("seat",),
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
        self._known = {value: _words(value, words) for value, words in schema.synonyms}
        self._said: dict[str, Said] = {}

    def said(self, word: str) -> Said:
        found = self._said.get(word)
        if found is None:
            ways = self.ways(word)
            several = tuple(plural(w) for w in ways)
            found = self._said[word] = Said(ways, several, 7 * len(self._said) % 31)
        return found

    def ways(self, word: str) -> tuple[str, ...]:
        """The ways to say one of it."""
        known = self._known.get(word, ())
        if word == THING and known:  # a schema may have a better noun for whatever it holds
            return tuple(self._given.get(word, known))
        return tuple(self._given.get(word) or SAID.get(word) or known or (_plain(word),))

    def heard(self, word: str) -> tuple[str, ...]:
        """Every way to say one of it that anyone might use, its name in the files among them."""
        given, known = self._given.get(word, ()), self._known.get(word, ())
        return tuple(dict.fromkeys((*given, *SAID.get(word, ()), *known, word, _plain(word))))


def noun_of(attributes: tuple[Attribute, ...]) -> str:
    """The attribute that a description's noun names: shape, name, or whatever is worded last."""
    names = [a.name for a in attributes]
    return next((n for n in ("shape", "name") if n in names), names[-1] if names else "")


def thing_word(schema: Schema) -> str:
    """The plainest noun for whatever a schema's scenes hold: thing, vehicle."""
    return next(iter(dict(schema.synonyms).get(THING, ())), THING)


def _words(value: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """A value's words; itself among them unless it is a name of a file."""
    return words if "_" in value else (value, *words)


def _plain(word: str) -> str:
    """A name of a file as English: wheel_front_left → front left wheel."""
    pieces = word.split("_")
    sides = sorted((p for p in pieces if p in SIDES), key=SIDES.index)
    rest = [p for p in pieces if p not in SIDES]
    if not rest:
        return " ".join(pieces)
    return " ".join([SIDE_WORDS.get(s, s) for s in sides] + rest)
