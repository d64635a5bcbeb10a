"""How often the answer is the true one, however either is spelled.

A row counts once the model replied: an undefined or unreadable reply is not right, and is also counted apart;
a missing or failed one is not in `n`. Rows without a known answer are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..result import Records, Score
from ._shares import share_scores


def measure(records: Records, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """Accuracy of all rows, then of the slices of each column in `by` ("kind", or crossed "kind,length")."""
    return share_scores("accuracy", records, lambda rows: (rows.right, rows.truth.codes >= 0), by)
