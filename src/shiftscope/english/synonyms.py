"""Synonyms of a schema's values, kinds and relations (CLEVR, Super-CLEVR), in the singular and the plural.

A template folder's own synonyms come first, then the table `data/synonyms.txt`, then the schema's words. The schema
says which words mean a value; the table chooses among them where not all of them read well.
"""

from dataclasses import dataclass

from ..schema import Attribute, Schema, Words
from .inflection import SIDES, plural, spell_file_name
from .word_lists import word_table

THING, PART = "thing", "part"  # for descriptions without a noun

SYNONYMS = word_table("synonyms", "closed")
SIDE_WORDS = {"mid": "middle"}


@dataclass(frozen=True, slots=True)
class WordForms:
    """The ways to say one word; `shift` spreads the choice over a question's random bits."""

    one: tuple[str, ...]
    several: tuple[str, ...]
    shift: int


class Lexicon:
    def __init__(self, schema: Schema, synonyms: Words = ()) -> None:
        self.schema = schema
        self._given = dict(synonyms)
        # A value is one of its own words, unless it is a name of a file.
        self._known = {value: words if "_" in value else (value, *words) for value, words in schema.synonyms}
        self._said: dict[str, WordForms] = {}

    def get_forms(self, word: str) -> WordForms:
        found = self._said.get(word)
        if found is None:
            ways = self.list_synonyms(word)
            several = tuple(plural(w) for w in ways)
            found = self._said[word] = WordForms(ways, several, 7 * len(self._said) % 31)
        return found

    def list_synonyms(self, word: str) -> tuple[str, ...]:
        known = self._known.get(word, ())
        if word == THING and known:  # a schema may have a better noun for whatever it holds
            return tuple(self._given.get(word, known))
        return tuple(self._given.get(word) or SYNONYMS.get(word) or known or (_spell_name(word),))

    def list_accepted_phrases(self, word: str) -> tuple[str, ...]:
        """Every way to say one of it that anyone might use, its name in the files among them."""
        given, known = self._given.get(word, ()), self._known.get(word, ())
        ways = (*given, *SYNONYMS.get(word, ()), *known, word, _spell_name(word), spell_file_name(word.rstrip("*")))
        return tuple(dict.fromkeys(ways))


def noun_attribute(attributes: tuple[Attribute, ...]) -> str:
    """The attribute that a description's noun names: shape, name, or whatever is worded last."""
    names = [a.name for a in attributes]
    return next((n for n in ("shape", "name") if n in names), names[-1] if names else "")


def generic_noun(schema: Schema) -> str:
    """The plainest noun for whatever a schema's scenes hold: thing, vehicle."""
    return next(iter(dict(schema.synonyms).get(THING, ())), THING)


def _spell_name(word: str) -> str:
    """A name of a file as English: wheel_front_left → front left wheel."""
    pieces = word.split("_")
    sides = sorted((p for p in pieces if p in SIDES), key=SIDES.index)
    rest = [p for p in pieces if p not in SIDES]
    if not rest:
        return " ".join(pieces)
    return " ".join([SIDE_WORDS.get(s, s) for s in sides] + rest)
