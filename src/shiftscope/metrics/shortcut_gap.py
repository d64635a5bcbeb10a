"""Accuracy on the IID test and on each shortcut's OOD set: how much of it rests on the shortcut.

VQA-VS (Si et al., 2022): the OOD sets are slices of the IID test (§2.2), so one run gives all figures (§5).
Rows carry a fact a shortcut (`QT`, `KW`, …), head or tail, as `shiftscope audit` writes them, and may carry
`audit_split`, the part of the audit that they are in; rows that do not are all of the IID test. A fact
`set:RECIPE/NAME` says which rows are in a set of a recipe: acc_all, acc_head and acc_tail of gqa_ood.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import UserError
from ..result import Bools, Facts, RunRecords, Score
from ..shortcuts.audit import AUDIT_SPLIT, SET_FACT, SPLIT_NAMES, TEST
from ..shortcuts.concepts import SHORTCUTS
from .intervals import RatioTerm, SceneClusters
from .slices import RowSlices, make_scores, select_base_rows
from .vqa_accuracy import describe_form, score_row_agreement

DEFAULT_FOR = "audit"


def measure(records: RunRecords, normalise: str = "official") -> tuple[Score, ...]:
    """iid; then a shortcut: ood (which is acc_tail), acc_head and gap (iid − ood); mean_ood and its gap.

    Last the sets of recipes, each under its name: acc_all, acc_head, acc_tail.

    Intervals are paired: IID test and OOD sets share their images. A row that several
    annotators answered is scored as VQA-VS does (thirds), another by equality. `mean_ood` is the mean over
    the sets; its n, as that of the mean gap, is of the distinct rows in any of them. Rows of the audit's
    val and train split are scored apart, each with their own heads and tails, under the slice `split`.
    """
    rows = select_base_rows(records)
    facts = dict(rows.facts)
    if not any(name in facts for name in SHORTCUTS):
        raise UserError(
            "shortcut_gap needs rows that know their shortcuts; score with --audit DIR, "
            "the folder that shiftscope audit made"
        )
    if AUDIT_SPLIT not in facts:
        return _measure_rows(rows, (), normalise)
    made: list[Score] = []
    for name in reversed(SPLIT_NAMES):
        inside = facts[AUDIT_SPLIT].equals(name)
        if inside.any():
            made += _measure_rows(rows.take(inside), () if name == TEST else (("split", name),), normalise)
    return tuple(made)


def _measure_rows(rows: RunRecords, where: Facts, normalise: str) -> tuple[Score, ...]:
    of, facts = _ShortcutRows(rows, normalise), dict(rows.facts)
    every = np.ones(len(rows), bool)
    made, sets = [of.estimate_mean("iid", every, where)], []
    anywhere = np.zeros(len(rows), bool)
    for name in (s for s in SHORTCUTS if s in facts):
        here: Facts = (("shortcut", name), *where)
        tail = facts[name].equals("tail")
        ood = of.estimate_mean("ood", tail, here)
        made += [ood, of.estimate_mean("acc_head", facts[name].equals("head"), here)]
        made.append(of.combine_means("gap", ood, [every, tail], [1, -1]))
        anywhere |= tail
        if ood.n:
            sets.append(tail)
    if sets:
        rests_on = of.estimate_mean("mean_ood", anywhere, where)
        each = [1 / len(sets)] * len(sets)
        made.append(of.combine_means("mean_ood", rests_on, sets, each))
        made.append(of.combine_means("mean_gap", rests_on, [every, *sets], [1, *(-one for one in each)]))
    for name in (n for n in facts if n.startswith(SET_FACT) and not where):  # recipes' sets are of the IID test
        recipe, _, called = name.removeprefix(SET_FACT).rpartition("/")
        made.append(of.estimate_mean(f"acc_{called.lower()}", facts[name].equals(True), (("recipe", recipe),)))
    return tuple(made)


class _ShortcutRows:
    """What is averaged: a value a row, which rows count, and their scenes."""

    def __init__(self, rows: RunRecords, normalise: str) -> None:
        annotated = rows.has_annotators
        self.values, self.form = rows.right.astype(np.float64), "accuracy"
        if annotated.any():
            self.values = np.where(annotated, score_row_agreement(rows, "thirds", normalise), self.values)
            self.form = f"VQA accuracy, {describe_form('thirds', normalise)}"
        self.rows = rows
        self.scenes = SceneClusters.from_records(rows)

    def estimate_mean(self, metric: str, among: Bools, where: Facts) -> Score:
        inside = among & self.rows.scorable
        shares = self.scenes.estimate_shares(self.values, inside)
        return make_scores(metric, shares, self.rows, inside, RowSlices((where,), None), self.form)[0]

    def combine_means(self, metric: str, counts: Score, sets: Sequence[Bools], by: Sequence[float]) -> Score:
        """A sum of means by their coefficients; the counts are those of a score."""
        parts = [RatioTerm(self.values, among & self.rows.scorable) for among in sets]
        return replace(counts, metric=metric, **self.scenes.combine(parts, by).to_score())
