"""Intervals of shares and of their differences, clustered by scene, that keep their coverage with few scenes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels import exact
from ..result import Floats, RunRecords

Array = npt.NDArray[Any]
ShareInterval = tuple[Floats, Floats, Floats]  # of each slice its share, of each scene influence and weight
LEVEL = 0.95
FEW_SCENES = 10  # with fewer, an interval is wide whatever the answers; tables mention it
_TAIL = (1 - LEVEL) / 2
_Z = 1.959963984540054  # the normal quantile that leaves _TAIL above
_PRIOR = 0.25  # between the interval of Clopper and Pearson (0), which is too long, and Jeffreys' (0.5)
_DOUBT = 0.5  # of a scene
_MANY = 1e6  # degrees of freedom with which Student's t is as good as normal
_FARTHEST = 1e4  # that an end is looked for
_HALVINGS = 20
_MOST_ENTRIES = 4_000_000  # slices × scenes summed at once


class SliceShares(NamedTuple):
    """The share of each slice, with its interval and the number of its scenes."""

    value: Floats
    low: Floats
    high: Floats
    scenes: npt.NDArray[np.int64]

    def to_score(self, k: int) -> dict[str, Any]:
        """What a Score says of slice k."""
        figures = {name: none_if_nan(getattr(self, name)[k]) for name in ("value", "low", "high")}
        return figures | {"scenes": int(self.scenes[k])}


class RatioTerm(NamedTuple):
    """A share as numerator and denominator, row by row: hits ≤ among."""

    hits: Array
    among: Array


class Estimate(NamedTuple):
    """A combination of shares with its interval; NaN where there is no basis for one."""

    value: float
    low: float
    high: float
    scenes: int
    p: float  # of a value so far from 0, two-sided, by Student's t over scenes

    def to_score(self) -> dict[str, Any]:
        return {name: none_if_nan(getattr(self, name)) for name in ("value", "low", "high")}


def none_if_nan(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


class SceneClusters:
    """The scenes of some rows.

    A row with several images belongs to each of them by 1/√(how many it has), so that two rows go together
    by the share of images they have in common: 1 if all are, as for rows of one image.
    """

    def __init__(self, cluster: Array, rows: Array | None = None, weights: Floats | None = None) -> None:
        """`cluster` numbers the scene of each row; with `rows` and `weights`, of each entry of a row."""
        found, at = np.unique(cluster, return_inverse=True)
        self.count = len(found)
        self._at = at.astype(np.int64)
        self._rows = rows
        self._weights = weights

    @classmethod
    def from_records(cls, records: RunRecords) -> SceneClusters:
        return cluster_runs([records])

    def estimate_shares(self, hits: Array, among: Array, at: Array | None = None, size: int = 1) -> SliceShares:
        """Hits among those that count, of each slice; a row whose slice is -1 is in none."""
        made, low, high = np.empty((3, size))
        scenes = np.empty(size, np.int64)
        step = max(1, _MOST_ENTRIES // max(1, self.count))
        for left in range(0, size, step):
            wide = min(step, size - left)
            inside = slice(left, left + wide)
            value, influence, weight = self._compute_influence(hits, among, at, left, wide)
            made[inside] = value
            variance, worth = _jackknife_variance(influence, weight)
            low[inside], high[inside] = _compute_ends(value, variance, worth, worth, _prior(weight), _DOUBT, 1.0)
            scenes[inside] = (weight > 0).sum(axis=1)
        return SliceShares(made, low, high, scenes)

    def combine(self, parts: Sequence[RatioTerm], coefficients: Sequence[float]) -> Estimate:
        """The sum of shares by their coefficients: a difference is (1, -1)."""
        parts, coefficients = _merge_equal_terms(parts, coefficients)
        measured = [self._compute_influence(part.hits, part.among, None, 0, 1) for part in parts]
        ends = []
        for value, influence, weight in measured:
            variance, worth = _jackknife_variance(influence, weight)
            ends.append(_compute_ends(value, variance, worth, worth, _prior(weight), _DOUBT, 1.0))
        return _combine_intervals(measured, ends, coefficients)

    def estimate_difference(self, first: Array, second: Array) -> Estimate:
        """The mean of what two values of each row differ by, first less second.

        As a difference of two shares: by how much the first is above, and by how much below. Each has an
        interval of its own, so that two models are not surely alike since none of a few answers differed.
        """
        change = np.asarray(first, np.float64) - np.asarray(second, np.float64)
        every = np.ones(len(change))
        up, down, either = (
            self._compute_influence(hits, every, None, 0, 1)
            for hits in (np.maximum(change, 0), np.maximum(-change, 0), np.abs(change))
        )
        weight = either[2]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(weight > 0, either[1] / weight + either[0][:, None], 0.0)
        most = min(1.0, float(shares.max(initial=0.0))) or 1.0
        variance, worth = _jackknife_variance(*either[1:])
        # A side on which nothing differs goes by how far the scenes agree where something does.
        share = float(either[0][0])
        alone = np.array([_compute_effective_size(share, float(variance[0]), float(worth[0]), _DOUBT * most)])
        ends = [
            _compute_ends(part[0], *_jackknife_variance(*part[1:]), alone, _prior(part[2]), _DOUBT, most)
            for part in (up, down)
        ]
        return _combine_intervals([up, down], ends, (1, -1))

    def bound_gap_share(self, model: Array, bottom: Array, top: Array) -> tuple[float | None, float | None]:
        """The ends of (model − bottom) / (top − bottom), of the means of three values of each row.

        Fieller's: a share is possible where model − bottom is not surely another share of top − bottom. None where
        any is, since there may be no gap.
        """
        every = np.ones(len(model))
        measured = [self._compute_influence(hits, every, None, 0, 1) for hits in (model, bottom, top)]
        ends = []
        for value, influence, weight in measured:
            variance, worth = _jackknife_variance(influence, weight)
            ends.append(_compute_ends(value, variance, worth, worth, _prior(weight), _DOUBT, 1.0))
        low, middle, high = (float(measured[k][0][0]) for k in (1, 0, 2))
        if high <= low:
            return None, None
        share = (middle - low) / (high - low)

        def is_possible(given: float) -> bool:
            found = _combine_intervals(measured, ends, (1.0, given - 1.0, -given))
            return found.low <= 0 <= found.high

        found = [_find_end(is_possible, share, side) for side in (-1.0, 1.0)]
        return (found[0], found[1]) if None not in found else (None, None)

    def effective_size(self, hits: Array, among: Array) -> float:
        """How many independent answers would give an interval as wide as this share's."""
        (value,), (low,), (high,), _ = self.estimate_shares(hits, among)
        near = min(max(value, 1e-3), 1 - 1e-3)
        return float(4 * near * (1 - near) * (_Z / (high - low)) ** 2)

    def sum_by_scene(self, values: Array) -> Floats:
        return self._sum_by_slice(values, None, 0, 1).ravel()

    def _compute_influence(self, hits: Array, among: Array, at: Array | None, left: int, wide: int) -> ShareInterval:
        """The share of each slice; what each scene moves it by, and weighs in it: [slice, scene]."""
        among = np.asarray(among, np.float64)
        hits = np.where(among > 0, np.asarray(hits, np.float64), 0.0)
        whole, right = (sum_by_slice(v, at if at is None else at - left, wide) for v in (among, hits))
        with np.errstate(invalid="ignore", divide="ignore"):
            value = right / whole
            value = np.where((value > 1) & (value < 1 + 1e-9), 1.0, value)
            weight = self._sum_by_slice(among, at, left, wide) / whole[:, None]
            influence = self._sum_by_slice(hits, at, left, wide) / whole[:, None] - value[:, None] * weight
        return value, influence, weight

    def _sum_by_slice(self, values: Array, at: Array | None, left: int, wide: int) -> Floats:
        """[slice, scene]"""
        values = np.asarray(values, np.float64)
        if self._rows is not None and self._weights is not None:
            values = values[self._rows] * self._weights
            at = at[self._rows] if at is not None else None
        if at is None:
            return sum_bins(self._at, values, self.count).reshape(1, -1)
        inside = (at >= left) & (at < left + wide)
        place = (at[inside].astype(np.int64) - left) * self.count + self._at[inside]
        return sum_bins(place, values[inside], wide * self.count).reshape(wide, self.count)


def cluster_runs(runs: Sequence[RunRecords]) -> SceneClusters:
    """The scenes of several runs' rows, one run after the other; a scene of two runs is one here."""
    numbers: dict[str, int] = {}
    first, codes, rows, weights = 0, [], [], []
    for records in runs:
        place = np.array([numbers.setdefault(v, len(numbers)) for v in records.images.values], np.int64)
        lengths = records.images.lengths
        codes.append(place[records.images.codes])
        rows.append(np.repeat(np.arange(len(records)), lengths) + first)
        weights.append(np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths))
        first += len(records)
    every = np.concatenate(codes) if codes else np.zeros(0, np.int64)
    if len(every) == first:  # one image each
        return SceneClusters(every)
    return SceneClusters(every, np.concatenate(rows), np.concatenate(weights))


def sum_by_slice(values: Array, at: Array | None = None, size: int = 1) -> Floats:
    """The sum of the values of each slice; a row whose slice is -1, or beyond the last, is in none."""
    values = np.asarray(values, np.float64)
    if at is None:
        return np.array([values.sum()])
    inside = (at >= 0) & (at < size)
    return sum_bins(at[inside], values[inside], size)


def sum_bins(at: Array, values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(at, values, size), np.float64)


def _jackknife_variance(influence: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The jackknife variance of each slice's share, and the number of equal scenes it is worth."""
    number = (weight > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(weight < 1, influence / (1 - np.minimum(weight, 1)), 0.0)
        variance = (without**2).sum(axis=1) * (number - 1) / np.maximum(number, 1)
        worth = 1 / (weight**2).sum(axis=1)
    return variance, np.where(number > 0, worth, 0.0)


def _find_end(is_possible: Callable[[float], bool], start: float, side: float) -> float | None:
    """How far what is possible reaches from a possible number; None where it is too far."""
    inside, outside = 0.0, 0.01
    while is_possible(start + side * outside):
        inside, outside = outside, 2 * outside
        if outside > _FARTHEST:
            return None
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_possible(start + side * middle) else (inside, middle)
    return start + side * outside


def _merge_equal_terms(
    parts: Sequence[RatioTerm], coefficients: Sequence[float]
) -> tuple[list[RatioTerm], list[float]]:
    """Each share once: what is taken from itself leaves nothing to be unsure of."""
    made: list[RatioTerm] = []
    by: list[float] = []
    for part, coefficient in zip(parts, coefficients, strict=True):
        counted = np.asarray(part.among, np.float64) > 0
        for k, one in enumerate(made):
            if np.array_equal(one.among, part.among) and np.array_equal(one.hits[counted], part.hits[counted]):
                by[k] += coefficient
                break
        else:
            made.append(part)
            by.append(coefficient)
    return made, by


def _compute_correlations(influences: Floats) -> Floats:
    """How the errors of several shares go together; 0 where one of them shows none."""
    products = influences @ influences.T
    size = np.sqrt(np.diag(products))
    with np.errstate(invalid="ignore", divide="ignore"):
        made = products / np.outer(size, size)
    made = np.clip(np.where(np.isfinite(made), made, 0.0), -1.0, 1.0)
    np.fill_diagonal(made, 1.0)
    return np.asarray(made, np.float64)


def _combine_intervals(
    parts: Sequence[ShareInterval], ends: Sequence[tuple[Floats, Floats]], coefficients: Sequence[float]
) -> Estimate:
    """Shares with their intervals, added up by coefficients."""
    by = np.array(coefficients, np.float64)
    values = np.array([part[0][0] for part in parts])
    lows = values - [low[0] for low, _ in ends]
    highs = [high[0] for _, high in ends] - values
    influences = np.array([part[1][0] for part in parts])
    scenes = int(np.logical_or.reduce([part[2][0] > 0 for part in parts]).sum())
    together = _compute_correlations(influences) * np.outer(np.sign(by), np.sign(by))
    # That shares go together shortens the interval, and is believed but for one scene.
    together = np.where(together < 0, together * (1 - 1 / max(scenes, 1)), together)
    down = np.abs(by) * np.where(by > 0, lows, highs)
    up = np.abs(by) * np.where(by > 0, highs, lows)
    total = float(by @ values)
    sides = [math.sqrt(max(0.0, float(side @ together @ side))) for side in (down, up)]
    freedom = max(scenes - 1, 0.5)
    error = math.sqrt(float(((by @ influences) ** 2).sum()) * scenes / freedom)
    p = student_p_value(total / error, freedom) if error > 0 else float(total == 0)
    return Estimate(total, total - sides[0], total + sides[1], scenes, p)


def _prior(weight: Floats) -> Floats:
    """For each slice; with few scenes the longer interval, which is never too short."""
    return np.where((weight > 0).sum(axis=1) < FEW_SCENES, 0.0, _PRIOR)


@exact
def _compute_ends(
    value: Floats, variance: Floats, worth: Floats, alone: Floats, prior: Floats, doubt: float, most: float
) -> tuple[Floats, Floats]:
    """Low and high of each share; not a number where there is none.

    `doubt` scenes may have gone the other way, by `most` at the most. `alone` is the effective number where
    all scenes agree.
    """
    low, high = np.full(len(value), np.nan), np.full(len(value), np.nan)
    for k in range(len(value)):
        p = value[k]
        if not 0 <= p <= 1:
            continue
        n = max(alone[k], worth[k])
        if 0 < p < 1:
            n = _compute_effective_size(p, variance[k], worth[k], doubt * min(p, most))
        low[k] = 0.0 if p == 0 else _beta_quantile(_TAIL, p * n + prior[k], (1 - p) * n + 1 - prior[k])
        if 0 < p < 1:
            n = _compute_effective_size(p, variance[k], worth[k], doubt * min(1 - p, most))
        high[k] = 1.0 if p == 1 else _beta_quantile(1 - _TAIL, p * n + 1 - prior[k], (1 - p) * n + prior[k])
        low[k], high[k] = min(low[k], p), max(high[k], p)
    return low, high


@exact
def _compute_effective_size(p: float, variance: float, worth: float, pull: float) -> float:
    """The effective number of answers behind a share, if a scene more may pull it so far.

    `worth` is how many scenes of equal size the answers come from.
    """
    spread = variance + (pull / worth) ** 2
    if spread == 0 or p == 0 or p == 1:
        return worth
    return max(worth, p * (1 - p) / spread * (_Z / _student_quantile(max(worth - 1, 0.5), _TAIL)) ** 2)


@exact
def _student_quantile(freedom: float, tail: float) -> float:
    """Student's quantile that leaves `tail` above."""
    x = _beta_quantile(2 * tail, freedom / 2, 0.5)
    return math.sqrt(freedom * (1 - x) / x)


@exact
def _beta_quantile(share: float, a: float, b: float) -> float:
    """Where the beta distribution has this share below, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _beta_below(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@exact
def _beta_below(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # where the fraction of the other end converges faster
        return 1 - _beta_fraction(1 - x, b, a)
    return _beta_fraction(x, a, b)


@exact
def _beta_fraction(x: float, a: float, b: float) -> float:
    """The same by its continued fraction (modified Lentz), for x that is not far above a / (a + b)."""
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            fraction *= c * d
        if abs(c * d - 1) < 1e-13:
            break
    return front * fraction / a


def wilson_interval(right: int, of: int) -> tuple[float, float]:
    """Wilson's interval of a share of which only the counts are known."""
    p, double = right / of, 2 * (of + _Z**2)
    center = (2 * of * p + _Z**2) / double
    half = _Z / double * math.sqrt(4 * of * p * (1 - p) + _Z**2)
    return center - half if right else 0.0, center + half if right < of else 1.0


def student_quantile(freedom: float, comparisons: int = 1) -> float:
    """Student's quantile of a two-sided interval; of one of several comparisons, Bonferroni's."""
    return float(_student_quantile(float(freedom), _TAIL / comparisons))


def widen_side(
    side: float, parts: Sequence[tuple[float, float]], freedom: float = math.inf, comparisons: int = 1
) -> float:
    """A side of an interval over scenes once other variances are added: the widest by `list_variances`."""
    sides = [student_quantile(known, comparisons) * v**0.5 for v, known in list_variances(side, parts, freedom)]
    return float(max(sides))


def list_variances(
    side: float, parts: Sequence[tuple[float, float]], freedom: float = math.inf
) -> list[tuple[float, float]]:
    """Variances with their degrees of freedom: of all, of the scenes, of the others.

    `parts` are the others, `freedom` is of the scenes; together they have the degrees of freedom of Welch and
    Satterthwaite, which can be so many more than few seeds have that all would be surer than the seeds alone. So the
    least sure of the three counts.
    """
    scenes = ((side / student_quantile(_MANY)) ** 2, freedom)
    return [_join_variances(some) for some in ([scenes, *parts], [scenes], parts)]


def _join_variances(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Their sum, and its degrees of freedom by Welch and Satterthwaite."""
    variance, spread = sum(v for v, _ in parts), sum(v**2 / f for v, f in parts)
    return variance, min(variance**2 / spread, _MANY) if spread > 0 else _MANY


def student_p_value(t: float, freedom: float) -> float:
    """The two-sided chance of a value of Student's t so far from 0."""
    return float(_beta_below(freedom / (freedom + t * t), freedom / 2, 0.5))


def widening_factor(scenes: float) -> float:
    """The factor by which an interval of resampled scenes must be wider than its replicates suggest."""
    freedom = max(scenes - 1, 0.5)
    return student_quantile(freedom) / _Z * math.sqrt(scenes / freedom)
