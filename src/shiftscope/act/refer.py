"""Referring: one of the ways, short or long, to point out an object or all objects of a description."""

from __future__ import annotations

from .dice import Dice
from .ref import IN_PLANE, SUBSETS, Ref
from .view import View

RELATED = 4  # one in so many is pointed out by a relation, where that is possible
TRIES = 8
SHORT = tuple(s for s in SUBSETS if len(s) < 3)


def refer_to(view: View, i: int, dice: Dice, *, plain: bool = False) -> Ref | None:
    """One of the ways to point out an object; None where there is none.

    `plain` keeps to what is true of the object itself, wherever things stand.
    """
    names = view.names(i)
    if not plain and (not names or dice.one_in(RELATED)):
        related = _related(view, i, dice)
        if related is not None:
            return related
    return Ref(dice.pick(names), 1 << i) if names else None


def refer_to_one(view: View, among: int, dice: Dice, *, plain: bool = False) -> Ref | None:
    """A way to point out a random one of these objects; every other time one that was acted on before."""
    if among & view.touched and dice.one_in(2):
        among &= view.touched
    return refer_to(view, dice.member(among), dice, plain=plain) if among else None


def refer_to_many(view: View, dice: Dice, *, plain: bool = False) -> Ref | None:
    """All objects of some description, at least two and not everything there is."""
    pairs = view.pairs(dice.below(view.size), dice.pick(SHORT))
    fits = view.fits(pairs)
    if fits.bit_count() < 2:
        return None
    if not plain and dice.one_in(RELATED):
        anchor = refer_to_one(view, view.nameable & ~fits, dice, plain=True)
        if anchor is None:
            return None
        relation = dice.pick(IN_PLANE)
        near = fits & view.rows(relation)[anchor.index]
        if near.bit_count() < 2 or near == fits:
            return None
        return Ref(pairs, near, relation, anchor, many=True)
    return None if fits == view.everything else Ref(pairs, fits, many=True)


def _related(view: View, i: int, dice: Dice) -> Ref | None:
    """A description by a relation to another object, where its own words do not do by themselves."""
    others = view.nameable & ~(1 << i)
    if not others:
        return None
    for _ in range(TRIES):
        pairs, relation, anchor = view.pairs(i, dice.pick(SUBSETS)), dice.pick(IN_PLANE), dice.member(others)
        fits = view.fits(pairs)
        if fits != 1 << i and fits & view.rows(relation)[anchor] == 1 << i:
            return Ref(pairs, 1 << i, relation, Ref(dice.pick(view.names(anchor)), 1 << anchor))
    return None
