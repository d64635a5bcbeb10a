"""How a model does on small variants of an example: contrast accuracy, local coherency, consistency.

After Gardner et al. (2020) and Zhu et al. (2022), section 4. A variant names the example it was made from
(`twin`). Of the pairs whose two sides were both replied to:

*contrast_accuracy*   how often the variant is right;
*original_accuracy*   how often its original is;
*contrast_drop*       the second less the first;
*local_coherency*     how often the two answers are the same; where a variant changes the true answer, a high
                      figure means that the model ignores what was changed;
*consistency*         how often an original and all of its variants are right; of the variants that are in the
                      rows given, so that of one kind of change alone it is how often both sides are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Records, Score
from ._resample import Resampling, interval, share
from ._shares import base_rows, known, replied


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Variants beside their originals, as rows of one run; and how many variants have no such original."""

    variant: npt.NDArray[np.int64]
    original: npt.NDArray[np.int64]
    missing: int


def pairs(records: Records) -> Pairs:
    """Every variant with its original, where both were replied to and have a known answer."""
    counted = replied(records) & (records.truth.codes >= 0)
    number = {name: k for k, name in enumerate(records.question.values)}
    row = np.full(len(records.question.values) + 1, -1, np.int64)
    row[records.question.codes[counted]] = np.flatnonzero(counted)
    named = np.array([*(number.get(name, -1) for name in records.twin.values), -1], np.int64)
    variants = np.flatnonzero(records.twin.codes >= 0)
    if not len(variants):
        raise UserError("contrast needs examples that name their original (twin); this run has none")
    originals = row[named[records.twin.codes[variants]]]
    good = counted[variants] & (originals >= 0)
    return Pairs(variants[good], originals[good], int((~good).sum()))


def measure(records: Records) -> tuple[Score, ...]:
    """The five figures, with intervals that resample the originals' scenes."""
    rows = base_rows(records)
    found = pairs(rows)
    right = rows.right
    variant, original = right[found.variant].astype(float), right[found.original].astype(float)
    answer = rows.answer.codes
    same = (answer[found.variant] == answer[found.original]) & (answer[found.variant] >= 0)
    sampled = Resampling(rows.cluster.codes[found.original])
    every = np.ones(len(variant))
    made = [
        _share(name, sampled, hits, found.missing)
        for name, hits in (
            ("contrast_accuracy", variant),
            ("original_accuracy", original),
            ("local_coherency", same.astype(float)),
        )
    ]
    with np.errstate(invalid="ignore"):  # of no pairs
        low, high = interval(sampled.sums(original - variant) / sampled.sums(every))
    drop = Score(
        "contrast_drop",
        known(np.mean(original - variant)) if len(every) else None,
        len(every),
        known(low[0]),
        known(high[0]),
        found.missing,
    )
    return (*made[:2], drop, made[2], _consistency(rows, found))


def _share(name: str, sampled: Resampling, hits: npt.NDArray[np.float64], missing: int) -> Score:
    value, low, high = share(sampled, hits, np.ones(len(hits)))
    return Score(name, known(value[0]), len(hits), known(low[0]), known(high[0]), missing)


def _consistency(rows: Records, found: Pairs) -> Score:
    """A set counts once: an original and all of its variants."""
    right = rows.right
    sets, at = np.unique(found.original, return_inverse=True)
    wrong = np.bincount(at, weights=~right[found.variant], minlength=len(sets))
    hits = (right[sets] & (wrong == 0)).astype(float)
    return _share("consistency", Resampling(rows.cluster.codes[sets]), hits, found.missing)
