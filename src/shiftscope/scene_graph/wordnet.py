"""WordNet: which nouns are synonyms or wider words of another, which adjectives are opposites.

The part that tells this comes with the package: `data/wordnet.npz`, which `tools/wordnet.py` makes of WordNet 3.0;
Princeton's licence is beside it. A folder with WordNet's own files may stand in for it.
"""

import io
import zipfile
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..english.inflection import list_singulars
from ..errors import UserError
from ..files import digest_of, file_digest, read_whole
from .subgraph import NodeKind

SHIPPED = Path(__file__).parent / "data" / "wordnet.npz"
SENSES = 3  # of a word, the most frequent ones
FEWEST_LETTERS = 3  # of either part of a word written in one
Pos = Literal["noun", "adj"]
POINTERS: dict[Pos, dict[str, str]] = {  # by part of speech: what leads on within it, and WordNet's symbols
    "noun": {"@": "wider", "@i": "wider", "!": "opposite"},
    "adj": {"&": "similar", "!": "opposite"},
}
Arrays = dict[str, NDArray[Any]]  # as they are stored


class WordNetNoun(NamedTuple):
    """What is known of a noun phrase."""

    senses: frozenset[int]
    wider: frozenset[int]  # all that its senses are kinds of, themselves included
    person: bool
    opposites: frozenset[int]  # of its senses and of what these are kinds of


class WordNet:
    """A source of verdicts about objects and attributes; it has no prepositions, so none about relations."""

    def __init__(self, path: Path = SHIPPED) -> None:
        arrays = read_folder(path) if path.suffix != SHIPPED.suffix else _load(path)
        self._words = {pos: {w: k for k, w in enumerate(_unpack_text(arrays[f"{pos}_words"]))} for pos in POINTERS}
        self._lists = {name: _NumberLists.unpack(arrays, name) for name in arrays if f"{name}_counts" in arrays}
        self._plurals = dict(line.split() for line in _unpack_text(arrays["plurals"]))
        self.noun = cache(self._find_noun)
        self._wider = cache(self._find_wider)
        self._cluster = cache(self._find_cluster)
        self._colors = cache(self._find_colors)

    def score_exclusivity(
        self, kind: NodeKind, first: str, seconds: Sequence[str], target: str = ""
    ) -> list[float | None]:
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

    def _find_opposites(self, senses: Iterable[int]) -> frozenset[int]:
        return frozenset(o for sense in senses for o in self._lists["adj_opposite"].get(sense))

    def find_senses(self, word: str, pos: Pos) -> tuple[int, ...]:
        """The numbers of a word's most frequent synsets."""
        number = self._words[pos].get(word.lower().replace(" ", "_"))
        return () if number is None else self._lists[f"{pos}_senses"].get(number)

    def has_noun(self, phrase: str) -> bool:
        """Whether the phrase is an entry of its own, in either number."""
        return (base := self.find_base(phrase)) is not None and len(base.split()) == len(phrase.split())

    def find_base(self, phrase: str) -> str | None:
        """The phrase in the singular, or its last words, as far as WordNet has them."""
        words = phrase.lower().split()
        for start in range(len(words)):
            *head, last = words[start:]
            irregular = [self._plurals[last]] if last in self._plurals else []
            for singular in (last, *irregular, *list_singulars(last)):
                if "_".join([*head, singular]) in self._words["noun"]:
                    return " ".join([*head, singular])
        return self._find_ending(words[-1]) if words else None

    def _find_ending(self, word: str) -> str | None:
        """Of a word written in one, the noun that it ends with: wetsuit → suit."""
        for start in range(FEWEST_LETTERS, len(word) - FEWEST_LETTERS + 1):
            for singular in (word[start:], *list_singulars(word[start:])):
                if len(singular) >= FEWEST_LETTERS and singular in self._words["noun"]:
                    return singular
        return None

    def list_parents(self, sense: int) -> tuple[int, ...]:
        """What a sense of a noun is directly a kind of."""
        return self._lists["noun_wider"].get(sense)

    def list_wider(self, sense: int) -> frozenset[int]:
        """What a sense of a noun is a kind of, itself included."""
        return self._wider(sense)

    def _find_noun(self, phrase: str) -> WordNetNoun | None:
        base = self.find_base(phrase)
        if base is None:
            return None
        senses = self.find_senses(base, "noun")
        wider = frozenset[int]().union(*map(self._wider, senses))
        first = self._wider(senses[0])
        opposites = (o for sense in first for o in self._lists["noun_opposite"].get(sense))
        return WordNetNoun(frozenset(senses), wider, self._person in first, frozenset(opposites))

    _person = cached_property(lambda self: self.find_senses("person", "noun")[0])
    _color = cached_property(lambda self: self.find_senses("chromatic color", "noun")[0])
    _gray = cached_property(lambda self: self.find_senses("achromatic color", "noun")[0])

    def _find_wider(self, sense: int) -> frozenset[int]:
        return frozenset({sense}.union(*map(self._wider, self._lists["noun_wider"].get(sense))))

    def _find_colors(self, word: str) -> frozenset[int]:
        """All that those senses of a word are shades of that are colours, themselves included."""
        senses = map(self._wider, self.find_senses(word, "noun"))
        return frozenset[int]().union(*(wider for wider in senses if {self._color, self._gray} & wider))

    def _find_cluster(self, word: str) -> frozenset[int]:
        """The adjective synsets a word is in, or is similar to where it has no opposite of its own."""
        near: set[int] = set()
        for sense in self.find_senses(word, "adj"):
            near.add(sense)
            if not self._find_opposites((sense,)):
                near.update(self._lists["adj_similar"].get(sense))
        return frozenset(near)


def identify_wordnet(path: Path = SHIPPED) -> str:
    """A digest of WordNet's files, of which the shipped part remembers its own."""
    if path.suffix == SHIPPED.suffix:
        return str(_load(path)["source"])
    return digest_of("".join(file_digest(path / f"data.{pos}") for pos in POINTERS).encode())


def load_wordnet(path: Path = SHIPPED) -> WordNet:
    """The shipped part is read once per process; files of a user's own may change, and are read again."""
    return _load_shipped() if path == SHIPPED else WordNet(path)


@cache
def _load_shipped() -> WordNet:
    return WordNet()


# Lists are stored as their lengths and all members in a row, words as lines of text.


def _load(path: Path) -> Arrays:
    try:
        with np.load(io.BytesIO(read_whole(path)), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: this is not WordNet as shiftscope stores it ({error})") from None


def _unpack_text(stored: NDArray[Any]) -> list[str]:
    return stored.tobytes().decode().split("\n")


class _NumberLists(NamedTuple):
    """Many short lists of numbers."""

    ends: NDArray[Any]
    members: NDArray[Any]

    @classmethod
    def unpack(cls, arrays: Arrays, name: str) -> "_NumberLists":
        return cls(np.cumsum(arrays[f"{name}_counts"], dtype=np.int64), arrays[name])

    def get(self, number: int) -> tuple[int, ...]:
        start = self.ends[number - 1] if number else 0
        return tuple(self.members[start : self.ends[number]].tolist())


def read_folder(folder: Path) -> Arrays:
    """What a folder with WordNet's own files tells, as it is stored."""
    arrays: Arrays = {}
    try:
        for pos in POINTERS:
            arrays |= _read_pos(folder, pos)
        plurals = (line.split()[:2] for line in read_whole(folder / "noun.exc").decode().splitlines())
        arrays["plurals"] = _pack_text(map(" ".join, plurals))
        arrays["source"] = np.array(identify_wordnet(folder))
    except FileNotFoundError:
        raise UserError(
            f"WordNet is not in {folder}: apt-get install wordnet-base, or name the folder with its files"
        ) from None
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise UserError(f"{folder}: these are not WordNet's files ({error})") from None
    return arrays


def _read_pos(folder: Path, pos: Pos) -> Arrays:
    """Synsets are numbered in the order of their file."""
    entries = [line.partition("|")[0].split() for line in _read_lines(folder / f"data.{pos}")]
    numbers = {fields[0]: number for number, fields in enumerate(entries)}
    names = {number for number, fields in enumerate(entries) if "@i" in fields}
    linked: dict[str, list[list[int]]] = {name: [[] for _ in entries] for name in POINTERS[pos].values()}
    for number, fields in enumerate(entries):
        at = 4 + 2 * int(fields[3], 16)  # after its words
        for k in range(at + 1, at + 1 + 4 * int(fields[at]), 4):
            symbol, where, letter, _ = fields[k : k + 4]
            if symbol in POINTERS[pos] and (letter == "n") == (pos == "noun"):
                linked[POINTERS[pos][symbol]][number].append(numbers[where])
    arrays: Arrays = {}
    for name, found in linked.items():
        arrays |= _pack_lists(f"{pos}_{name}", found)
    index = [line.split() for line in _read_lines(folder / f"index.{pos}")]
    senses = [_choose_senses(fields, numbers, names) for fields in index]
    return arrays | {f"{pos}_words": _pack_text(fields[0] for fields in index)} | _pack_lists(f"{pos}_senses", senses)


def _choose_senses(fields: list[str], numbers: dict[str, int], names: set[int]) -> list[int]:
    """The most frequent senses, none that no text was found to have but the first; a crane is no Stephen Crane."""
    count, frequent = int(fields[2]), int(fields[-int(fields[2]) - 1])
    senses = [numbers[offset] for offset in fields[len(fields) - count :]]
    common = [sense for k, sense in enumerate(senses) if sense not in names and (k < frequent or not k)]
    return (common or [sense for sense in senses if sense not in names] or senses)[:SENSES]


def _read_lines(path: Path) -> list[str]:
    """All but the licence, whose lines start with a space."""
    return [line for line in read_whole(path).decode().splitlines() if line[:1] != " "]


def _pack_text(lines: Iterable[str]) -> NDArray[Any]:
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


def _pack_lists(name: str, lists: Sequence[Sequence[int]]) -> Arrays:
    members = [member for one in lists for member in one]
    return {name: np.array(members, np.int32), f"{name}_counts": np.array([len(one) for one in lists], np.uint8)}
