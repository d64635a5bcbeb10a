"""Add: a new object, anywhere or beside another, all told or like another; in two hops also a copy of one."""

from __future__ import annotations

from ...schemas.clevr import SCHEMA
from ..action import Action, New
from ..dice import Dice
from ..ref import ATTRIBUTES, IN_PLANE, Pairs, Ref
from ..refer import refer_to_one
from ..view import View


def propose(view: View, dice: Dice, second: bool = False, hops: int = 1) -> Action | None:
    """A new object; its values are even, each on its own."""
    anchor = refer_to_one(view, view.everything & ~view.carried, dice, plain=second)
    if anchor is None:
        return None
    relation = dice.pick(IN_PLANE)
    if hops > 1 and dice.one_in(3):
        source = refer_to_one(view, view.nameable & ~anchor.mask, dice, plain=True)
        if source is None:
            return None
        new = New(view.pairs(source.index), source)
        return Action("add", "add_beside", anchor=anchor, relation=relation, new=new)
    made = _new(view, dice, anchor)
    if made is None:
        return None
    if dice.one_in(3):
        return Action("add", "add", new=made)
    if _fits(anchor, made.pairs):
        return None
    return Action("add", "add_beside", anchor=anchor, relation=relation, new=made)


def _new(view: View, dice: Dice, anchor: Ref) -> New | None:
    pairs = tuple((a, dice.pick(SCHEMA.attribute(a).values)) for a in ATTRIBUTES)
    if not dice.one_in(3):
        return New(pairs)
    source = refer_to_one(view, view.nameable & ~anchor.mask, dice, plain=True)
    if source is None:
        return None
    attribute = dice.pick(ATTRIBUTES)
    if attribute in dict(source.pairs):  # "the size of the large cube" tells what it is
        return None
    if _fits(source, pairs):
        return None
    value = view.value(source.index, attribute)
    return New(tuple((a, value if a == attribute else v) for a, v in pairs), source, attribute)


def _fits(ref: Ref, pairs: Pairs) -> bool:
    """Whether the words for an object that is there would be true of the new one as well."""
    return set(ref.pairs) <= set(pairs)
