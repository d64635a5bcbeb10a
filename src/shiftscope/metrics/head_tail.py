"""Accuracy on the frequent and on the rare answers of imbalanced groups (acc-head, acc-tail).

Where rows carry the fact `part` with the values head and tail, that decides. Else questions of GQA, which carry their
local group, are grouped as in GQA-OOD (Kervadec et al., 2021): a group is kept if its normalised entropy is at most
the mean of all groups less one standard deviation; questions without a local group are one group. Others are
grouped by a column, and by the rule of VQA-VS (Si et al., 2022): a group is imbalanced if its normalised entropy is
below 0.9. By both, an answer is rare in a group if it occurs less than 1.2 times the average.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from ..result import LOCAL_GROUP, Bools, RunRecords, Score
from ..shortcuts.concepts import ConceptLabels
from ..shortcuts.groups import IMBALANCED, count_answers, find_imbalanced, find_uneven, split_head_tail
from .slices import RowValues, make_slices, score_shares
from .vqa_accuracy import describe_form, score_row_agreement

PART = "part"


def measure(
    records: RunRecords, by: Sequence[str] = (), group: str = "", normalise: str = "official"
) -> tuple[Score, ...]:
    """acc_head and acc_tail, then in_neither: the share of the rows that count for none of the two.

    Each over everything, then for the slices of each column in `by`. `group` is the column to group by: GQA's
    local groups where there are any, else the kind. Answers of several annotators are scored as VQA-VS does
    (thirds), others by equality.
    """
    facts = dict(records.facts)
    group = group or (LOCAL_GROUP if LOCAL_GROUP in facts else "kind")

    def score_part(rows: RunRecords, part: int) -> RowValues:
        inside = _mark_head_tail(rows, group)[part]
        if rows.has_annotators.any():
            return score_row_agreement(rows, "thirds", normalise), rows.has_annotators & inside
        return rows.right, (rows.truth.codes >= 0) & inside

    def mark_neither(rows: RunRecords) -> RowValues:
        head, tail = _mark_head_tail(rows, group)
        return ~(head | tail), rows.scorable

    rule = "" if PART in facts else "GQA-OOD" if group == LOCAL_GROUP else f"VQA-VS by {group}"
    scored = f"VQA accuracy, {describe_form('thirds', normalise)}" if records.has_annotators.any() else ""
    form = "; ".join(filter(None, (scored, rule)))
    return (
        *score_shares("acc_head", records, lambda rows: score_part(rows, 0), by, form),
        *score_shares("acc_tail", records, lambda rows: score_part(rows, 1), by, form),
        *score_shares("in_neither", records, mark_neither, by, rule),
    )


def _mark_head_tail(records: RunRecords, group: str) -> tuple[Bools, Bools]:
    """Which rows are head and which are tail, by the counts of the true answers in each group.

    A row of a balanced group is neither.
    """
    column = dict(records.facts).get(PART)
    if column is not None:
        return column.equals("head"), column.equals("tail")
    codes, truth = make_slices(records, group).codes, records.truth.codes
    assert codes is not None
    if group == LOCAL_GROUP:  # the questions without one are a group too
        codes = codes + 1
    inside = (codes >= 0) & (truth >= 0)
    if not inside.any():
        raise UserError("head_tail needs rows with a known answer and a group, or with the fact 'part'")
    labels = ConceptLabels("group", ((),), np.arange(int(codes.max()) + 1, dtype=np.int32)[:, None], codes)
    counted = count_answers(labels, truth, np.flatnonzero(inside))
    pairs = counted.pairs
    kept = find_uneven(pairs) if group == LOCAL_GROUP else find_imbalanced(pairs, IMBALANCED)
    groups = split_head_tail(counted, kept)
    head, tail = np.zeros((2, len(records)), bool)
    head[groups.head], tail[groups.tail] = True, True
    return head, tail
