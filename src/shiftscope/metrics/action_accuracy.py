"""Action accuracy: how often the program that a model took an action for is exactly the true one.

After CLEVR_HYP, section 5 and Table 3. Two programs that lead to the same scene may still differ, as where a text says
"it". A response without a program is not exact; questions without an action do not count.
"""

from collections.abc import Sequence

from ..errors import UserError
from ..result import RunRecords, Score
from .slices import score_shares, select_base_rows


def measure(records: RunRecords, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """Over all rows, then over the slices of each column in `by`."""
    rows = select_base_rows(records)
    if not (rows.action_right >= 0).any():
        raise UserError(
            "action_accuracy needs a model that writes programs of actions; no response of this run has one"
        )
    return score_shares("action_exact", rows, lambda r: (r.action_right == 1, r.action_right > -2), by)
