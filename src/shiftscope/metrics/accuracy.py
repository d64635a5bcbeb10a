"""How often the answer is the true one, however it is spelled; VQA accuracy where many people answered.

Every question of the run counts: one without a response, or with an unparseable one, is wrong, and is also
counted separately. Rows without a known answer are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..result import Bools, Floats, RunRecords, Score
from .slices import score_shares
from .vqa_accuracy import score_row_agreement

ENOUGH = 4  # annotators: of fewer, no answer has three others who gave it too
FORM = "official"
DEFAULT_FOR = "answers"
MIXED = "official; equality where fewer than four people answered"


@dataclass(frozen=True, slots=True, eq=False)
class RowScores:
    """What each row scores, 0 to 1, by which metric; and which rows can be scored."""

    metric: str
    form: str
    values: Floats
    scorable: Bools


@lru_cache(maxsize=32)
def score_rows(records: RunRecords) -> RowScores:
    """The accuracy of each row: agreement with the annotators where there are enough, else equality."""
    enough = records.answers.lengths >= ENOUGH
    right, scorable = records.right.astype(np.float64), records.scorable
    if not enough.any():
        return RowScores("accuracy", "", right, scorable)
    form = FORM if enough[scorable & (records.question.codes >= 0)].all() else MIXED
    return RowScores("vqa_accuracy", form, np.where(enough, score_row_agreement(records), right), scorable)


def measure(records: RunRecords, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """Accuracy of all rows, then of the slices of each column in `by` ("kind", or crossed "kind,length")."""
    scored = score_rows(records)
    return score_shares(scored.metric, records, lambda rows: (score_rows(rows).values, rows.scorable), by, scored.form)
