"""Pairing: the rows of two runs that are about the same question.

Ids tell only within one dataset: another seed gives other questions the same ids. Across datasets what was
asked decides: text, answer and what the images show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..result import Records

Rows = npt.NDArray[np.int64]


def align(first: Records, second: Records) -> tuple[Rows, Rows]:
    """The rows of each that ask the same, side by side."""
    one, two = common_rows((first, second))
    return one, two


def common_rows(runs: Sequence[Records]) -> list[Rows]:
    """The rows of several runs that ask what all of them ask, in the order of the first."""
    by_id = len({run.data for run in runs}) == 1
    places = [_places(run, by_id) for run in runs]
    shared = [key for key in places[0] if all(key in place for place in places[1:])]
    return [np.array([place[key] for key in shared], np.int64) for place in places]


def _places(run: Records, by_id: bool) -> dict[tuple[str, int], int]:
    """What each row asks → the row; what is asked several times is numbered in the order of the rows."""
    column = run.question if by_id else run.content
    seen: Counter[str] = Counter()
    places: dict[tuple[str, int], int] = {}
    for row in np.flatnonzero((column.codes >= 0) & run.scorable).tolist():
        name = column.values[column.codes[row]]
        places[name, seen[name]] = row
        seen[name] += 1
    return places
