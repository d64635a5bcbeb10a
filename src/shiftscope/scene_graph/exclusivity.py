"""Mutual exclusivity m(x1, x2): how surely a thing that is x2 is not x1 as well.

Sources are consulted in order (a user's table, the schema and word tables, WordNet, an NLI model): the first that
knows decides; what none knows is taken to overlap, so that a distractor is never one by ignorance. For relations m is
not symmetric: "near" is not what one says of who rides, so it may replace "riding", but who is near may well ride.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

from ..english.inflection import article
from ..english.word_lists import word_groups, word_pairs, word_set, word_table
from ..errors import UserError
from ..files import read_bytes
from ..schema import Schema
from ..trust_remote_code import load_options, refuse_untrusted, weight_load_options
from .pack import get_noun_attribute
from .subgraph import NODE_KINDS, NodeKind

THRESHOLD = 0.5  # above it, one word may stand in for another
COLUMNS = ("first", "second", "type", "exclusive")
_PEOPLE = ("person", "people")
_OPPOSITE_SIDES = ({"left", "right"}, {"front", "behind"})
ONE_VALUED = word_set("exclusivity", "one valued")
OVERLAPPING_NOUNS = tuple(map(frozenset, (words for (words,) in word_groups("exclusivity", "overlapping nouns"))))
PLACES = {name: place for place, names in word_table("exclusivity", "places").items() for name in names}
EXCLUSIVE_PLACES = {frozenset(one + other) for one, other in word_groups("exclusivity", "exclusive places")}
TOUCHING = word_set("exclusivity", "touching")
AT_WORK = word_set("exclusivity", "at work")
_OPPOSITE_PEOPLE = (("man", "woman"), ("boy", "girl"), ("boy", "woman"), ("girl", "man"), ("baby", "man"))


class ExclusivitySource(Protocol):
    """Judges how surely each of the second words excludes the first; None where it does not know."""

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]: ...


class MutualExclusivity:
    """All sources as one."""

    def __init__(self, sources: Iterable[ExclusivitySource]) -> None:
        self.sources = tuple(sources)

    def get_exclusivity(self, kind: NodeKind, first: str, second: str) -> float:
        return self.score_exclusivity(kind, first, [second])[0]

    def find_overlaps(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[bool]:
        """Whether what is the one may be each of the others as well, as far as a source knows."""
        decided = self._decide(kind, first, seconds)
        return [decided.get(word, 1.0) <= THRESHOLD for word in seconds]

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float]:
        """m(first, x) of each of the words; 0 of the word itself and of what no source knows."""
        decided = self._decide(kind, first, seconds)
        return [decided.get(word, 0.0) for word in seconds]

    def _decide(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> dict[str, float]:
        decided: dict[str, float] = {first: 0.0}
        open_ = [word for word in dict.fromkeys(seconds) if word != first]
        for source in self.sources:
            if not open_:
                break
            judged = zip(open_, source.score_exclusivity(kind, first, open_), strict=True)
            decided |= {word: verdict for word, verdict in judged if verdict is not None}
            open_ = [word for word in open_ if word not in decided]
        return decided


def build_exclusivity(
    schema: Schema, *, table: Path | None = None, wordnet: Path | None = None, nli: str | None = None
) -> MutualExclusivity:
    """The user's table first, then the schema and our own tables, WordNet, an NLI model; as far as given."""
    sources: list[ExclusivitySource] = [read_exclusivity_table(table)] if table else []
    if schema.closed:
        return MutualExclusivity([*sources, ClosedSchemaSource(schema)])
    sources += [OpenSchemaSource(schema), RelationSource()]
    if wordnet:
        from .wordnet import WordNet

        sources.append(WordNet(wordnet))
    return MutualExclusivity([*sources, NLI(nli)] if nli else sources)


class ClosedSchemaSource:
    """A closed schema: two values of one attribute exclude each other, a kind contains its values."""

    def __init__(self, schema: Schema) -> None:
        self._noun = get_noun_attribute(schema)
        self._inside: dict[tuple[str, str], frozenset[str]] = {
            (a.name, term): frozenset(dict(a.kinds).get(term, (term,))) for a in schema.attributes for term in a.terms
        }
        self._attributes = [a.name for a in schema.attributes if a.name != self._noun]

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind not in ("object", "attribute"):  # a thing can be left of another and in front of it
            return [1.0 if {first, second} in _OPPOSITE_SIDES else None for second in seconds]
        attributes = [self._noun] if kind == "object" else self._attributes
        return [self._compare_values(attributes, first, second) for second in seconds]

    def _compare_values(self, attributes: list[str], first: str, second: str) -> float | None:
        for attribute in attributes:
            one, other = self._inside.get((attribute, first)), self._inside.get((attribute, second))
            if one and other:
                return float(one.isdisjoint(other))
        known = [any((a, word) in self._inside for a in attributes) for word in (first, second)]
        return 0.0 if all(known) else None


class OpenSchemaSource:
    """An open schema: nouns by what they contain, attributes by families of which a thing has one value."""

    def __init__(self, schema: Schema) -> None:
        kinds = {kind: members for a in schema.attributes if a.name == "name" for kind, members in a.kinds}
        self._inside = {member: frozenset({member}) for members in kinds.values() for member in members}
        self._inside |= {kind: frozenset({kind, *members}) for kind, members in kinds.items()}
        self._people = frozenset().union(*(self._inside.get(word, ()) for word in _PEOPLE))
        self._families: dict[str, set[int]] = {}
        for family, attribute in enumerate(schema.attributes):
            if attribute.name != "name":
                for value in attribute.values:
                    self._families.setdefault(value, set()).add(family)
        self._single = {k for k, a in enumerate(schema.attributes) if a.name in ONE_VALUED}

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind == "object":
            return self._score_nouns(first, seconds)
        if kind == "attribute":
            return self._score_words(first, seconds)
        return [None] * len(seconds)

    def _score_nouns(self, first: str, seconds: Sequence[str]) -> list[float | None]:
        one, lines, person = self._inside.get(first), _find_lines(first), first in self._people
        verdicts: list[float | None] = []
        for second in seconds:
            other = self._inside.get(second)
            if _is_ending(first, second) or (lines and not lines.isdisjoint(_find_lines(second))):
                verdicts.append(0.0)
            elif one is None or other is None:
                verdicts.append(None)
            elif not one.isdisjoint(other):
                verdicts.append(0.0)
            elif person and second in self._people:  # a man may be a player
                sides = [tuple(self._inside.get(word, frozenset()) for word in two) for two in _OPPOSITE_PEOPLE]
                opposite = any((first in a and second in b) or (first in b and second in a) for a, b in sides)
                verdicts.append(float(opposite))
            else:
                verdicts.append(1.0)
        return verdicts

    def _score_words(self, first: str, seconds: Sequence[str]) -> list[float | None]:
        one, near, apart = self._families.get(first), _NEAR.get(first, ()), _GROUPS.get(first)
        verdicts: list[float | None] = []
        for second in seconds:
            other = self._families.get(second)
            if _is_ending(first, second) or second in near:  # light green is green
                verdicts.append(0.0)
            elif apart and _are_apart(apart, _GROUPS.get(second)):
                verdicts.append(1.0)
            elif one is None or other is None:
                verdicts.append(None)
            else:
                verdicts.append(float(bool(one & other & self._single)))
        return verdicts


class RelationSource:
    """Everyday relations and modifiers; a specific one excludes a vague one, not the other way round."""

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind == "relation":
            return [score_relations(first, second) for second in seconds]
        if kind == "modifier":
            apart = _MODIFIERS.get(first)
            return [1.0 if _are_apart(apart, _MODIFIERS.get(second)) else None for second in seconds]
        return [None] * len(seconds)


@lru_cache(maxsize=65_536)
def score_relations(first: str, second: str) -> float | None:
    """m of two relations as far as their verbs and prepositions tell."""
    (verb, place), (other_verb, other_place) = _split_relation(first), _split_relation(second)
    if (verb, place) == (other_verb, other_place):
        return 0.0 if verb or place else None
    if _are_apart(_ACTIONS.get(verb), _ACTIONS.get(other_verb)):
        return 1.0
    same_verb = verb == other_verb or not (verb and other_verb)
    if same_verb and frozenset((place, other_place)) in EXCLUSIVE_PLACES:
        return 1.0
    if other_place == "near" and other_verb not in AT_WORK:
        vague = place == "near" or not (verb in AT_WORK or place in TOUCHING)
        return 0.0 if vague else 1.0
    return 0.0 if place == "near" else None


@lru_cache(maxsize=65_536)
def _split_relation(relation: str) -> tuple[str, str]:
    """Verb and place: `sitting on top of` → sit, on top."""
    words = relation.removeprefix("pv:").lower().split()
    verb = _BASE.get(words[0], "") if words else ""
    return verb, PLACES.get(" ".join(words[1:] if verb else words), "")


WordGroups = dict[int, int]  # line of a table → the group there that the word is in


def _index_groups(section: str) -> dict[str, WordGroups]:
    found: dict[str, WordGroups] = {}
    for line, groups in enumerate(word_groups("exclusivity", section)):
        for group, words in enumerate(groups):
            for word in words:
                found.setdefault(word, {})[line] = group
    return found


def _are_apart(one: WordGroups | None, other: WordGroups | None) -> bool:
    """Whether two words stand in different groups of some line."""
    if not one or not other:
        return False
    return any(other.get(line, group) != group for line, group in one.items())


def _is_ending(first: str, second: str) -> bool:
    """Whether one is the last words of the other: a picnic table is a table."""
    return first.endswith(f" {second}") or second.endswith(f" {first}")


@lru_cache(maxsize=65_536)
def _find_lines(noun: str) -> frozenset[int]:
    """The lines of overlapping nouns that have this one, or what it is the plural of."""
    for ending in ("", "es", "s"):
        if noun.endswith(ending) and (base := noun.removesuffix(ending)) in _NOUNS:
            return frozenset(k for k, line in enumerate(OVERLAPPING_NOUNS) if base in line)
    return frozenset()


_NOUNS = frozenset[str]().union(*OVERLAPPING_NOUNS)
_NEAR: dict[str, set[str]] = {}
for (_words,) in word_groups("exclusivity", "overlapping"):
    for _word in _words:
        _NEAR.setdefault(_word, set()).update(_words)
_GROUPS = _index_groups("exclusive")
_ACTIONS = _index_groups("exclusive verbs")
_MODIFIERS = _index_groups("exclusive modifiers")
_BASE = {form: base for pair in word_pairs("exclusivity", "verbs").items() for base, form in ((pair[0], pair[0]), pair)}


class UserTableSource:
    """A user's own verdicts; a pair given in one direction only is meant that way."""

    def __init__(self, verdicts: dict[tuple[str, str, str], float]) -> None:
        self._verdicts = verdicts

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]:
        return [self._verdicts.get((kind, first, second)) for second in seconds]


def read_exclusivity_table(path: Path) -> UserTableSource:
    """A CSV file: first, second, type (object, attribute, …), exclusive (from 0 to 1, or yes, no)."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
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
            raise UserError(f"{path}: line {at}: expected {len(COLUMNS)} columns, got {len(row)}")
        first, second, kind, exclusive = (word.strip() for word in row)
        if kind not in NODE_KINDS:
            raise UserError(f"{path}: line {at}: the type is one of {', '.join(NODE_KINDS)}, not {kind!r}")
        if (kind, first, second) in verdicts:
            raise UserError(f"{path}: line {at}: {first!r} and {second!r} come twice")
        value = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get(exclusive.lower(), -1.0)
        if value < 0:
            with suppress(ValueError):
                value = float(exclusive)
        if not 0 <= value <= 1:
            raise UserError(f"{path}: line {at}: exclusive is yes, no or a number from 0 to 1, not {exclusive!r}")
        verdicts[kind, first, second] = value
    return UserTableSource(verdicts)


# An NLI model of the user's: does "There is a cat." contradict "There is a dog."? Any transformers model with a label
# called contradiction will do; one trained on word pairs does better.

BATCH = 64
CONTRADICTION = "contradiction"


def build_sentence(kind: NodeKind, word: str) -> str:
    if kind == "object":
        return f"There is {article(word)} {word}."
    if kind == "attribute":
        return f"It is {word}."
    return f"One thing is {word} the other."


class NLI:
    """A model and its tokenizer, from a folder or a name that `from_pretrained` opens."""

    def __init__(self, name: str) -> None:
        try:
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError:
            raise UserError("an NLI model needs torch and transformers: pip install 'shiftscope[models]'") from None
        refuse_untrusted(name, "name another model")
        try:
            self._tokens: Any = AutoTokenizer.from_pretrained(name, **load_options())
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(name, **weight_load_options()).eval()
        except Exception as error:  # of a library that meets a folder it was not made for
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UserError(f"{name!r} is no text classifier that opens here ({why})") from None
        labels = {str(label).lower(): int(k) for k, label in self._model.config.id2label.items()}
        if CONTRADICTION not in labels:
            raise UserError(f"{name!r} is no NLI model: none of its labels is {CONTRADICTION!r}")
        self._label = labels[CONTRADICTION]
        self._judge = cache(self._score_batch)

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]:
        verdicts: list[float | None] = []
        for start in range(0, len(seconds), BATCH):
            verdicts += self._judge(kind, first, tuple(seconds[start : start + BATCH]))
        return verdicts

    def _score_batch(self, kind: NodeKind, first: str, seconds: tuple[str, ...]) -> list[float]:
        import torch

        premises = [build_sentence(kind, second) for second in seconds]
        hypotheses = [build_sentence(kind, first)] * len(seconds)
        tokens = self._tokens(premises, hypotheses, return_tensors="pt", padding=True, truncation=True)
        with torch.inference_mode():
            probabilities = self._model(**tokens).logits.softmax(-1)[:, self._label]
        scores: list[float] = probabilities.tolist()
        return scores
