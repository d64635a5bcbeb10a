"""The named distributions of concepts: bal, slt and long, and head, tail and oppo for testing only.

Super-CLEVR (Li et al., 2023): *bal* is even; in *slt* and *long* a concept of rank r has a share proportional
to a^-r, a = 1.3 and 2. *head* and *tail* are even over the commonest and the rarest concepts of *long*, and
*oppo* is *long* the other way round.

The official files decide where the paper's sentences leave room (docs/decisions/012). They hold the 21 shapes
that scenes have, without the 22nd, `addi`, of the release's properties. The rank of a shape is its category's
plus its own within the category; aeroplanes come first in *long*, cars in *slt*. *oppo* reverses the list of
shapes in their order, so that shapes of one rank in *long* need not have one share. Both *head* and *tail*
have 11 of the 21 shapes: `double` is in either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from ..errors import unknown
from .concepts import BALANCED, COLORS, MATERIALS, SHAPES, Concepts, category_of

NAMES = ("bal", "slt", "long", "head", "tail", "oppo")
CATEGORY_RANKS = {
    "slt": ("car", "aeroplane", "bus", "motorbike", "bicycle"),
    "long": ("aeroplane", "car", "bus", "motorbike", "bicycle"),
}
BASES = {"slt": 1.3, "long": 2.0}
HEAD_SHAPES, HEAD_COLORS = 11, 4  # as many in the tail


@cache
def distribution(variant: str) -> Concepts:
    """How often each concept occurs in a variant."""
    if variant == "bal":
        return BALANCED
    if variant in BASES:
        base, categories = BASES[variant], CATEGORY_RANKS[variant]
        ranks = [categories.index(c) + k for c, k in map(category_of, SHAPES)]
        even = powers(base, range(len(COLORS))), powers(base, range(len(MATERIALS)))
        return Concepts(powers(base, ranks), *even)
    if variant == "oppo":
        long = distribution("long")
        return Concepts(long.shape[::-1], long.color[::-1], long.material[::-1])
    if variant == "head":
        return Concepts(_even(SHAPES, HEAD_SHAPES), _even(COLORS, HEAD_COLORS), (1.0, 0.0))
    if variant == "tail":
        head = distribution("head")
        return Concepts(head.shape[::-1], head.color[::-1], head.material[::-1])
    raise unknown("concept distribution", variant, NAMES)


def powers(base: float, ranks: Iterable[int]) -> tuple[float, ...]:
    """Shares proportional to base^-rank, by division alone: every machine finds the same."""
    found = []
    for rank in ranks:
        share = 1.0
        for _ in range(rank):
            share /= base
        found.append(share)
    total = sum(found)
    return tuple(share / total for share in found)


def _even(names: Sequence[str], first: int) -> tuple[float, ...]:
    return (1.0 / first,) * first + (0.0,) * (len(names) - first)
