"""Variants beside their originals: the figures of both, paired, under the names that a test gives them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from ...metrics import accuracy, contrast
from ...result import Records, Score


def paired(records: Records, variants: Mapping[str, str], names: Mapping[str, str]) -> tuple[Score, ...]:
    """Figures of `metrics.contrast` for variants (id → the original's id), renamed and ordered by `names`."""
    some = taken(records, {*variants, *variants.values()})
    if not (some.twin.codes >= 0).any():
        return tuple(Score(name, None, 0) for name in names.values())
    scores = {s.metric: s for s in contrast.measure(some)}
    return tuple(replace(scores[metric], metric=name) for metric, name in names.items())


def original(records: Records, wanted: Collection[str]) -> Score:
    """Accuracy on these questions as they are."""
    return accuracy.measure(taken(records, wanted))[0]


def taken(records: Records, wanted: Collection[str]) -> Records:
    """The rows of these questions."""
    known = np.array([*(name in wanted for name in records.question.values), False], np.bool_)
    return records.take(known[records.question.codes])
