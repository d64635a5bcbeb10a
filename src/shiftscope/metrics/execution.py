"""Programs a model writes: right on its own scenes (GenExec), on the true ones (GTExec), and exactly (Exact).

After Zhu et al. (2022), section 3. *gen_exec* is accuracy under `as_is`, *gt_exec* accuracy when the model is
given the true scene (condition scene_text), *exact* how often its program equals the true one: a wrong program
may still give the right answer. A response without a program is not exact.
"""

from collections.abc import Sequence

from ..errors import UserError
from ..result import AS_IS, RunRecords, Score
from .slices import score_shares


def measure(records: RunRecords, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """The figures whose rows the run has, then those of the slices of each column in `by`."""
    made: list[Score] = []
    for name, condition in (("gen_exec", AS_IS), ("gt_exec", "scene_text")):
        rows = records.filter_condition(condition)
        if len(rows):
            made += score_shares(name, rows, lambda r: (r.right, r.truth.codes >= 0), by)
    rows = records.filter_condition(AS_IS)
    if (rows.program_right >= 0).any():
        made += score_shares("exact", rows, lambda r: (r.program_right == 1, r.program_right > -2), by)
    if not made:
        raise UserError("execution needs rows under the conditions as_is or scene_text; this run has neither")
    return tuple(made)
