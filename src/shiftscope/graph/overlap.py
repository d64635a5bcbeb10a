"""Overlap: m(x1, x2), how surely a thing that is x2 is not x1 as well; what may stand in for a node.

Sources are asked in order and the first that knows decides; what none knows is taken to overlap, so that a
distractor is never one by ignorance. For relations m is not symmetric: who rides is not said to be "near", so
"near" may replace "riding", but who is near may well ride.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from ..errors import UserError
from ..formats import _json
from ..schema import Schema
from ._word_tables import (
    AT_WORK,
    EXCLUSIVE_MODIFIERS,
    EXCLUSIVE_PLACES,
    EXCLUSIVE_VERBS,
    EXCLUSIVE_WORDS,
    ONE_VALUED,
    OVERLAPPING,
    OVERLAPPING_NOUNS,
    PLACES,
    TOUCHING,
    VERBS,
)
from .pack import noun_of
from .subgraph import KINDS, Kind

THRESHOLD = 0.5  # above it, one word may stand in for another
COLUMNS = ("first", "second", "type", "exclusive")
_PEOPLE = ("person", "people")
_OPPOSITE_SIDES = ({"left", "right"}, {"front", "behind"})
_OPPOSITE_PEOPLE = (("man", "woman"), ("boy", "girl"), ("boy", "woman"), ("girl", "man"), ("baby", "man"))


class Source(Protocol):
    """Judges how surely each of the second words excludes the first; None where it does not know."""

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float | None]: ...


class Overlap:
    """All sources as one."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = tuple(sources)

    def exclusive(self, kind: Kind, first: str, second: str) -> float:
        """m(first, second)."""
        return self.judge(kind, first, [second])[0]

    def overlapping(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[bool]:
        """Whether what is the one may be each of the others as well, as far as a source knows."""
        decided = self._decided(kind, first, seconds)
        return [decided.get(word, 1.0) <= THRESHOLD for word in seconds]

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float]:
        """m(first, x) of each of the words; 0 of the word itself and of what no source knows."""
        decided = self._decided(kind, first, seconds)
        return [decided.get(word, 0.0) for word in seconds]

    def _decided(self, kind: Kind, first: str, seconds: Sequence[str]) -> dict[str, float]:
        decided: dict[str, float] = {first: 0.0}
        open_ = [word for word in dict.fromkeys(seconds) if word != first]
        for source in self.sources:
            if not open_:
                break
            judged = zip(open_, source.judge(kind, first, open_), strict=True)
            decided |= {word: verdict for word, verdict in judged if verdict is not None}
            open_ = [word for word in open_ if word not in decided]
        return decided


def overlap_for(
    schema: Schema,
    *,
    table: Path | None = None,
    wordnet: Path | None = None,
    nli: str | None = None,
) -> Overlap:
    """The user's table first, then the schema and our own tables, WordNet, an NLI model; as far as given."""
    sources: list[Source] = [read_table(table)] if table else []
    sources.append(Closed(schema) if schema.closed else Everyday(schema))
    if not schema.closed:
        sources += [Relations()]
        if wordnet:
            from .wordnet import WordNet

            sources.append(WordNet(wordnet))
        if nli:
            from .nli import NLI

            sources.append(NLI(nli))
    return Overlap(sources)


class Closed:
    """A closed schema: two values of one attribute exclude each other, a kind contains its values."""

    def __init__(self, schema: Schema) -> None:
        self._noun = noun_of(schema)
        self._inside: dict[tuple[str, str], frozenset[str]] = {
            (a.name, term): frozenset(dict(a.kinds).get(term, (term,)))
            for a in schema.attributes
            for term in a.terms
        }
        self._attributes = [a.name for a in schema.attributes if a.name != self._noun]

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind not in ("object", "attribute"):  # a thing can be left of another and in front of it
            return [1.0 if {first, second} in _OPPOSITE_SIDES else None for second in seconds]
        attributes = [self._noun] if kind == "object" else self._attributes
        return [self._one(attributes, first, second) for second in seconds]

    def _one(self, attributes: list[str], first: str, second: str) -> float | None:
        for attribute in attributes:
            one, other = self._inside.get((attribute, first)), self._inside.get((attribute, second))
            if one and other:
                return float(one.isdisjoint(other))
        known = [any((a, word) in self._inside for a in attributes) for word in (first, second)]
        return 0.0 if all(known) else None


class Everyday:
    """An open schema: nouns by what they contain, attributes by families of which a thing has one value."""

    def __init__(self, schema: Schema) -> None:
        kinds = [dict(a.kinds) for a in schema.attributes if a.name == "name"]
        self._inside: dict[str, frozenset[str]] = {}
        for found in kinds:
            for kind, members in found.items():
                self._inside[kind] = frozenset({kind, *members})
            for members in found.values():
                for member in members:
                    self._inside.setdefault(member, frozenset({member}))
        self._people = frozenset().union(*(self._inside.get(word, ()) for word in _PEOPLE))
        self._families: dict[str, set[int]] = {}
        for family, attribute in enumerate(schema.attributes):
            if attribute.name != "name":
                for value in attribute.values:
                    self._families.setdefault(value, set()).add(family)
        self._single = {k for k, a in enumerate(schema.attributes) if a.name in ONE_VALUED}

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind == "object":
            return self._nouns(first, seconds)
        if kind == "attribute":
            return self._words(first, seconds)
        return [None] * len(seconds)

    def _nouns(self, first: str, seconds: Sequence[str]) -> list[float | None]:
        one, lines, person = self._inside.get(first), _lines(first), first in self._people
        ends, longer = _ends(first), f" {first}"
        verdicts: list[float | None] = []
        for second in seconds:
            other = self._inside.get(second)
            if second in ends or second.endswith(longer) or (lines and not lines.isdisjoint(_lines(second))):
                verdicts.append(0.0)
            elif one is None or other is None:
                verdicts.append(None)
            elif not one.isdisjoint(other):
                verdicts.append(0.0)
            elif person and second in self._people:  # a man may be a player
                verdicts.append(float(any(self._opposite(first, second, *two) for two in _OPPOSITE_PEOPLE)))
            else:
                verdicts.append(1.0)
        return verdicts

    def _opposite(self, first: str, second: str, one: str, other: str) -> bool:
        sides = self._inside.get(one, frozenset()), self._inside.get(other, frozenset())
        return any(first in a and second in b for a, b in (sides, sides[::-1]))

    def _words(self, first: str, seconds: Sequence[str]) -> list[float | None]:
        one, near, apart = self._families.get(first), _NEAR.get(first, _NOTHING), _GROUPS.get(first)
        ends, longer = _ends(first), f" {first}"
        verdicts: list[float | None] = []
        for second in seconds:
            other = self._families.get(second)
            if second in ends or second.endswith(longer) or second in near:  # light green is green
                verdicts.append(0.0)
            elif apart and _apart(apart, _GROUPS.get(second)):
                verdicts.append(1.0)
            elif one is None or other is None:
                verdicts.append(None)
            else:
                verdicts.append(float(bool(one & other & self._single)))
        return verdicts


class Relations:
    """Everyday relations and modifiers; a specific one excludes a vague one, not the other way round."""

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind == "relation":
            return [relation_excludes(first, second) for second in seconds]
        if kind == "modifier":
            apart = _MODIFIERS.get(first)
            return [1.0 if _apart(apart, _MODIFIERS.get(second)) else None for second in seconds]
        return [None] * len(seconds)


class Said(NamedTuple):
    """A relation in parts: `sitting on top of` → sit, on top."""

    verb: str
    place: str


@lru_cache(maxsize=65_536)
def relation_excludes(first: str, second: str) -> float | None:
    """m of two relations as far as their verbs and prepositions tell."""
    one, other = _parts(first), _parts(second)
    if one == other:
        return 0.0 if any(one) else None
    if _apart(_ACTIONS.get(one.verb), _ACTIONS.get(other.verb)):
        return 1.0
    same_verb = one.verb == other.verb or not (one.verb and other.verb)
    if same_verb and frozenset((one.place, other.place)) in EXCLUSIVE_PLACES:
        return 1.0
    if other.place == "near" and other.verb not in AT_WORK:
        vague = one.place == "near" or not (one.verb in AT_WORK or one.place in TOUCHING)
        return 0.0 if vague else 1.0
    if one.place == "near":
        return 0.0
    return None


@lru_cache(maxsize=65_536)
def _parts(relation: str) -> Said:
    words = relation.removeprefix("pv:").lower().split()
    verb = _BASE.get(words[0], "") if words else ""
    rest = " ".join(words[1:] if verb else words)
    return Said(verb, PLACES.get(rest, ""))


Groups = dict[int, int]  # line of a table → the group there that the word is in


def _groups(table: Sequence[Sequence[Sequence[str] | frozenset[str]]]) -> dict[str, Groups]:
    found: dict[str, Groups] = {}
    for line, groups in enumerate(table):
        for group, words in enumerate(groups):
            for word in words:
                found.setdefault(word, {})[line] = group
    return found


def _apart(one: Groups | None, other: Groups | None) -> bool:
    """Whether two words stand in different groups of some line."""
    if not one or not other:
        return False
    return any(other.get(line, group) != group for line, group in one.items())


def _ends(words: str) -> tuple[str, ...]:
    """What is left of several words without the first ones: a picnic table is a table."""
    return tuple(words[k + 1 :] for k, letter in enumerate(words) if letter == " ")


@lru_cache(maxsize=65_536)
def _lines(noun: str) -> frozenset[int]:
    """The lines of overlapping nouns that have this one, or what it is the plural of."""
    for ending in ("", "es", "s"):
        if noun.endswith(ending) and (base := noun.removesuffix(ending)) in _NOUNS:
            return frozenset(k for k, line in enumerate(OVERLAPPING_NOUNS) if base in line)
    return frozenset()


_NOTHING: frozenset[str] = frozenset()
_NOUNS = frozenset(word for line in OVERLAPPING_NOUNS for word in line)
_NEAR = {
    word: frozenset(other for line in OVERLAPPING if word in line for other in line)
    for words in OVERLAPPING
    for word in words
}
_GROUPS = _groups(EXCLUSIVE_WORDS)
_ACTIONS = _groups(EXCLUSIVE_VERBS)
_MODIFIERS = _groups(EXCLUSIVE_MODIFIERS)
_BASE = {form: base for base, doing in VERBS.items() for form in (base, doing)}


class Table:
    """A user's own verdicts; a pair given in one direction only is meant that way."""

    def __init__(self, verdicts: dict[tuple[str, str, str], float]) -> None:
        self._verdicts = verdicts

    def judge(self, kind: Kind, first: str, seconds: Sequence[str]) -> list[float | None]:
        return [self._verdicts.get((kind, first, second)) for second in seconds]


def read_table(path: Path) -> Table:
    """A CSV file: first, second, type (object, attribute, …), exclusive (from 0 to 1, or yes, no)."""
    try:
        text = _json.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start})") from None
    rows = csv.reader(io.StringIO(text, newline=""))
    if tuple(word.strip() for word in next(rows, ())) != COLUMNS:
        raise UserError(f"{path}: expected the columns {','.join(COLUMNS)}")
    verdicts: dict[tuple[str, str, str], float] = {}
    for at, row in enumerate(rows, 2):
        if not row:
            continue
        if len(row) != len(COLUMNS):
            raise UserError(f"{path}: line {at}: expected {len(COLUMNS)} columns, came {len(row)}")
        first, second, kind, exclusive = (word.strip() for word in row)
        if kind not in KINDS:
            raise UserError(f"{path}: line {at}: the type is one of {', '.join(KINDS)}, not {kind!r}")
        if (kind, first, second) in verdicts:
            raise UserError(f"{path}: line {at}: {first!r} and {second!r} come twice")
        verdicts[kind, first, second] = _probability(exclusive, path, at)
    return Table(verdicts)


def _probability(text: str, path: Path, at: int) -> float:
    said = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get(text.lower())
    try:
        value = float(text) if said is None else said
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UserError(f"{path}: line {at}: exclusive is yes, no or a number from 0 to 1, not {text!r}")
    return value
