"""Move on top: an object is put on another; any may stand on any."""

from __future__ import annotations

from ..action import ON, Action
from ..dice import Dice
from ..refer import refer_to_one
from ..view import View


def propose(view: View, dice: Dice, second: bool = False, hops: int = 1) -> Action | None:
    """Neither carries anything yet, and what is stood on is on the ground."""
    subject = refer_to_one(view, view.everything & ~view.carriers, dice, plain=second)
    if subject is None:
        return None
    free = view.everything & ~view.carriers & ~view.carried & ~subject.mask
    anchor = refer_to_one(view, free, dice, plain=second)
    return Action("move_on_top", "move", subject, anchor, ON) if anchor else None
