"""How often a program fails because an object it names is not in the scene the model saw.

After Zhu et al. (2022), Table 5. A row counts where the reason of the response is "none found", whether the
execution continued with a default answer or stopped there as undefined. A model that runs no programs has no
such ratio.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from ..result import Bools, RunRecords, Score
from .slices import has_response, score_shares

REASON = "none found"
LOWER_IS_BETTER = True
OF_PROGRAMS = (REASON, "several found", "missing attribute", "unknown relation")  # why executions stop


def measure(records: RunRecords, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """The ratio over all responses, then over the slices of each column in `by`."""
    if not (_has_reason(records, OF_PROGRAMS) | (records.program_right >= 0)).any():
        raise UserError("missing_objects needs a model that runs programs; no response of this run has one")
    return score_shares("missing_objects", records, lambda rows: (_has_reason(rows, (REASON,)), has_response(rows)), by)


def _has_reason(rows: RunRecords, begin: tuple[str, ...]) -> Bools:
    """Which rows have a reason that begins so."""
    there = np.array([*(str(v).startswith(begin) for v in rows.reason.values), False], bool)
    return np.asarray(there[rows.reason.codes], np.bool_)
