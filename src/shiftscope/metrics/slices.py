"""Slices: a value per row averaged over all rows and over slices, each with its count and interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..result import AS_IS, MISSING, MISSING_IMAGE, Bools, Codes, Facts, RunRecords, Score
from .intervals import SceneClusters, SliceShares, sum_by_slice

WITHOUT_ANSWER = ("missing", "undefined", "unreadable", "failed", "truncated")  # in n, and not right


@dataclass(frozen=True, slots=True, eq=False)
class RowSlices:
    """The slices by one or several columns, and which one each row is in."""

    labels: tuple[Facts, ...]
    codes: Codes | None  # [row], -1: in none; None: every row is in the only one

    def rows(self, k: int) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self.codes == k)


ALL = RowSlices(((),), None)
RowValues = tuple[npt.NDArray[Any], Bools]  # the value of each row; which rows can be scored


def make_slices(records: RunRecords, by: str) -> RowSlices:
    """Slices by a column, or by several at once: `kind,length`. Only those with rows, in order of value."""
    names = [name.strip() for name in by.split(",")]
    columns = [records.column(name) for name in names]
    inside = np.logical_and.reduce([c.codes >= 0 for c in columns])
    sizes = tuple(max(1, len(c.values)) for c in columns)
    combination = np.ravel_multi_index([np.maximum(c.codes, 0) for c in columns], sizes)
    codes, most = combination[inside], int(np.prod(sizes))
    if most > len(codes) + 10_000:
        found, at = np.unique(codes, return_inverse=True)
    else:  # faster where few combinations are possible
        there = np.bincount(codes, minlength=most) > 0
        found, at = np.flatnonzero(there), (np.cumsum(there) - 1)[codes]
    picked = zip(*np.unravel_index(found, sizes), strict=True)
    labels = [tuple((n, c.values[k]) for n, c, k in zip(names, columns, row, strict=True)) for row in picked]
    order = sorted(range(len(labels)), key=lambda k: [(isinstance(value, str), value) for _, value in labels[k]])
    place = np.empty(len(labels), np.int32)
    place[order] = np.arange(len(labels), dtype=np.int32)
    slices = np.full(len(records), -1, np.int32)
    slices[inside] = place[at]
    return RowSlices(tuple(labels[k] for k in order), slices)


def select_base_rows(records: RunRecords, by: str = "") -> RunRecords:
    """The rows under as_is; all rows where slices go by condition.

    A run with a single other condition is taken as it is, unless that is missing_image.
    """
    if "condition" in by.split(","):
        return records
    conditions = {v for v in np.unique(records.condition.codes).tolist() if v >= 0}
    if len(conditions) < 2 and not records.condition.equals(MISSING_IMAGE).any():
        return records
    return records.filter_condition(AS_IS)


def has_response(records: RunRecords) -> Bools:
    """Which rows hold a response, right or wrong: neither missing nor failed."""
    return ~(records.status.equals(MISSING) | records.status.equals("failed"))


def find_rows_apart(records: RunRecords, name: str) -> Bools:
    """The rows counted apart under one of WITHOUT_ANSWER; what was cut at max_tokens is truncated and nothing else."""
    cut = records.truncated
    return cut if name == "truncated" else records.status.equals(name) & ~cut


def score_shares(
    metric: str, records: RunRecords, of: Callable[[RunRecords], RowValues], by: Sequence[str] = (), form: str = ""
) -> tuple[Score, ...]:
    """The mean of a value over all scorable rows, then over those of the slices of each name.

    `of` gives the value of each row and which rows can be scored at all. A row without a response counts,
    with the value it is given.
    """
    made: list[Score] = []
    rows, scenes = records, None
    for name in ("", *by):
        again = select_base_rows(records, name)
        if scenes is None or len(again) != len(rows):
            rows, scenes = again, SceneClusters.from_records(again)
            hits, scorable = of(rows)
        cut = make_slices(rows, name) if name else ALL
        shares = scenes.estimate_shares(hits, scorable, cut.codes, len(cut.labels))
        made += make_scores(metric, shares, rows, scorable, cut, form)
    return tuple(made)


def make_scores(
    metric: str, shares: SliceShares, records: RunRecords, scorable: Bools, cut: RowSlices = ALL, form: str = ""
) -> list[Score]:
    """Shares as scores, each with how many rows of its slice count and how many have no answer."""
    size = len(cut.labels)
    n = sum_by_slice(scorable, cut.codes, size)
    apart = {s: sum_by_slice(find_rows_apart(records, s) & scorable, cut.codes, size) for s in WITHOUT_ANSWER}
    scores = []
    for k, label in enumerate(cut.labels):
        without = {name: int(count[k]) for name, count in apart.items()}
        scores.append(Score(metric, n=int(n[k]), slice=label, form=form, **shares.to_score(k), **without))
    return scores


def to_percent(share: float | None) -> float | None:
    """As JSON gives figures."""
    return None if share is None else round(100 * share, 10)
