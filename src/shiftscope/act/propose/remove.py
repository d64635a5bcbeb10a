"""Remove: an object, or all of a description, that disappear."""

from __future__ import annotations

from ..action import Action
from ..dice import Dice
from ..refer import refer_to_many, refer_to_one
from ..view import View


def propose(view: View, dice: Dice, second: bool = False, hops: int = 1) -> Action | None:
    """One object or several; one that carries another stays, and so does one that was just acted on."""
    if dice.one_in(2):
        subject = refer_to_many(view, dice, plain=second)
    else:
        subject = refer_to_one(view, view.everything & ~view.carriers & ~view.touched, dice, plain=second)
    return Action("remove", "remove", subject) if subject else None
