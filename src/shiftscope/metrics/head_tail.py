"""Accuracy on the frequent and on the rare answers of imbalanced groups (acc-head, acc-tail).

VQA-VS (Si et al., 2022), after GQA-OOD (Kervadec et al., 2021). Where rows carry the fact `part` with the
values head and tail, that decides; else the groups of a column do, by the rule of the paper: a group is
imbalanced if its normalised entropy is below 0.9, and an answer is rare in it if it occurs less than 1.2
times the average.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..audit.groups import build
from ..audit.labels import Labels
from ..errors import UserError
from ..result import Bools, Column, Records, Score
from ._shares import Shared, share_scores, slices
from .vqa_accuracy import row_agreement

PART = "part"


def measure(records: Records, by: Sequence[str] = (), group: str = "kind") -> tuple[Score, ...]:
    """acc_head and acc_tail, then in_neither: the share of the rows that count for none of the two.

    Each over everything, then for the slices of each column in `by`.
    Answers of several annotators are scored as VQA-VS does (thirds), others by equality.
    """

    def of(rows: Records, part: int) -> Shared:
        inside = parts(rows, group)[part]
        if rows.annotated.any():
            return row_agreement(rows, "thirds"), rows.annotated & inside
        return rows.right, (rows.truth.codes >= 0) & inside

    def neither(rows: Records) -> Shared:
        head, tail = parts(rows, group)
        return ~(head | tail), rows.scorable

    form = "VQA accuracy, thirds" if records.annotated.any() else ""
    return (
        *share_scores("acc_head", records, lambda rows: of(rows, 0), by, form),
        *share_scores("acc_tail", records, lambda rows: of(rows, 1), by, form),
        *share_scores("in_neither", records, neither, by),
    )


def parts(records: Records, group: str = "kind") -> tuple[Bools, Bools]:
    """Which rows are head and which are tail; a row of a balanced group is neither."""
    column = dict(records.facts).get(PART)
    if column is not None:
        return column.equals("head"), column.equals("tail")
    codes = slices(records, group).codes
    assert codes is not None
    return split(codes, records.truth)


def split(group: np.typing.NDArray[np.int32], truth: Column) -> tuple[Bools, Bools]:
    """Head and tail by the counts of the true answers in each group; -1 is in no group."""
    inside = (group >= 0) & (truth.codes >= 0)
    if not inside.any():
        raise UserError("head_tail needs rows with a known answer and a group, or with the fact 'part'")
    concepts = int(group.max()) + 1
    labels = Labels("group", ((),), np.arange(concepts, dtype=np.int32)[:, None], group)
    found = build(labels, truth.codes, np.flatnonzero(inside))
    head, tail = np.zeros((2, len(group)), bool)
    head[found.head], tail[found.tail] = True, True
    return head, tail
