"""Training sets with a chosen share of shortcut samples, all of one size (VQA-VS, §5.3, Figure 7).

Shortcut samples are those of a shortcut's head in the train split; the rest of a set is of its tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from ..rng import derive
from .audit import Audit
from .samples import Rows
from .sets import SampleSet

SHARES = (0, 10, 30, 50, 70, 90, 100)  # per cent


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """One training set: so many per cent of it are shortcut samples."""

    shortcut: str
    share: int  # per cent
    rows: Rows

    def set(self) -> SampleSet:
        return SampleSet(f"Proportion/{self.shortcut}-{self.share}", self.rows)


def blends(audit: Audit, shortcut: str, shares: Sequence[int] = SHARES, seed: int = 0) -> tuple[Blend, ...]:
    """A set a share, of the largest size that all shares allow; none where head or tail is empty.

    A larger share has all the shortcut samples of a smaller one, and a smaller all the tail samples of a
    larger, so that neighbouring sets differ in as few samples as can be.
    """
    for share in shares:
        if not 0 <= share <= 100:
            raise UserError(f"a share of shortcut samples is from 0 to 100 per cent, not {share}")
    groups = audit.train[shortcut]
    path = ("audit", "proportion", seed, shortcut)
    head = derive(*path, "head").permutation(groups.head)
    tail = derive(*path, "tail").permutation(groups.tail)
    size = min(len(head), len(tail))
    if not size:
        return ()
    made = []
    for share in sorted(set(shares)):
        many = size * share // 100
        rows = np.sort(np.concatenate([head[:many], tail[: size - many]]))
        made.append(Blend(shortcut, share, rows))
    return tuple(made)
