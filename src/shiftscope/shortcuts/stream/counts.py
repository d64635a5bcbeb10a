"""Partial counts, which merge in any order to the counts of all samples: whole numbers, so no digit depends on it."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...files import PARTIAL
from ...question_table import number_keys
from ..concepts import Ints
from .spool import Array, Spool

RANGE_ENTRIES = 1 << 21  # keys of all parts that are merged at once
QUANTILES = 64  # keys of a part that choose the ranges


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """How many samples have each key: a word with an answer, or a group with a split and an answer."""

    keys: Ints  # ascending, each once
    counts: Ints  # may be 0: the key is there, but no counted sample has it

    def __post_init__(self) -> None:
        assert len(self.keys) == len(self.counts)

    def merge(self, *others: "PairCounts") -> "PairCounts":
        return self.merge_places(*others)[0]

    def merge_places(self, *others: "PairCounts") -> tuple["PairCounts", Ints]:
        """The sum, and where in it each key of this and of the others is, one after the other."""
        every = (self, *others)
        keys, counts = np.concatenate([p.keys for p in every]), np.concatenate([p.counts for p in every])
        least = keys.min(initial=0) if len(keys) else 0  # small numbers are sorted faster
        found, place, _ = number_keys(keys - least)
        total = np.bincount(place, weights=counts, minlength=len(found)).astype(np.int64)  # exact below 2^53
        return PairCounts(found + least, total), place


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The distinct values that samples have, and how many samples there are."""

    samples: int = 0
    words: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    splits: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()  # of objects

    def merge(self, other: "Vocabularies") -> "Vocabularies":
        return Vocabularies(
            self.samples + other.samples, *(getattr(self, name) | getattr(other, name) for name in VOCABULARY_NAMES)
        )


VOCABULARY_NAMES = ("words", "answers", "types", "splits", "kinds")


def save_pairs(spool: Spool, name: str, pairs: PairCounts) -> None:
    spool.save_array(f"{name}.counts", pairs.counts)
    spool.save_array(f"{name}.keys", pairs.keys)


def has_pairs(spool: Spool, name: str) -> bool:
    return (spool.folder / f"{name}.keys.npy").is_file()


def sweep_pairs(
    spool: Spool, names: Sequence[str], step: int = 1
) -> Iterator[tuple[PairCounts, Ints, list[tuple[int, int, int]]]]:
    """The merged counts of all parts, one range of keys after the other; a range begins at a multiple of `step`.

    With each come the place in it of every part's keys, one after the other, and whose these are: (part, first key
    of the part, behind its last). Memory is that of one range, or of the widest multiple of `step`.
    """
    bounds = _choose_bounds(spool, names, step)
    for low, high in zip(bounds, [*bounds[1:], None], strict=True):
        found, slices = [], []
        for part, name in enumerate(names):
            keys = spool.map_array(f"{name}.keys")
            first = int(np.searchsorted(keys, low))
            last = len(keys) if high is None else int(np.searchsorted(keys, high))
            if last > first:
                counts = spool.map_array(f"{name}.counts")[first:last]
                found.append(PairCounts(np.array(keys[first:last]), np.array(counts)))
                slices.append((part, first, last))
        if found:
            merged, place = found[0].merge_places(*found[1:])
            yield merged, place, slices


def _choose_bounds(spool: Spool, names: Sequence[str], step: int) -> list[int]:
    """Where the ranges begin, the first at 0; by some keys of every part, evenly spaced among its own."""
    total, picked = 0, []
    for name in names:
        keys = spool.map_array(f"{name}.keys")
        total += len(keys)
        picked.append(np.array(keys[:: max(1, len(keys) // QUANTILES)]))
    ranges = total // RANGE_ENTRIES + 1
    every = np.sort(np.concatenate(picked)) if picked else np.zeros(0, np.int64)
    chosen = every[len(every) * np.arange(1, ranges) // ranges] // step * step if len(every) else every
    return [0, *sorted({int(k) for k in chosen} - {0})]


class AlignedWriter:
    """One number for every key of every part, in one array of a spool, which is there once `finish` is called."""

    def __init__(self, spool: Spool, name: str, sizes: Sequence[int], dtype: type) -> None:
        self.path = spool.folder / f"{name}.npy"
        self.partial = self.path.with_name(f".{self.path.name}.{os.getpid()}{PARTIAL}")
        self.first, self.dtype = find_starts(sizes), np.dtype(dtype)
        self.file = self.partial.open("wb")
        shape = {"descr": self.dtype.str, "fortran_order": False, "shape": (int(self.first[-1]),)}
        np.lib.format.write_array_header_1_0(self.file, shape)
        self.header = self.file.tell()

    def put(self, slices: Sequence[tuple[int, int, int]], values: Array) -> None:
        """The numbers of some keys of some parts, as `sweep_pairs` gives them."""
        at = 0
        for part, first, last in slices:
            self.file.seek(self.header + int(self.first[part] + first) * self.dtype.itemsize)
            self.file.write(np.ascontiguousarray(values[at : at + last - first], self.dtype).data)
            at += last - first

    def finish(self) -> None:
        self.file.close()
        self.partial.replace(self.path)


def find_starts(sizes: Sequence[int]) -> Ints:
    """Where the keys of each part begin among those of all, and where the last ends."""
    return np.cumsum([0, *sizes], dtype=np.int64)
