"""A set of small numbers as one Python int: bit i is set when i is in the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def mask_of(members: Iterable[int]) -> int:
    mask = 0
    for i in members:
        mask |= 1 << i
    return mask


def members(mask: int) -> Iterator[int]:
    """The numbers in the set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
