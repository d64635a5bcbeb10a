"""Worst-hit slices: parts of the examples, by one fact or two, where a model does worse than elsewhere.

Every slice with enough examples is tested against the rest, with the examples of one scene taken together;
the chances are corrected (Holm) for the number of slices looked at, so a slice found by searching counts as
found only if it stands out from the whole search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ..metrics._interval import student_tail
from ..result import Bools, Codes, Floats
from .level import Levels

FEWEST = 30  # examples in a slice, and outside it
SCENES = 10  # that a slice must spread over
LEVEL = 0.05  # chance, after correction
SHARED = 0.5  # of the smaller slice: more than this in common with a worse one says nothing new
EXTRA = 0.05  # by which a slice inside one already named must be worse to be named too


@dataclass(frozen=True, slots=True)
class Slice:
    """One part of the examples: what holds in it, how it does, how the rest does."""

    facts: tuple[tuple[str, str], ...]
    n: int
    inside: float
    outside: float
    chance: float  # of such a difference by luck, corrected for the search


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, worst first, and how many slices it looked at."""

    slices: tuple[Slice, ...]
    searched: int


@dataclass(frozen=True, slots=True, eq=False)
class _Family:
    """All slices of one fact or of one pair of facts, as columns."""

    names: tuple[str, ...]
    levels: tuple[Levels, ...]
    cells: Codes  # which combination of levels
    n: npt.NDArray[np.int64]
    inside: Floats
    outside: Floats
    z: Floats
    scenes: npt.NDArray[np.int64]


def worst(
    values: Floats, cluster: Codes, facts: Mapping[str, Levels], most: int = 8, fewest: int = FEWEST
) -> Found:
    """The slices with the lowest mean of `values`; rows that are not a number are left out."""
    keep = np.isfinite(values)
    y = values[keep]
    if len(y) < 2 * fewest or y.min() == y.max():
        return Found((), 0)
    _, scene = np.unique(cluster[keep], return_inverse=True)
    known = {name: Levels(f.names, f.codes[keep], f.ordered) for name, f in facts.items()}
    families = list(_families(y, scene, known, fewest))
    searched = sum(len(f.cells) for f in families)
    found = sorted(
        (student_tail(z, float(f.scenes[k] - 1)), z, f_at, k)
        for f_at, f in enumerate(families)
        for k, z in enumerate(f.z.tolist())
        if z < 0
    )
    chosen: list[tuple[Slice, Bools]] = []
    largest = 0.0  # Holm: a corrected chance is never smaller than that of a stronger finding
    for place, (luck, _, f_at, k) in enumerate(found):
        largest = max(largest, min(1.0, (searched - place) * luck))
        if largest > LEVEL or len(chosen) == most:
            break
        one = _slice(families[f_at], k, largest)
        rows = _rows(families[f_at], k)
        if _says_something_new(one, rows, chosen):
            chosen.append((one, rows))
    return Found(tuple(one for one, _ in chosen), searched)


def _families(
    y: Floats, scene: npt.NDArray[np.int64], facts: Mapping[str, Levels], fewest: int
) -> Iterator[_Family]:
    e = y - y.mean()
    scenes = int(scene.max()) + 1
    e_of_scene = np.bincount(scene, e, scenes)
    around = e_of_scene[scene]
    every = float(e_of_scene @ e_of_scene)
    singles: list[tuple[str, ...]] = [(name,) for name in facts]
    for names in [*singles, *combinations(facts, 2)]:
        used = tuple(facts[name] for name in names)
        code, cells = _crossed(used)
        there = code >= 0
        at = code[there]
        n = np.bincount(at, minlength=cells)
        size = scene[there] * cells + at
        pairs, where = np.unique(size, return_inverse=True)  # scenes that have a row in a cell
        spread = np.bincount(pairs % cells, minlength=cells)
        ok = (n >= fewest) & (len(y) - n >= fewest) & (spread >= SCENES)
        if len(names) == 2:  # a pair that is one of its facts alone was looked at already
            ok &= _narrower(used, n)
        if not ok.any():
            continue
        total = np.bincount(at, y[there], cells)
        squares = np.bincount(pairs % cells, np.bincount(where, e[there]) ** 2, cells)
        cross = np.bincount(at, (e * around)[there], cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside, outside = total / n, (y.sum() - total) / (len(y) - n)
            b = 1 / (len(y) - n)
            a = 1 / n + b
            z = (inside - outside) / np.sqrt(a * a * squares - 2 * a * b * cross + b * b * every)
        picked = np.flatnonzero(ok & np.isfinite(z)).astype(np.int32)
        # Few scenes spread less than they should, and Student's t has longer tails than the normal.
        z = z * np.sqrt(np.maximum(spread - 1, 0) / np.maximum(spread, 1))
        figures: list[Any] = [column[picked] for column in (n, inside, outside, z, spread)]
        yield _Family(names, used, picked, *figures)


def _crossed(used: tuple[Levels, ...]) -> tuple[npt.NDArray[np.int64], int]:
    """The combination of levels in each row, and how many there can be."""
    code = used[0].codes.astype(np.int64)
    cells = len(used[0].names)
    for other in used[1:]:
        code = np.where((code >= 0) & (other.codes >= 0), code * len(other.names) + other.codes, -1)
        cells *= len(other.names)
    return code, cells


def _narrower(used: tuple[Levels, ...], n: npt.NDArray[np.int64]) -> Bools:
    """Which cells of a pair are smaller than both of their rows and columns."""
    first, second = (np.bincount(f.codes[f.codes >= 0], minlength=len(f.names)) for f in used)
    wide = len(second)
    cell = np.arange(len(n))
    return np.less(n, first[cell // wide]) & np.less(n, second[cell % wide])


def _slice(family: _Family, k: int, chance: float) -> Slice:
    cell = int(family.cells[k])
    named: list[tuple[str, str]] = []
    for name, used in zip(reversed(family.names), reversed(family.levels), strict=True):
        cell, level = divmod(cell, len(used.names))
        named.append((name, used.names[level]))
    return Slice(
        tuple(reversed(named)), int(family.n[k]), float(family.inside[k]), float(family.outside[k]), chance
    )


def _rows(family: _Family, k: int) -> Bools:
    code, _ = _crossed(family.levels)
    return np.equal(code, int(family.cells[k]))


def _says_something_new(one: Slice, rows: Bools, chosen: Iterable[tuple[Slice, Bools]]) -> bool:
    """Not mostly the same examples as a slice named before, unless clearly worse inside it."""
    for other, others in chosen:
        common = int((rows & others).sum())
        if common > SHARED * min(one.n, other.n) and one.inside > other.inside - EXTRA:
            return False
    return True
