"""Levels: a fact of many values cut into a few that can be compared, in an order that means something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..result import Codes, Column

MOST = 8  # levels of a number; kinds keep all theirs
EN_DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """What a fact is in each row: `names[codes[row]]`, or nothing where the code is -1."""

    names: tuple[str, ...]
    codes: Codes  # [row]
    ordered: bool  # numbers, from small to large


def levels(column: Column, most: int = MOST) -> Levels:
    """Numbers keep their values while there are few of them and become ranges of like size beyond."""
    values = column.values
    if values and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return _of_numbers(column, most)
    order = sorted(range(len(values)), key=lambda k: spelled(values[k]))
    rank = np.full(len(values) + 1, -1, np.int32)
    rank[order] = np.arange(len(order))
    return _used(Levels(tuple(spelled(values[k]) for k in order), rank[column.codes], ordered=False))


def joined(columns: Sequence[Column]) -> Column:
    """Columns one below the other, over one list of values."""
    numbers: dict[tuple[type, object], int] = {}
    moved = []
    for column in columns:
        at = [numbers.setdefault((type(v), v), len(numbers)) for v in column.values]
        moved.append(np.array([*at, -1], np.int32)[column.codes])
    values = tuple(key[1] for key in numbers)
    return Column(values, np.concatenate(moved) if moved else np.zeros(0, np.int32))


def spelled(value: object) -> str:
    """A fact's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_numbers(column: Column, most: int) -> Levels:
    codes = column.codes
    known = codes >= 0
    numbers = np.array([*map(float, column.values), np.nan])[codes]
    distinct, counts = np.unique(numbers[known], return_counts=True)
    if not len(distinct):
        return Levels((), np.full(len(codes), -1, np.int32), ordered=True)
    if len(distinct) <= most:
        edges = distinct
    else:
        share = np.cumsum(counts) / counts.sum()
        cuts = {int(np.searchsorted(share, k / most)) + 1 for k in range(1, most)}
        edges = distinct[[0, *sorted(c for c in cuts if c < len(distinct))]]
    placed = np.searchsorted(edges, numbers, side="right") - 1
    ends = [*(distinct[np.searchsorted(distinct, b) - 1] for _, b in pairwise(edges)), distinct[-1]]
    names = tuple(
        spelled(_plain(low)) if low == high else f"{spelled(_plain(low))}{EN_DASH}{spelled(_plain(high))}"
        for low, high in zip(edges, ends, strict=True)
    )
    return Levels(names, np.where(known, placed, -1).astype(np.int32), ordered=True)


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _used(found: Levels) -> Levels:
    """Without the levels that no row has."""
    there = np.unique(found.codes[found.codes >= 0])
    rank = np.full(len(found.names) + 1, -1, np.int32)
    rank[there] = np.arange(len(there))
    return Levels(tuple(found.names[k] for k in there), rank[found.codes], found.ordered)
