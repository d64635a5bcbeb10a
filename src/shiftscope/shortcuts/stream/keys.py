"""Keys of all parts, one range after the other: repeated ids, the bounds of a drawn split, the number of images.

Every part's keys lie sorted on disk. Of a range of keys, those of all parts are merged; equal keys of two ids are
looked at in the files, and only if the ids are equal too are they refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ...formats.sample_rows import build_objects_error, build_repeat_error
from ..audit import SPLIT_NAMES, TEST, size_split
from ..sample_keys import SampleKeys
from .counts import RANGE_ENTRIES
from .scan import ScannedPart, find_rows_by_key
from .spool import Array, Spool

KEY_BITS = 64


@dataclass(frozen=True, slots=True)
class SplitDraw:
    """A drawn split: samples with a key below the first bound are train, below the second val."""

    bounds: tuple[int, int] = (0, 0)
    exceptions: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)  # part → (row, split)

    def assign(self, part: str, keys: SampleKeys) -> Array:
        """[sample] its split's number."""
        codes = np.full(len(keys), SPLIT_NAMES.index(TEST), np.int8)
        for code, bound in ((1, self.bounds[1]), (0, self.bounds[0])):
            codes[keys < np.uint64(bound)] = code
        for row, code in self.exceptions.get(part, ()):
            codes[row] = code
        return codes


def _sweep_keys(spool: Spool, names: Sequence[str], total: int) -> Iterator[Array]:
    """The keys of all parts, [key] or [key, …] ordered by the first, one range after the other."""
    ranges = total // RANGE_ENTRIES + 1
    for k in range(ranges):
        low, high = (k << KEY_BITS) // ranges, ((k + 1) << KEY_BITS) // ranges
        found = []
        for name in names:
            keys = spool.map_array(name)
            first = keys if keys.ndim == 1 else keys[:, 0]
            start = int(np.searchsorted(first, np.uint64(low)))
            end = len(keys) if k == ranges - 1 else int(np.searchsorted(first, np.uint64(high)))
            found.append(np.array(keys[start:end]))
        every = np.concatenate(found)
        yield np.sort(every) if every.ndim == 1 else every[np.lexsort(every.T[::-1])]


def draw_streamed_split(
    spool: Spool, parts: Sequence[ScannedPart], seed: int, shares: tuple[float, float] | None
) -> SplitDraw:
    """Refuse repeated ids, and find the bounds of a drawn split (where one is drawn)."""
    total = sum(part.samples for part in parts)
    ranks: tuple[int, ...] = size_split(total, shares) if shares else ()
    bounds: list[int] = []
    before, repeated = 0, []
    for keys in _sweep_keys(spool, [f"{part.name}.ids" for part in parts], total):
        repeated.append(np.unique(keys[1:][keys[1:] == keys[:-1]]))
        bounds += [int(keys[rank - before]) for rank in ranks if before <= rank < before + len(keys)]
        before += len(keys)
    equal = np.concatenate(repeated) if repeated else np.zeros(0, np.uint64)
    if not len(equal):
        return SplitDraw((bounds[0], bounds[1]) if shares else (0, 0))
    placed = _look_at_equal_keys(spool, parts, seed, equal)
    if not shares:
        return SplitDraw()
    exceptions: dict[str, list[tuple[int, int]]] = {}
    for key, rows in placed.items():
        first = sum(int(np.searchsorted(spool.map_array(f"{part.name}.ids"), np.uint64(key))) for part in parts)
        for rank, (_, part, row) in enumerate(rows, first):
            code = 0 if rank < ranks[0] else 1 if rank < ranks[1] else 2
            exceptions.setdefault(part.name, []).append((row, code))
    return SplitDraw((bounds[0], bounds[1]), {name: tuple(rows) for name, rows in exceptions.items()})


def _look_at_equal_keys(
    spool: Spool, parts: Sequence[ScannedPart], seed: int, equal: SampleKeys
) -> dict[int, list[tuple[str, ScannedPart, int]]]:
    """The ids that have each of these keys, by their texts; two equal ones are refused."""
    found: dict[int, list[tuple[str, ScannedPart, int]]] = {}
    at = {(part.path, part.split, part.number): part for part in parts}
    holders = [p for p in parts if np.isin(equal, spool.map_array(f"{p.name}.ids")).any()]
    for path, split in dict.fromkeys((part.path, part.split) for part in holders):
        for key, number, row, name in find_rows_by_key(path, split, "ids", equal, seed):
            found.setdefault(key, []).append((str(name), at[path, split, number], row))
    for rows in found.values():
        rows.sort(key=lambda one: one[0])
        for (name, part, _), (other, second, _) in pairwise(rows):
            if name == other:
                raise build_repeat_error(name, sorted({part.path, second.path}))
    return found


def count_images(spool: Spool, parts: Sequence[ScannedPart], seed: int) -> int:
    """How many distinct images there are, by 128 bits of their names; refuse one with different objects."""
    count = 0
    for keys in _sweep_keys(spool, [f"{part.name}.images" for part in parts], sum(part.images for part in parts)):
        same = (keys[1:, :2] == keys[:-1, :2]).all(axis=1)
        count += len(keys) - int(same.sum())
        if (other := np.flatnonzero(same & (keys[1:, 2] != keys[:-1, 2]))).size:
            wanted = keys[other[:1], 0]
            for part in parts:
                if np.isin(wanted, spool.map_array(f"{part.name}.images")[:, 0]).any():
                    ((_, _, _, image), *_) = find_rows_by_key(part.path, part.split, "images", wanted, seed)
                    raise build_objects_error(image)
    return count
