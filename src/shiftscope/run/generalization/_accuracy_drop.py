"""Accuracy drops: of one set of rows from another, and of variants from their originals, with intervals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from ...metrics import accuracy, contrast
from ...metrics.accuracy import measure, score_rows
from ...metrics.intervals import RatioTerm, cluster_runs
from ...metrics.significance import align_rows
from ...metrics.slices import none_if_nan, select_base_rows
from ...result import RunRecords, Score


def measure_gap(name: str, first: RunRecords, second: RunRecords) -> Score:
    """Scenes that both ask about go together: over the same questions the interval is a paired one.

    The counts are those of the second set, whose accuracy is taken away.
    """
    runs = [select_base_rows(first), select_base_rows(second)]
    counts = replace(measure(runs[1])[0], metric=name, form="")
    scored = [score_rows(r) for r in runs]
    if not all(one.scorable.any() for one in scored):
        return replace(counts, value=None, low=None, high=None)
    scorable = np.concatenate([one.scorable for one in scored])
    values = np.concatenate([one.values for one in scored])
    here = np.arange(len(values)) < len(runs[0])
    made = cluster_runs(runs).combine(
        (RatioTerm(values, scorable & here), RatioTerm(values, scorable & ~here)), (1, -1)
    )
    return replace(counts, value=none_if_nan(made.value), low=none_if_nan(made.low), high=none_if_nan(made.high))


def select_common(first: RunRecords, second: RunRecords) -> tuple[RunRecords, RunRecords]:
    """The rows of both about questions that both were asked."""
    runs = [select_base_rows(first), select_base_rows(second)]
    one, two = align_rows(*runs)
    return runs[0].take(one), runs[1].take(two)


# Variants beside their originals: the figures of both, paired, under the names that a test gives them.


def measure_pairs(records: RunRecords, variants: Mapping[str, str], names: Mapping[str, str]) -> tuple[Score, ...]:
    """Figures of `metrics.contrast` for variants (id → the original's id), renamed and ordered by `names`."""
    some = select_rows(records, {*variants, *variants.values()})
    if not (some.twin.codes >= 0).any():
        return tuple(Score(name, None, 0) for name in names.values())
    scores = {s.metric: s for s in contrast.measure(some)}
    return tuple(replace(scores[metric], metric=name) for metric, name in names.items())


def measure_originals(records: RunRecords, wanted: Collection[str]) -> Score:
    """Accuracy on these questions as they are."""
    return accuracy.measure(select_rows(records, wanted))[0]


def select_rows(records: RunRecords, wanted: Collection[str]) -> RunRecords:
    """The rows of these questions."""
    known = np.array([*(name in wanted for name in records.question.values), False], np.bool_)
    return records.take(known[records.question.codes])
