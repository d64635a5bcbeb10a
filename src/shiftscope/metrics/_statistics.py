"""Tests and trends: paired tests, correction for several of them, what a set can detect, slopes, seeds.

SciPy and statsmodels do the statistics (`pip install shiftscope[stats]`); intervals of single figures need
neither and stand in `_resample`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Bools, Records, Score
from ._resample import LEVEL, Resampling, interval
from ._shares import base_rows, known, replied
from .contrast import pairs

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Paired:
    """Two sets of answers to the same questions: how often only one is right, the drop, how sure it is."""

    n: int
    only_first: int
    only_second: int
    drop: float | None  # accuracy of the first less that of the second
    low: float | None
    high: float | None
    p: float | None  # exact McNemar, two-sided; takes the questions to be independent


@dataclass(frozen=True, slots=True)
class Slope:
    """The change of accuracy from one level to the next, with an interval that knows scenes as clusters."""

    per_level: float
    low: float
    high: float
    p: float
    n: int


def compare_models(first: Records, second: Records) -> Paired:
    """Two models on the same questions; those that either did not reply to are left out."""
    a, b = base_rows(first), base_rows(second)
    place = _places(a)
    rows, beside = [], []
    for row in np.flatnonzero(_counted(b)).tolist():
        other = place.get(b.question[row])
        if other is not None:
            rows.append(other)
            beside.append(row)
    left, right = np.array(rows, np.int64), np.array(beside, np.int64)
    return paired(a.right[left], b.right[right], a.cluster.codes[left])


def compare_twins(records: Records) -> Paired:
    """A model on originals (first) and their variants (second)."""
    rows = base_rows(records)
    found = pairs(rows)
    return paired(rows.right[found.original], rows.right[found.variant], rows.cluster.codes[found.original])


def _counted(records: Records) -> Bools:
    return replied(records) & (records.truth.codes >= 0)


def _places(records: Records) -> dict[str, int]:
    return {records.question[row]: row for row in np.flatnonzero(_counted(records)).tolist()}


def paired(first: Bools, second: Bools, cluster: npt.NDArray[Any]) -> Paired:
    """Which answers of two models to the same questions are right, row by row; `cluster` numbers scenes."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    if not len(first):
        return Paired(0, 0, 0, None, None, None, None)
    change = first.astype(float) - second.astype(float)
    sampled = Resampling(cluster)
    low, high = interval(sampled.sums(change) / sampled.sums(np.ones(len(change))))
    few = sampled.clusters < 2
    return Paired(
        len(first),
        only_first,
        only_second,
        float(change.mean()),
        None if few else known(low[0]),
        None if few else known(high[0]),
        mcnemar(only_first, only_second),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of as uneven a split of the questions that only one is right on."""
    if only_first + only_second == 0:
        return 1.0
    test = _need("scipy.stats").binomtest(only_first, only_first + only_second)
    return float(test.pvalue)


def share_interval(right: int, of: int) -> tuple[float, float]:
    """Wilson's interval of a share, of which only the counts are kept."""
    found = _need("scipy.stats").binomtest(right, of).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """The p-values of several factors, corrected so that all hold at once; what has none keeps none."""
    names = [name for name, p in p_values.items() if p is not None]
    if not names:
        return dict(p_values)
    tests = _need("statsmodels.stats.multitest")
    corrected = tests.multipletests([p_values[n] for n in names], method="holm")[1]
    return {**p_values, **{n: float(p) for n, p in zip(names, corrected, strict=True)}}


def design_effect(records: Records) -> float:
    """How many times the variance of an accuracy is larger because questions share scenes; at least 1."""
    rows = base_rows(records)
    counted = np.flatnonzero(_counted(rows))
    right = rows.right[counted].astype(float)
    n = len(right)
    if n < 2 or not 0 < right.mean() < 1:
        return 1.0
    off = np.bincount(rows.cluster.codes[counted], weights=right - right.mean())
    return max(1.0, float((off**2).sum() / ((right - right.mean()) ** 2).sum()))


def smallest_drop(
    n: int, accuracy: float, *, discordant: float | None = None, design: float = 1.0, power: float = POWER
) -> float:
    """The smallest drop from `accuracy` that n questions a side detect, at 5% two-sided.

    Between two separate sets; with `discordant`, the share of questions that only one side is right on,
    between two sides of the same questions. `design` is the design effect. 1 where none is detectable.
    By the normal approximation: the exact test that a report makes has slightly less power than this says.
    """
    stats = _need("scipy.stats")
    z_test, z_power = stats.norm.ppf(0.5 + LEVEL / 2), stats.norm.ppf(power)
    size = n / design
    if size <= 0:
        return 1.0

    def short(drop: float) -> float:
        """Below 0 while the drop is too small to be detected."""
        if discordant is not None:
            spread = max(discordant, drop)
            return float(
                drop * size**0.5 - z_test * spread**0.5 - z_power * max(0.0, spread - drop**2) ** 0.5
            )
        after = accuracy - drop
        pooled = (accuracy + after) / 2
        apart = (accuracy * (1 - accuracy) + after * (1 - after)) ** 0.5
        return float(drop * size**0.5 - z_test * (2 * pooled * (1 - pooled)) ** 0.5 - z_power * apart)

    most = accuracy
    if most <= 0 or short(most) < 0:
        return 1.0
    return float(_need("scipy.optimize").brentq(short, 0.0, most)) if short(0.0) < 0 else 0.0


def slope(records: Records, factor: str, levels: Sequence[Any] = ()) -> Slope:
    """The trend of accuracy over the levels of a fact: in the order given, else by value if numbers.

    A linear probability model; its errors are robust to scenes as clusters.
    """
    rows = base_rows(records)
    column = rows.column(factor)
    numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in column.values)
    if not levels and not numeric:
        listed = ", ".join(map(str, column.values[:5]))
        raise UserError(f"a slope over {factor} needs the order of its levels ({listed}, …)")
    size = {v: float(k) for k, v in enumerate(levels)} if levels else {v: float(v) for v in column.values}
    scale = np.array([*(size.get(v, np.nan) for v in column.values), np.nan])
    level = scale[column.codes]
    kept = _counted(rows) & ~np.isnan(level)
    if len(np.unique(level[kept])) < 2:
        raise UserError(f"a slope over {factor} needs answered questions at two levels or more")
    api = _need("statsmodels.api")
    design = np.column_stack([np.ones(kept.sum()), level[kept]])
    model = api.OLS(rows.right[kept].astype(float), design)
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": rows.cluster.codes[kept]})
    low, high = fitted.conf_int(alpha=1 - LEVEL)[1]
    return Slope(float(fitted.params[1]), float(low), float(high), float(fitted.pvalues[1]), int(kept.sum()))


def across_seeds(scores: Sequence[Score]) -> Score:
    """One figure of several seeds: the mean, with Student's interval over seeds; n and missing are summed."""
    values = np.array([s.value for s in scores if s.value is not None], np.float64)
    if not len(scores) or len({(s.metric, s.slice) for s in scores}) != 1:
        raise ValueError("seeds aggregate over scores of one metric and slice")
    summed = {
        name: sum(getattr(s, name) for s in scores)
        for name in ("n", "missing", "undefined", "unreadable", "failed")
    }
    if len(values) < 2:
        return replace(scores[0], **summed) if len(scores) > 1 else scores[0]
    spread = float(values.std(ddof=1) / len(values) ** 0.5)
    half = float(_need("scipy.stats").t.ppf(0.5 + LEVEL / 2, len(values) - 1)) * spread
    mean = float(values.mean())
    return replace(scores[0], value=mean, low=mean - half, high=mean + half, **summed)


def _need(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise UserError(
            f"this needs {module.split('.')[0]}; install it with: pip install 'shiftscope[stats]'"
        ) from None
