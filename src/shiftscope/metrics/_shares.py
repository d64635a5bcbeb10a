"""Shares: a value per row averaged over all rows and over slices, each with its count and interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..result import AS_IS, MISSING, Bools, Codes, Facts, Records, Score
from ._resample import Ints, Resampling, share, totals

APART = ("undefined", "unreadable", "failed")


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """The slices by one or several columns, and which one each row is in."""

    labels: tuple[Facts, ...]
    codes: Codes | None  # [row], -1: in none; None: every row is in the only one

    def rows(self, k: int) -> npt.NDArray[np.int64]:
        """The rows of slice k."""
        return np.flatnonzero(self.codes == k)


ALL = Slices(((),), None)
Shared = tuple[npt.NDArray[Any], Bools]  # the value of each row; which rows can be scored


def slices(records: Records, by: str) -> Slices:
    """Slices by a column, or by several at once: `kind,length`. Only those with rows, in order of value."""
    names = [name.strip() for name in by.split(",")]
    columns = [records.column(name) for name in names]
    inside = np.logical_and.reduce([c.codes >= 0 for c in columns])
    sizes = tuple(max(1, len(c.values)) for c in columns)
    cell = np.ravel_multi_index([np.maximum(c.codes, 0) for c in columns], sizes)
    found, at = _numbered(cell[inside], int(np.prod(sizes)))
    picked = zip(*np.unravel_index(found, sizes), strict=True)
    labels = [tuple((n, c.values[k]) for n, c, k in zip(names, columns, row, strict=True)) for row in picked]
    order = sorted(range(len(labels)), key=lambda k: [_rank(value) for _, value in labels[k]])
    place = np.empty(len(labels), np.int32)
    place[order] = np.arange(len(labels), dtype=np.int32)
    codes = np.full(len(records), -1, np.int32)
    codes[inside] = place[at]
    return Slices(tuple(labels[k] for k in order), codes)


def _numbered(cell: Ints, most: int) -> tuple[Ints, Ints]:
    """The cells that occur, and the place of each row's cell among them."""
    if most > len(cell) + 10_000:
        found, at = np.unique(cell, return_inverse=True)
        return found, at.ravel()
    there = np.bincount(cell, minlength=most) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[cell]


def _rank(value: Any) -> tuple[int, Any]:
    return (1, value) if isinstance(value, str) else (0, value)


def base_rows(records: Records, by: str = "") -> Records:
    """The rows as the model is normally asked; all of them where slices go by condition."""
    if "condition" in by.split(","):
        return records
    conditions = {v for v in np.unique(records.condition.codes).tolist() if v >= 0}
    if len(conditions) < 2:
        return records
    return records.under(AS_IS)


def replied(records: Records) -> Bools:
    """Which rows hold the model's reply, right or not: neither missing nor failed."""
    return ~(records.status.equals(MISSING) | records.status.equals("failed"))


def share_scores(
    metric: str, records: Records, of: Callable[[Records], Shared], by: Sequence[str] = ()
) -> tuple[Score, ...]:
    """The mean of a value over the scorable rows with a reply: of all, then of the slices of each name.

    `of` gives the value of each row and which rows can be scored at all.
    """
    made: list[Score] = []
    rows, sampled = records, None
    for name in ("", *by):
        again = base_rows(records, name)
        if sampled is None or len(again) != len(rows):
            rows, sampled = again, Resampling(again.cluster.codes)
            hits, scorable = of(rows)
        made += _scores(metric, rows, hits, scorable, slices(rows, name) if name else ALL, sampled)
    return tuple(made)


def _scores(
    metric: str,
    records: Records,
    hits: npt.NDArray[Any],
    scorable: Bools,
    cut: Slices,
    sampled: Resampling,
) -> list[Score]:
    labels, at = cut.labels, cut.codes
    counted = scorable & replied(records)
    size = len(labels)
    value, low, high = share(sampled, hits, counted, at, size)
    n = totals(counted, at, size)
    apart = {s: totals(records.status.equals(s) & scorable, at, size) for s in (*APART, MISSING)}
    return [
        Score(
            metric,
            known(value[k]),
            int(n[k]),
            known(low[k]),
            known(high[k]),
            slice=labels[k],
            **{name: int(count[k]) for name, count in apart.items()},
        )
        for k in range(size)
    ]


def known(number: float) -> float | None:
    """None for what is not a number."""
    return None if np.isnan(number) else float(number)
