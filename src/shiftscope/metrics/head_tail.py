"""Accuracy on the frequent and on the rare answers of imbalanced groups (acc-head, acc-tail).

VQA-VS (Si et al., 2022), after GQA-OOD (Kervadec et al., 2021). Where rows carry the fact `part` with the
values head and tail, that decides; else the groups of a column do, by the rule of the paper: a group is
imbalanced if its normalised entropy is below 0.9, and an answer is rare in it if it occurs less than 1.2
times the average.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import UserError
from ..result import Bools, RunRecords, Score
from ..shortcuts.concepts import ConceptLabels
from ..shortcuts.groups import build_groups
from .slices import RowValues, make_slices, score_shares
from .vqa_accuracy import score_row_agreement

PART = "part"


def measure(records: RunRecords, by: Sequence[str] = (), group: str = "kind") -> tuple[Score, ...]:
    """acc_head and acc_tail, then in_neither: the share of the rows that count for none of the two.

    Each over everything, then for the slices of each column in `by`.
    Answers of several annotators are scored as VQA-VS does (thirds), others by equality.
    """

    def score_part(rows: RunRecords, part: int) -> RowValues:
        inside = _mark_head_tail(rows, group)[part]
        if rows.has_annotators.any():
            return score_row_agreement(rows, "thirds"), rows.has_annotators & inside
        return rows.right, (rows.truth.codes >= 0) & inside

    def mark_neither(rows: RunRecords) -> RowValues:
        head, tail = _mark_head_tail(rows, group)
        return ~(head | tail), rows.scorable

    form = "VQA accuracy, thirds" if records.has_annotators.any() else ""
    return (
        *score_shares("acc_head", records, lambda rows: score_part(rows, 0), by, form),
        *score_shares("acc_tail", records, lambda rows: score_part(rows, 1), by, form),
        *score_shares("in_neither", records, mark_neither, by),
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
    inside = (codes >= 0) & (truth >= 0)
    if not inside.any():
        raise UserError("head_tail needs rows with a known answer and a group, or with the fact 'part'")
    labels = ConceptLabels("group", ((),), np.arange(int(codes.max()) + 1, dtype=np.int32)[:, None], codes)
    groups = build_groups(labels, truth, np.flatnonzero(inside))
    head, tail = np.zeros((2, len(records)), bool)
    head[groups.head], tail[groups.tail] = True, True
    return head, tail
