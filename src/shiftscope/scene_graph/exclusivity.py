"""Mutual exclusivity m(x1, x2): how surely a thing that is x2 is not x1 as well.

Sources are consulted in order (a user's table, the schema and word tables, WordNet, an NLI model): the first that
knows decides; what none knows is taken to overlap, so that a distractor is never one by ignorance. For relations m is
not symmetric: "near" is not what one says of who rides, so it may replace "riding", but who is near may well ride.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..english.inflection import article, list_singulars
from ..english.word_lists import word_groups, word_set, word_table
from ..errors import UserError
from ..files import read_bytes
from ..schema import Schema
from ..trust_remote_code import load_options, refuse_untrusted, weight_load_options
from .noun_table import UNKNOWN, KnownNoun, NounTable, Verdicts
from .pack import get_noun_attribute
from .relation_exclusivity import RelationSource, WordGroups, are_apart, find_acts, index_groups
from .subgraph import NODE_KINDS, NodeKind
from .wordnet import WordNet, load_wordnet

MOST_NOUNS = 20_000  # that are compared all at once
THRESHOLD = 0.5  # above it, one word may stand in for another
COLUMNS = ("first", "second", "type", "exclusive")
_PEOPLE = ("person", "people")
_OPPOSITE_SIDES = ({"left", "right"}, {"front", "behind"})
ONE_VALUED = word_set("exclusivity", "one valued")
OVERLAPPING_NOUNS = tuple(map(frozenset, (words for (words,) in word_groups("exclusivity", "overlapping nouns"))))


class ExclusivitySource(Protocol):
    """Judges how surely each of the second words excludes the first; None where it does not know."""

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]: ...


class MutualExclusivity:
    """All sources as one."""

    def __init__(self, sources: Iterable[ExclusivitySource]) -> None:
        self.sources = tuple(sources)

    @property
    def is_cheap(self) -> bool:
        """Whether all sources look words up; none asks a model."""
        known = UserTableSource, ClosedSchemaSource, OpenSchemaSource, RelationSource, WordNet
        return all(isinstance(source, known) for source in self.sources)

    def get_exclusivity(self, kind: NodeKind, first: str, second: str, target: str = "") -> float:
        return self.score_exclusivity(kind, first, [second], target)[0]

    def find_overlaps(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[bool]:
        """Whether what is the one may be each of the others as well, as far as a source knows."""
        decided = self._decide(kind, first, seconds)
        return [decided.get(word, 1.0) <= THRESHOLD for word in seconds]

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = "") -> list[float]:
        """m(first, x) of each of the words; 0 of the word itself and of what no source knows.

        Of relations, `target` is the name of the thing that they lead to, if there is one.
        """
        decided = self._decide(kind, first, seconds, target)
        return [decided.get(word, 0.0) for word in seconds]

    def judge_nouns(self, names: Sequence[str]) -> Callable[[str], Verdicts] | None:
        """What says of a noun which of these exclude it; None where our tables are not asked first, or of too many."""
        first, *others = self.sources or (None,)
        if not isinstance(first, OpenSchemaSource) or len(names) > MOST_NOUNS:
            return None
        last = all(isinstance(source, RelationSource) for source in others)  # who says nothing of nouns
        return NounTable(names, first.describe_noun, _VAGUE_NOUNS, _WHOLE_KINDS, unknown=0 if last else UNKNOWN).judge

    def _decide(self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = "") -> dict[str, float]:
        decided: dict[str, float] = {first: 0.0}
        open_ = [word for word in dict.fromkeys(seconds) if word != first]
        for source in self.sources:
            if not open_:
                break
            asked, open_ = open_, []
            for word, verdict in zip(asked, source.score_exclusivity(kind, first, asked, target), strict=True):
                if verdict is None:
                    open_.append(word)
                else:
                    decided[word] = verdict
        return decided


def build_exclusivity(
    schema: Schema, *, table: Path | None = None, wordnet: Path | None = None, nli: str | None = None
) -> MutualExclusivity:
    """The user's table first, then the schema and our own tables, WordNet, an NLI model; as far as given."""
    sources: list[ExclusivitySource] = [read_exclusivity_table(table)] if table else []
    if schema.closed:
        return MutualExclusivity([*sources, ClosedSchemaSource(schema)])
    known = load_wordnet(wordnet) if wordnet else None
    sources += [OpenSchemaSource(schema, known), RelationSource(), *([known] if known else ())]
    return MutualExclusivity([*sources, NLI(nli)] if nli else sources)


class ClosedSchemaSource:
    """A closed schema: two values of one attribute exclude each other, a kind contains its values."""

    def __init__(self, schema: Schema) -> None:
        self._noun = get_noun_attribute(schema)
        self._inside: dict[tuple[str, str], frozenset[str]] = {
            (a.name, term): frozenset(dict(a.kinds).get(term, (term,))) for a in schema.attributes for term in a.terms
        }
        self._attributes = [a.name for a in schema.attributes if a.name != self._noun]

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]:
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

    def __init__(self, schema: Schema, wordnet: WordNet | None = None) -> None:
        self._wordnet = wordnet
        kinds = {kind: members for a in schema.attributes if a.name == "name" for kind, members in a.kinds}
        self._inside = {member: frozenset({member}) for members in kinds.values() for member in members}
        self._inside |= {kind: frozenset({kind, *members}) for kind, members in kinds.items()}
        self._people = frozenset().union(*(self._inside.get(word, ()) for word in _PEOPLE))
        self.describe_noun = cache(self._describe_noun)
        self._describe_word = cache(self._list_what_is_known)
        self._families: dict[str, set[int]] = {}
        for family, attribute in enumerate(schema.attributes):
            if attribute.name != "name":
                for value in attribute.values:
                    self._families.setdefault(value, set()).add(family)
        self._single = {k for k, a in enumerate(schema.attributes) if a.name in ONE_VALUED}

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]:
        if kind == "object":
            return self._score_nouns(first, seconds)
        if kind == "attribute":
            return self._score_words(first, seconds)
        return [None] * len(seconds)

    def _score_nouns(self, first: str, seconds: Sequence[str]) -> list[float | None]:
        return [self._compare_nouns(first, second) for second in seconds]

    def _compare_nouns(self, first: str, second: str) -> float | None:
        one, other = self.describe_noun(first), self.describe_noun(second)
        vague = first in _VAGUE_NOUNS or second in _VAGUE_NOUNS
        if (
            vague
            or first.endswith(other.endings)
            or second.endswith(one.endings)
            or not one.lines.isdisjoint(other.lines)
        ):
            return 0.0
        if not one.inside or not other.inside or (one.head == other.head and not one.own & other.own):
            return None
        if not one.inside.isdisjoint(other.inside):
            return 0.0
        if not {one.head, other.head}.isdisjoint(_WHOLE_KINDS):
            return None
        if one.sides and other.sides:  # of persons: a man may be a player, but no woman
            return float(any((line, 1 - side) in other.sides for line, side in one.sides))
        return 1.0

    def _describe_noun(self, name: str) -> KnownNoun:
        """What the schema and our tables know of a name, or else of its last words: a city bus is a bus."""
        listed = self._wordnet is not None and " " in name and self._wordnet.has_noun(name)  # a home plate is no plate
        heads = (name,) if listed else _iter_endings(name)
        head = next((end for end in heads if end in self._inside or _find_lines(end)), name)
        kind = _WHOLE_KINDS.get(head)
        inside = self._inside.get(head, frozenset()) | (self._inside.get(kind, frozenset()) if kind else frozenset())
        sides = frozenset[tuple[int, int]]()
        if head in self._people:
            sides = frozenset(
                (line, side)
                for line, groups in enumerate(_OPPOSITE_PEOPLE)
                for side, words in enumerate(groups)
                if any(head in self._inside.get(word, ()) for word in words)
            ) or frozenset({(-1, 0)})
        endings = tuple(f" {form}" for form in (name, *list_singulars(name)))
        return KnownNoun(head, head == name, inside, _find_lines(head), sides, endings)

    def _score_words(self, first: str, seconds: Sequence[str]) -> list[float | None]:
        near, spaced = _NEAR.get(first, ()), " " in first
        tail, hues, groups, acts, families = self._describe_word(first)
        single = families & self._single if families else set()
        verdicts: list[float | None] = []
        for second in seconds:
            its_tail, its_hues, its_groups, its_acts, its_families = self._describe_word(second)
            # Light green is green.
            if second in near or second.endswith(tail) or (spaced and first.endswith(its_tail)):
                verdicts.append(0.0)
            elif hues and its_hues:
                verdicts.append(float(hues.isdisjoint(its_hues) or _are_opposite_shades(first, second)))
            elif (groups and are_apart(groups, its_groups)) or (acts and are_apart(acts, its_acts)):
                verdicts.append(1.0)
            elif families is None or its_families is None:
                verdicts.append(None)
            else:
                verdicts.append(float(not single.isdisjoint(its_families)))
        return verdicts

    def _list_what_is_known(self, word: str) -> "KnownWord":
        return KnownWord(f" {word}", find_hues(word), _GROUPS.get(word), find_acts(word), self._families.get(word))


class KnownWord(NamedTuple):
    """What is known of an attribute."""

    tail: str  # of longer attributes that say the same
    hues: frozenset[str]
    groups: WordGroups | None
    acts: WordGroups | None
    families: set[int] | None  # the schema's attributes that have this value


def _iter_endings(name: str) -> Iterator[str]:
    """The name, then what is left without its first word, and so on; of a slice of pizza, that of the slice."""
    words = name.partition(" of ")[0].split() if " of " in name else name.split()
    return (" ".join(words[start:]) for start in range(len(words)))


@lru_cache(maxsize=65_536)
def _find_lines(noun: str) -> frozenset[int]:
    """The lines of overlapping nouns that have this one, or what it is the plural of."""
    for ending in ("", "es", "s"):
        if noun.endswith(ending) and (base := noun.removesuffix(ending)) in _NOUNS:
            return frozenset(k for k, line in enumerate(OVERLAPPING_NOUNS) if base in line)
    return frozenset()


@lru_cache(maxsize=16_384)
def find_hues(word: str) -> frozenset[str]:
    """The hues that something of this color may be called; none where it is no color."""
    plain = word.removesuffix(" colored").removesuffix("-colored")
    if found := _HUES.get(word) or _HUES.get(plain):
        return found
    shade, _, hue = plain.rpartition(" ")
    if " and " in plain:
        both = [find_hues(part) for part in plain.split(" and ")]
        return frozenset[str]().union(*both) if all(both) else frozenset()
    return _HUES.get(hue, frozenset()) if shade.removesuffix("er") in COLOR_SHADES else frozenset()


def _are_opposite_shades(first: str, second: str) -> bool:
    return are_apart(_SHADES.get(first.partition(" ")[0]), _SHADES.get(second.partition(" ")[0]))


_NOUNS = frozenset[str]().union(*OVERLAPPING_NOUNS)
_VAGUE_NOUNS = word_set("exclusivity", "vague nouns")
_WHOLE_KINDS = {noun: kind for noun, (kind,) in word_table("exclusivity", "everything of a kind").items()}
_OPPOSITE_PEOPLE = word_groups("exclusivity", "opposite people")
_NEAR: dict[str, set[str]] = {}
for (_words,) in word_groups("exclusivity", "overlapping"):
    for _word in _words:
        _NEAR.setdefault(_word, set()).update(_words)
_GROUPS = index_groups("exclusive")
_SHADES = index_groups("opposite shades")
_HUES = {color: frozenset(hues) for color, hues in word_table("exclusivity", "hues").items()}
COLOR_SHADES = word_set("adjectives", "color shades")


class UserTableSource:
    """A user's own verdicts; a pair given in one direction only is meant that way."""

    def __init__(self, verdicts: dict[tuple[str, str, str], float]) -> None:
        self._verdicts = verdicts

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]:
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

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]:
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
