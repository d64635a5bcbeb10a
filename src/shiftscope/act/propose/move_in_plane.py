"""Move in the plane: an object goes beside another, on one of four sides; in two hops also a swap."""

from __future__ import annotations

from ..action import Action
from ..dice import Dice
from ..ref import IN_PLANE
from ..refer import refer_to_one
from ..view import View


def propose(view: View, dice: Dice, second: bool = False, hops: int = 1) -> Action | None:
    """A relation that was not true before."""
    subject = refer_to_one(view, view.everything & ~view.carriers, dice, plain=second)
    if subject is None:
        return None
    others = view.everything & ~subject.mask & ~view.carried
    if hops > 1 and dice.one_in(3):
        other = refer_to_one(view, others & ~view.carriers, dice, plain=True)
        if other is None or subject.mask & view.carried or subject.anchor is not None:
            return None
        return Action("move_in_plane", "swap", subject, other)
    anchor = refer_to_one(view, others, dice, plain=second)
    relation = dice.pick(IN_PLANE)
    if anchor is None or view.rows(relation)[anchor.index] & subject.mask:
        return None
    return Action("move_in_plane", "move", subject, anchor, relation)
