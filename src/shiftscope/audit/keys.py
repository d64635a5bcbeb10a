"""Whole numbers that stand for combinations: the distinct ones in order, and which of them each one is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..compiled import exact

Keys = npt.NDArray[np.int64]
DIGIT = 11  # bits that one sweep of the sort looks at


def distinct(keys: Keys) -> Keys:
    """The distinct numbers, ascending: `np.unique`, which hashes first, takes several times as long."""
    ordered = np.sort(keys)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def numbered(keys: Keys) -> tuple[Keys, Keys, Keys]:
    """The distinct numbers, ascending, the place of each key among them, and how often each occurs.

    `np.unique` with inverse and counts, a few times as fast; keys must not be negative.
    """
    keys = np.ascontiguousarray(keys, np.int64)
    order = _order(keys, int(keys.max(initial=0)).bit_length())
    ordered = keys[order]
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(keys), np.int64)
    place[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return ordered[new], place, np.diff(np.append(starts, len(keys)))


@exact
def _order(keys: Keys, bits: int) -> npt.NDArray[np.int32]:
    """The places of the keys in their order, equal ones as they come: a sort digit by digit."""
    order = np.arange(len(keys)).astype(np.int32)
    other = np.empty_like(order)
    start = np.empty((1 << DIGIT) + 1, np.int64)
    for shift in range(0, bits, DIGIT):
        start[:] = 0
        for key in keys:
            start[((key >> shift) & ((1 << DIGIT) - 1)) + 1] += 1
        for digit in range(1 << DIGIT):
            start[digit + 1] += start[digit]
        for place in order:
            digit = (keys[place] >> shift) & ((1 << DIGIT) - 1)
            other[start[digit]] = place
            start[digit] += 1
        order, other = other, order
    return order
