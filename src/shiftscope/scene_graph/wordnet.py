"""WordNet: which nouns are synonyms or wider words of another, which adjectives are opposites.

Debian's package `wordnet-base` puts its files under /usr/share/wordnet. Synsets are read one by one, as
words that are looked up lead to them.
"""

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from ..english.inflection import list_singulars
from ..errors import UserError
from ..files import read_whole
from .subgraph import NodeKind

FOLDER = Path("/usr/share/wordnet")
SENSES = 3  # of a word, the most frequent ones
Pos = Literal["noun", "adj"]
_LETTERS: dict[str, Pos] = {"n": "noun", "a": "adj", "s": "adj"}
_WIDER = ("@", "@i")


class Synset(NamedTuple):
    words: tuple[str, ...]
    pointers: tuple[tuple[str, Pos, int], ...]  # (symbol, part of speech, offset)

    def follow_pointers(self, *symbols: str) -> Iterator[tuple[Pos, int]]:
        return ((pos, offset) for symbol, pos, offset in self.pointers if symbol in symbols)


class WordNetNoun(NamedTuple):
    """What is known of a noun phrase."""

    senses: frozenset[int]
    wider: frozenset[int]  # all that its senses are kinds of, themselves included
    person: bool
    opposites: frozenset[int]  # of its senses and of what these are kinds of


class WordNet:
    """A source of verdicts about objects and attributes; it has no prepositions, so none about relations."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._data: dict[Pos, bytes] = {}
        self._index: dict[Pos, dict[str, str]] = {}
        self._plurals: dict[str, str] = {}
        try:
            for pos in ("noun", "adj"):
                self._data[pos] = read_whole(folder / f"data.{pos}")
                lines = read_whole(folder / f"index.{pos}").decode().splitlines()
                self._index[pos] = {line.partition(" ")[0]: line for line in lines if line[:1] != " "}
            for line in read_whole(folder / "noun.exc").decode().splitlines():
                irregular, *base = line.split()
                self._plurals.setdefault(irregular, base[0])
        except FileNotFoundError:
            raise UserError(
                f"WordNet is not in {folder}: apt-get install wordnet-base, or name the folder with its files"
            ) from None
        except (OSError, UnicodeDecodeError, ValueError, IndexError) as error:
            raise UserError(f"{folder}: these are not WordNet's files ({error})") from None
        self._folder = folder
        self.noun = cache(self._find_noun)
        self.synset = cache(self._read_synset)
        self._wider = cache(self._find_wider)
        self._cluster = cache(self._find_cluster)
        self._colors = cache(self._find_colors)

    def score_exclusivity(self, kind: NodeKind, first: str, seconds: Sequence[str]) -> list[float | None]:
        if kind == "object":
            return [self._score_nouns(first, second) for second in seconds]
        if kind == "attribute":
            return [self._score_adjectives(first, second) for second in seconds]
        return [None] * len(seconds)

    def _score_nouns(self, first: str, second: str) -> float | None:
        one, other = self.noun(first), self.noun(second)
        if one is None or other is None:
            return None
        if not one.senses.isdisjoint(other.wider) or not other.senses.isdisjoint(one.wider):
            return 0.0
        if one.person and other.person:  # a man may be a player, but no woman
            return float(not one.opposites.isdisjoint(other.wider))
        return 1.0

    def _score_adjectives(self, first: str, second: str) -> float | None:
        """Two colors of different hues, or opposites themselves: what is like an opposite may be both."""
        one, other = (frozenset(self.find_senses(word, "adj")) for word in (first, second))
        if one & other:
            return 0.0
        hues, other_hues = self._colors(first), self._colors(second)
        if hues and other_hues:  # before adjectives: there, all colours are like one another
            above = self._wider(self._color) | self._wider(self._gray)  # what all colors are
            return float((hues - above).isdisjoint(other_hues - above))
        near, other_near = self._cluster(first), self._cluster(second)
        if self._find_opposites(one) & other or self._find_opposites(other) & one:
            return 1.0
        return 0.0 if near & other_near else None

    def _find_opposites(self, senses: frozenset[int]) -> frozenset[int]:
        return frozenset(o for sense in senses for _, o in self.synset("adj", sense).follow_pointers("!"))

    def find_senses(self, word: str, pos: Pos) -> tuple[int, ...]:
        """The offsets of a word's most frequent synsets."""
        fields = self._index[pos].get(word.lower().replace(" ", "_"), "").split()
        return tuple(int(offset) for offset in fields[len(fields) - int(fields[2]) :][:SENSES]) if fields else ()

    def find_base(self, phrase: str) -> str | None:
        """The phrase in the singular, or its last words, as far as WordNet has them."""
        words = phrase.lower().split()
        for start in range(len(words)):
            *head, last = words[start:]
            irregular = [self._plurals[last]] if last in self._plurals else []
            for singular in (last, *irregular, *list_singulars(last)):
                if "_".join([*head, singular]) in self._index["noun"]:
                    return " ".join([*head, singular])
        return None

    def _find_noun(self, phrase: str) -> WordNetNoun | None:
        base = self.find_base(phrase)
        if base is None:
            return None
        senses = self.find_senses(base, "noun")
        wider = frozenset[int]().union(*map(self._wider, senses))
        first = self._wider(senses[0])
        opposites = (o for sense in first for _, o in self.synset("noun", sense).follow_pointers("!"))
        return WordNetNoun(frozenset(senses), wider, self._person in first, frozenset(opposites))

    _person = cached_property(lambda self: self.find_senses("person", "noun")[0])
    _color = cached_property(lambda self: self.find_senses("chromatic color", "noun")[0])
    _gray = cached_property(lambda self: self.find_senses("achromatic color", "noun")[0])

    def _find_wider(self, sense: int) -> frozenset[int]:
        """What a sense is a kind of, itself included."""
        found = {sense}
        for _, offset in self.synset("noun", sense).follow_pointers(*_WIDER):
            found |= self._wider(offset)
        return frozenset(found)

    def _find_colors(self, word: str) -> frozenset[int]:
        """All that those senses of a word are shades of that are colours, themselves included."""
        senses = map(self._wider, self.find_senses(word, "noun"))
        return frozenset[int]().union(*(wider for wider in senses if {self._color, self._gray} & wider))

    def _find_cluster(self, word: str) -> frozenset[int]:
        """The adjective synsets a word is in, or is similar to where it has no opposite of its own."""
        near: set[int] = set()
        for sense in self.find_senses(word, "adj"):
            near.add(sense)
            if not self._find_opposites(frozenset((sense,))):
                near.update(o for _, o in self.synset("adj", sense).follow_pointers("&"))
        return frozenset(near)

    def _read_synset(self, pos: Pos, offset: int) -> Synset:
        data = self._data[pos]
        line = data[offset : data.index(b"\n", offset)].decode()
        try:
            fields = line.partition("|")[0].split()
            count = int(fields[3], 16)
            at = 4 + 2 * count
            pointers = []
            for k in range(int(fields[at])):
                symbol, where, letter, _ = fields[at + 1 + 4 * k : at + 5 + 4 * k]
                if letter in _LETTERS:
                    pointers.append((symbol, _LETTERS[letter], int(where)))
            return Synset(tuple(fields[4:at:2]), tuple(pointers))
        except (IndexError, ValueError):
            raise UserError(f"{self._folder}: data.{pos} has no synset at {offset}") from None
