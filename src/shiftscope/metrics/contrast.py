"""How a model does on small variants of an example: contrast accuracy, consistency, local coherency.

A contrast set is an example and the variants that were made from it, which name it (`twin`). As defined by
Gardner et al. (2020):

*contrast_accuracy*   how often a variant is right;
*original_accuracy*   how often an original is, each counted once however many variants it has;
*consistency*         how often a whole set is right, the original and all of its variants; a set without
                      variants is its original alone;

and beside them

*contrast_drop*       original_accuracy less contrast_accuracy;
*local_coherency*     how often a variant and its original get the same answer (Zhu et al., 2022, section 4);
                      where a variant changes the true answer, a high figure means that the model ignores what
                      was changed.

A side without a response is wrong, and has no answer to be the same.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Bools, RunRecords, Score
from .accuracy import score_rows
from .intervals import RatioTerm, SceneClusters
from .slices import make_scores, select_base_rows

Rows = npt.NDArray[np.int64]


def _find_pairs(records: RunRecords) -> tuple[Rows, Rows]:
    """Every variant and its original, side by side, where both are in the run and have a known answer."""
    scorable = records.scorable & (records.question.codes >= 0)
    number = {name: k for k, name in enumerate(records.question.values)}
    row = np.full(len(records.question.values) + 1, -1, np.int64)
    row[records.question.codes[scorable]] = np.flatnonzero(scorable)
    named = np.array([*(number.get(name, -1) for name in records.twin.values), -1], np.int64)
    variants = np.flatnonzero(records.twin.codes >= 0)
    if not len(variants):
        raise UserError("contrast needs examples that name their original (twin); this run has none")
    originals = row[named[records.twin.codes[variants]]]
    good = scorable[variants] & (originals >= 0)
    return variants[good], originals[good]


def measure(records: RunRecords) -> tuple[Score, ...]:
    """The five figures, with intervals over scenes."""
    rows = select_base_rows(records)
    variants, originals = _find_pairs(rows)
    if not len(variants):
        raise UserError(
            "contrast needs variants beside their originals in one run; the originals that the variants of "
            "this run name are not in it"
        )
    scored = score_rows(rows)
    variant = scored.scorable & (rows.twin.codes >= 0)
    original = scored.scorable & (rows.twin.codes < 0)
    scenes = SceneClusters.from_records(rows)

    def score(name: str, values: npt.NDArray[np.generic], among: Bools) -> Score:
        return make_scores(name, scenes.estimate_shares(values, among), rows, among)[0]

    contrast = score("contrast_accuracy", scored.values, variant)
    difference = scenes.combine((RatioTerm(scored.values, original), RatioTerm(scored.values, variant)), (1, -1))
    answer = rows.answer.codes
    same, paired = np.zeros((2, len(rows)), bool)
    same[variants] = (answer[variants] == answer[originals]) & (answer[variants] >= 0)
    paired[variants] = True
    whole = scored.values.copy()
    np.minimum.at(whole, originals, scored.values[variants])
    return (
        contrast,
        score("original_accuracy", scored.values, original),
        replace(contrast, metric="contrast_drop", **difference.to_score()),
        score("local_coherency", same, paired),
        score("consistency", whole >= 1, original),
    )
