"""Known: what the words of a template alone tell about the set that each of its nodes gives.

"The other cyan cubes like the cyan cube" are none in any scene: the cyan cube is the only one, and `same` and
`relate` never give the thing they start from. Which sets of a template could end like this is found here,
once; the search then looks at the words it has filled in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .template import Template

OPPOSITE = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
OPPOSITE |= {"on": "below", "below": "on"}  # in what an action leads to

Row = tuple[int, ...]  # [column] the slot whose word every member fits, or -1


class Known(NamedTuple):
    """What is known of one node's set."""

    said: Row
    whole: bool  # it holds all of the scene's objects that fit what is said
    without: frozenset[int]  # nodes giving a single thing, the only one of its words, that is left out


def known_sets(template: Template, rows: Sequence[Row], columns: Sequence[int]) -> list[Known]:
    """For each node; `rows` are the slots that a node describes with, `columns` what `same` compares."""
    found: list[Known] = []
    nothing = Known((-1,) * len(rows[0]), False, frozenset())
    for n, own, column in zip(template.nodes, rows, columns, strict=True):
        f = n.meaning
        before = [found[i] for i in n.inputs]
        made = nothing
        if f.op == "scene":
            made = nothing._replace(whole=True)
        elif f.relate or f.op in ("relate", "same"):
            said = own
            if f.op == "same":  # what the words say of the one thing's color holds of the others' too
                said = tuple(slot if c == column else -1 for c, slot in enumerate(before[0].said))
            made = Known(said, False, frozenset(n.inputs) if before[0].whole else frozenset())
        elif f.op == "parts":  # what is said of their owners; the words for parts have columns of their own
            made = nothing._replace(said=before[0].said)
        elif f.op == "describe":
            made = before[0]._replace(said=_over(own, before[0].said))
        elif f.op == "unique":
            made = before[0]
        elif f.op == "exclude":
            made = before[0]._replace(whole=False)
        elif f.op == "intersect":
            left, right = before
            made = Known(
                _over(left.said, right.said), left.whole and right.whole, left.without | right.without
            )
        elif f.op == "union":
            made = nothing._replace(without=before[0].without & before[1].without)
        found.append(made)
    return found


def _over(top: Row, below: Row) -> Row:
    return tuple(a if a >= 0 else b for a, b in zip(top, below, strict=True))
