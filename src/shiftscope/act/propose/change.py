"""Change: another color, material, size or shape for one object, or for all of a description."""

from __future__ import annotations

from ...schemas.clevr import SCHEMA
from ..action import Action
from ..dice import Dice
from ..ref import ATTRIBUTES
from ..refer import refer_to_many, refer_to_one
from ..view import View


def propose(view: View, dice: Dice, second: bool = False, hops: int = 1) -> Action | None:
    """None of those changed had the value before."""
    if dice.one_in(2):
        subject = refer_to_many(view, dice, plain=second)
    else:
        subject = refer_to_one(view, view.everything, dice, plain=second)
    if subject is None:
        return None
    attribute = dice.pick(ATTRIBUTES)
    value = dice.pick(SCHEMA.attribute(attribute).values)
    if subject.mask & view.fits(((attribute, value),)):
        return None
    return Action("change", "change", subject, attribute=attribute, value=value)
