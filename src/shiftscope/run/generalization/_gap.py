"""Gap: the accuracy of one set of rows less that of another, with an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...metrics._interval import Part, of_runs
from ...metrics._pairing import align
from ...metrics._shares import base_rows, known
from ...metrics.accuracy import measure, row_scores
from ...result import Records, Score


def gap(name: str, first: Records, second: Records) -> Score:
    """Scenes that both ask about go together: over the same questions the interval is a paired one.

    The counts are those of the second set, whose accuracy is taken away.
    """
    runs = [base_rows(first), base_rows(second)]
    counts = replace(measure(runs[1])[0], metric=name, form="")
    scored = [row_scores(r) for r in runs]
    if not all(one.scorable.any() for one in scored):
        return replace(counts, value=None, low=None, high=None)
    scorable = np.concatenate([one.scorable for one in scored])
    values = np.concatenate([one.values for one in scored])
    here = np.arange(len(values)) < len(runs[0])
    made = of_runs(runs).combine((Part(values, scorable & here), Part(values, scorable & ~here)), (1, -1))
    return replace(counts, value=known(made.value), low=known(made.low), high=known(made.high))


def common(first: Records, second: Records) -> tuple[Records, Records]:
    """The rows of both about questions that both were asked."""
    runs = [base_rows(first), base_rows(second)]
    one, two = align(*runs)
    return runs[0].take(one), runs[1].take(two)
