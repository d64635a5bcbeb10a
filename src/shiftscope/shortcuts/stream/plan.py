"""StreamPlan: all that the passes after the scan depend on, known once every file is scanned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ..audit import TRAIN, AuditSettings
from ..concepts import KO, KOP, KW, KWP, LANGUAGE, QT, SHORTCUTS, TWO, Ints
from .keys import SplitDraw
from .scan import ScannedPart
from .spool import Array, Spool, build_texts, pack_texts, unpack_texts

VOCABULARY_FILE = "vocabulary"
UNTYPED_VOCABULARY_FILE = "vocabulary-untyped"  # before types are learned
SPLIT_PLACES = 4  # no split, train, val, test


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """Settings, split, question types and vocabularies; every pass sees the same."""

    scans: Spool
    spool: Spool  # of this audit alone
    settings: AuditSettings
    types: str  # given, prefixes or learned
    prefixes: tuple[str, ...]  # where types are not given
    draw: SplitDraw | None  # None: the split is given
    unsplit: bool  # whether some samples are in no split
    objects: bool  # whether there are concepts by objects
    sizes: tuple[int, int, int, int]  # of the vocabularies: answers, types, words, kinds

    @property
    def shortcuts(self) -> tuple[str, ...]:
        return SHORTCUTS if self.objects else LANGUAGE

    @property
    def answer_width(self) -> int:
        return max(1, self.sizes[0])

    @property
    def split_width(self) -> int:
        """How many keys a group has: one for every split and answer."""
        return SPLIT_PLACES * self.answer_width

    def list_radices(self, shortcut: str) -> tuple[int, ...]:
        """How many values each part of a concept has, nothing among them."""
        _, types, words, kinds = self.sizes
        sizes = {QT: types, KW: words, KO: kinds}
        return tuple(sizes[name] + 1 for name in list_concept_parts(shortcut))

    def find_counted(self, split: Array) -> npt.NDArray[np.bool_] | None:
        """Which samples f of eq. 6 counts; None for all."""
        if self.settings.statistics == TRAIN:
            return np.equal(split, 0)
        return np.greater_equal(split, 0) if self.unsplit else None

    def find_grouped(self, shortcut: str, second: Array, known: Array) -> npt.NDArray[np.bool_] | None:
        """Which samples have a concept of the shortcut; None for all."""
        if shortcut == KWP and self.settings.pairs == TWO:
            return np.greater_equal(second, 0)
        return None if shortcut in LANGUAGE else known

    def check_widths(self) -> None:
        """Refuse vocabularies so large that 64 bits do not number all groups with all answers."""
        for shortcut in self.shortcuts:
            most = self.split_width
            for radix in self.list_radices(shortcut):
                most *= radix
            if most >= 2**63:
                raise UserError(
                    f"there are too many words, objects and answers to number all groups of {shortcut} in 64 bits; "
                    "audit fewer samples at once"
                )


def list_concept_parts(shortcut: str) -> tuple[str, ...]:
    """QT, KW or KO for every part of a shortcut's concepts: KWP has two keywords."""
    if shortcut in (KWP, KOP):
        return (shortcut.removesuffix("P"),) * 2
    return tuple(shortcut.split("+"))


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """All values of all parts, as Arrow arrays, by code point."""

    words: Any
    answers: Any
    types: Any
    kinds: Any

    def name_part(self, part: str) -> Any:
        return {QT: self.types, KW: self.words, KO: self.kinds}[part]


def save_vocabulary(spool: Spool, values: Mapping[str, Sequence[str]], file: str = VOCABULARY_FILE) -> None:
    packed = {}
    for name, words in values.items():
        packed[f"{name}_data"], packed[f"{name}_at"] = pack_texts(build_texts(words))
    spool.save(file, {}, **packed)


def load_vocabulary(spool: Spool, file: str = VOCABULARY_FILE) -> Vocabulary:
    """What was saved under this name, which is never changed: the process remembers it."""
    return _load_vocabulary(spool.folder, file)


@lru_cache(1)
def _load_vocabulary(folder: Path, name: str) -> Vocabulary:
    _, file = Spool(folder).load(name)
    names = ("words", "answers", "types", "kinds")
    return Vocabulary(*(unpack_texts(file[f"{name}_data"], file[f"{name}_at"]) for name in names))


@dataclass(frozen=True, slots=True)
class LabelJob:
    """One part, in one of the passes."""

    plan: StreamPlan
    part: ScannedPart
    place: int  # of the part among all
    starts: tuple[int, ...] = ()  # where its keys begin in the aligned arrays, as the pass needs them


def join_codes(columns: Sequence[Array], radices: Sequence[int]) -> Ints:
    """One number for the codes of each sample, -1 for nothing; ordered as the codes are."""
    key = np.zeros(len(columns[0]), np.int64)
    for radix, column in zip(radices, columns, strict=True):
        key = key * radix + (column + 1)
    return key


def part_codes(keys: Ints, radices: Sequence[int]) -> list[Ints]:
    """The codes that `join_codes` joined."""
    found = []
    for radix in reversed(radices):
        found.append(keys % radix - 1)
        keys = keys // radix
    return found[::-1]
