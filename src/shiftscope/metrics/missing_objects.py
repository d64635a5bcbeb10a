"""How often a program fails because an object it names is not in the scene the model saw.

After Zhu et al. (2022), Table 5. A row counts where the reason of the reply is "none found", whether the
execution went on with a default answer or stopped there as undefined. A model that runs no programs has no
such ratio: that none of its replies tells of a program is not a ratio of 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from ..result import Bools, Records, Score
from ._shares import Shared, replied, share_scores

REASON = "none found"
OF_PROGRAMS = (REASON, "several found", "missing attribute", "unknown relation")  # why executions stop


def measure(records: Records, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """The ratio over all replies there are, then over the slices of each column in `by`."""

    if not (_reasons(records, OF_PROGRAMS) | (records.program_right >= 0)).any():
        raise UserError("missing_objects needs a model that runs programs; no reply of this run tells of one")

    def of(rows: Records) -> Shared:
        return _reasons(rows, (REASON,)), replied(rows)

    return share_scores("missing_objects", records, of, by)


def _reasons(rows: Records, begin: tuple[str, ...]) -> Bools:
    """Which rows have a reason that begins so."""
    there = np.array([*(str(v).startswith(begin) for v in rows.reason.values), False], bool)
    return np.asarray(there[rows.reason.codes], np.bool_)
