"""Accuracy drops: of one set of rows from another, and of variants from their originals, with intervals."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from ...metrics import accuracy, contrast
from ...metrics.accuracy import measure, score_rows
from ...metrics.intervals import RatioTerm, cluster_runs
from ...metrics.significance import find_common_rows
from ...metrics.slices import select_base_rows
from ...result import RunRecords, Score


def measure_gap(name: str, first: RunRecords, second: RunRecords) -> Score:
    """The accuracy of the first set less that of the second, whose counts it has.

    Scenes that both ask about go together: over the same questions the interval is a paired one.
    """
    runs = [select_base_rows(first), select_base_rows(second)]
    counts = replace(measure(runs[1])[0], metric=name, form="")
    scored = [score_rows(r) for r in runs]
    if not all(one.scorable.any() for one in scored):
        return replace(counts, value=None, low=None, high=None)
    scorable = np.concatenate([one.scorable for one in scored])
    values = np.concatenate([one.values for one in scored])
    here = np.arange(len(values)) < len(runs[0])
    terms = RatioTerm(values, scorable & here), RatioTerm(values, scorable & ~here)
    return replace(counts, **cluster_runs(runs).combine(terms, (1, -1)).to_score())


def select_common(first: RunRecords, second: RunRecords) -> tuple[RunRecords, RunRecords]:
    """The rows of both about questions that both were asked."""
    runs = [select_base_rows(first), select_base_rows(second)]
    one, two = find_common_rows(runs)
    return runs[0].take(one), runs[1].take(two)


def measure_pairs(records: RunRecords, variants: Mapping[str, str], names: Mapping[str, str]) -> tuple[Score, ...]:
    """Figures of `metrics.contrast` for variants (id → the original's id), renamed and ordered by `names`."""
    some = select_rows(records, {*variants, *variants.values()})
    if not (some.twin.codes >= 0).any():
        return tuple(Score(name, None, 0) for name in names.values())
    scores = {s.metric: s for s in contrast.measure(some)}
    return tuple(replace(scores[metric], metric=name) for metric, name in names.items())


def measure_originals(records: RunRecords, wanted: Collection[str]) -> Score:
    return accuracy.measure(select_rows(records, wanted))[0]


def select_rows(records: RunRecords, wanted: Collection[str]) -> RunRecords:
    known = np.array([*(name in wanted for name in records.question.values), False], np.bool_)
    return records.take(known[records.question.codes])
