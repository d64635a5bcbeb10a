"""Accuracy on the IID test and on each shortcut's OOD set: how much of it rests on the shortcut.

VQA-VS (Si et al., 2022): the OOD sets are slices of the IID test (§2.2), so one run gives all figures (§5).
Rows carry a fact a shortcut (`QT`, `KW`, …), head or tail, as `shiftscope audit` writes them, and may carry
`audit_split`, the part of the audit that they are in; rows that do not are all of the IID test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..audit.labels import SHORTCUTS
from ..audit.split import AUDIT_SPLIT, NAMES, TEST
from ..errors import UserError
from ..result import MISSING, Bools, Facts, Floats, Records, Score
from ._resample import Resampling, interval, unanimous
from ._shares import APART, base_rows, known, replied
from .vqa_accuracy import row_agreement


@dataclass(frozen=True, slots=True, eq=False)
class _Figure:
    """A score with its replicates, from which differences and means are made."""

    score: Score
    value: float  # not a number where there is nothing to score
    drawn: Floats  # [replicate]; the same value in all of them where the rows agree
    below: float = 0.0  # how much further the interval goes than the replicates of rows that agree can tell
    above: float = 0.0


def measure(records: Records) -> tuple[Score, ...]:
    """iid; then a shortcut: ood (which is acc_tail), acc_head and gap (iid − ood); mean_ood and its gap.

    Intervals are paired: IID test and OOD sets are resampled together, image by image. A row that several
    annotators answered is scored as VQA-VS does (thirds), another by equality. `mean_ood` is the mean over
    the sets; its n, as that of the mean gap, is of the distinct rows in any of them. Rows of the audit's
    val and train split are scored apart, each with their own heads and tails, under the slice `split`.
    """
    rows = base_rows(records)
    facts = dict(rows.facts)
    if not any(name in facts for name in SHORTCUTS):
        raise UserError(
            "shortcut_gap needs rows that know their shortcuts; score with --audit DIR, "
            "the folder that shiftscope audit made"
        )
    if AUDIT_SPLIT not in facts:
        return _measured(rows, ())
    made: list[Score] = []
    for name in reversed(NAMES):
        inside = facts[AUDIT_SPLIT].equals(name)
        if inside.any():
            made += _measured(rows.take(inside), () if name == TEST else (("split", name),))
    return tuple(made)


def _measured(rows: Records, where: Facts) -> tuple[Score, ...]:
    of = _Rows(rows)
    facts = dict(rows.facts)
    iid = of.figure("iid", np.ones(len(rows), bool), where)
    made, sets = [iid.score], []
    anywhere = np.zeros(len(rows), bool)
    for name in (s for s in SHORTCUTS if s in facts):
        here: Facts = (("shortcut", name), *where)
        tail = facts[name].equals("tail")
        ood = of.figure("ood", tail, here)
        head = of.figure("acc_head", facts[name].equals("head"), here)
        made += [ood.score, head.score, _gap("gap", iid, ood)]
        anywhere |= tail
        if ood.score.n:
            sets.append(ood)
    if sets:
        mean = _mean(sets, of.figure("mean_ood", anywhere, where).score)
        made += [mean.score, _gap("mean_gap", iid, mean)]
    return tuple(made)


class _Rows:
    """What is averaged: a value a row, which rows count, and their resampling."""

    def __init__(self, rows: Records) -> None:
        annotated = np.diff(rows.answers_at) > 0
        right = rows.right.astype(np.float64)
        self.values = np.where(annotated, row_agreement(rows, "thirds"), right) if annotated.any() else right
        self.scorable: Bools = annotated | (rows.truth.codes >= 0)
        self.counted: Bools = self.scorable & replied(rows)
        self.status = rows.status
        self.sampled = Resampling(rows.cluster.codes)

    def figure(self, metric: str, among: Bools, where: Facts) -> _Figure:
        """The mean over some rows; where they all agree, the interval is the exact binomial one."""
        inside = among & self.counted
        hits = np.where(inside, self.values, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(hits.sum() / inside.sum())
            drawn = self.sampled.sums(hits)[:, 0] / self.sampled.sums(inside)[:, 0]
        low, high = (float(one[0]) for one in interval(drawn[:, None]))
        below = above = 0.0
        if value in (0.0, 1.0):
            low, high = unanimous(value, int(self.sampled.spread(inside, None, 1)[0]))
            below, above = value - low, high - value
        if self.sampled.clusters < 2:
            low = high = np.nan
        apart: dict[str, Any] = {
            name: int((self.status.equals(name) & self.scorable & among).sum()) for name in (*APART, MISSING)
        }
        n = int(inside.sum())
        score = Score(metric, known(value), n, known(low), known(high), slice=where, **apart)
        return _Figure(score, value, drawn, below, above)


def _mean(sets: list[_Figure], rests_on: Score) -> _Figure:
    """The mean of several sets; `rests_on` has the counts of all their rows."""
    drawn = np.mean([one.drawn for one in sets], axis=0)
    value, below, above = (float(np.mean([getattr(s, f) for s in sets])) for f in ("value", "below", "above"))
    return _Figure(_bounded(rests_on, value, drawn, below, above), value, drawn, below, above)


def _gap(metric: str, iid: _Figure, ood: _Figure) -> Score:
    """How much lower a set is than the IID test; the counts are the set's."""
    below, above = iid.below + ood.above, iid.above + ood.below
    counts = replace(ood.score, metric=metric)
    return _bounded(counts, iid.value - ood.value, iid.drawn - ood.drawn, below, above)


def _bounded(score: Score, value: float, drawn: Floats, below: float, above: float) -> Score:
    """With an interval of the replicates, wider by what they can not tell."""
    low, high = interval(drawn[:, None])
    if score.low is None:  # too few images to draw from
        low, high = np.full((2, 1), np.nan)
    return replace(score, value=known(value), low=known(low[0] - below), high=known(high[0] + above))
