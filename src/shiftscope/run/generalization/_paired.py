"""Variants beside their originals: the figures of both, paired, under the names that a test gives them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...metrics import accuracy, contrast
from ...result import STATUSES, Records, Score


def paired(records: Records, variants: Mapping[str, str], names: Mapping[str, str]) -> tuple[Score, ...]:
    """Figures of `metrics.contrast` for variants (id → the original's id), renamed and ordered by `names`.

    A variant or original without a row is missing, as one whose reply failed is; neither counts as wrong.
    """
    some = taken(records, {*variants, *variants.values()})
    changed = some.take(some.twin.codes >= 0)
    apart: dict[str, Any] = {s: int(changed.status.equals(s).sum()) for s in STATUSES if s != "answered"}
    if not len(changed):
        return tuple(Score(name, None, 0, missing=len(variants)) for name in names.values())
    scores = {s.metric: s for s in contrast.measure(some)}
    lost = len(variants) - len(changed)
    made = []
    for metric, name in names.items():
        score = scores[metric]
        counts: dict[str, Any] = apart if metric == "contrast_accuracy" else {}
        made.append(
            replace(score, metric=name, missing=score.missing + lost - counts.get("failed", 0), **counts)
        )
    return tuple(made)


def original(records: Records, wanted: Collection[str]) -> Score:
    """Accuracy on these questions as they are; one without a row is missing."""
    (score,) = accuracy.measure(taken(records, wanted))
    lost = len(wanted) - score.n - score.missing - score.failed
    return replace(score, missing=score.missing + lost)


def taken(records: Records, wanted: Collection[str]) -> Records:
    """The rows of these questions."""
    known = np.array([*(name in wanted for name in records.question.values), False], np.bool_)
    return records.take(known[records.question.codes])
