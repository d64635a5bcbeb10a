"""Statistics: paired tests between runs, Holm correction, smallest detectable drop, slopes, seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Floats, RunRecords, Score
from .accuracy import score_rows
from .intervals import LEVEL, SceneClusters, list_variances, none_if_nan, student_p_value, student_quantile, widen_side
from .slices import WITHOUT_ANSWER, select_base_rows

Rows = npt.NDArray[np.int64]


def find_common_rows(runs: Sequence[RunRecords]) -> list[Rows]:
    """The rows of each run that ask what all of them ask, side by side, in the order of the first.

    By id within one dataset; across datasets by content, since another seed gives other questions the same ids.
    """
    by_id = len({run.data for run in runs}) == 1
    numbers: dict[Any, int] = {}  # of what is asked, over all runs
    rows, keys = [], []
    for run in runs:
        column = run.question if by_id else run.content
        found = np.flatnonzero((column.codes >= 0) & run.scorable)
        known = np.array([numbers.setdefault(name, len(numbers)) for name in column.values], np.int64)
        rows.append(found)
        keys.append(_number_repeats(known[column.codes[found]]))
    shared = keys[0]
    for other in keys[1:]:
        shared = shared[np.isin(shared, other)]
    return [found[_find_places(key, shared)] for found, key in zip(rows, keys, strict=True)]


def _number_repeats(codes: Rows) -> Rows:
    """A number of its own for each code and how often it stood before."""
    order = np.argsort(codes, kind="stable")
    ranks = np.arange(len(codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    before = np.empty_like(codes)
    before[order] = ranks - np.repeat(starts, np.diff(starts, append=len(codes)))
    return codes << 32 | before


def _find_places(keys: Rows, wanted: Rows) -> Rows:
    order = np.argsort(keys)
    return order[np.searchsorted(keys, wanted, sorter=order)]


POWER = 0.8
MANY = 1000  # scenes that differ, from which on their sum is as good as normal
FEW = 14  # whose signs are all tried where they are of no whole numbers
SCALES = (1, 3, 10, 30, 90)
MOST_STEPS = 200_000
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two sets of answers to the same questions: how often only one is right, the drop, how sure it is."""

    n: int
    only_first: int  # questions on which the first scores higher
    only_second: int
    drop: float | None  # accuracy of the first less that of the second
    low: float | None
    high: float | None
    p: float | None  # two-sided, by exchanging the two answers scene by scene
    scenes: int = 0
    first: float | None = None  # accuracy of the first
    seeds: int = 1  # that the figures rest on; `n` counts the questions of all of them


@dataclass(frozen=True, slots=True)
class AccuracySlope:
    """The change of accuracy from one level to the next, with an interval that knows scenes as clusters."""

    per_level: float
    low: float
    high: float
    p: float
    n: int
    scenes: int


def compare_models(first: RunRecords, second: RunRecords) -> PairedTest:
    """Two models on the questions that both were asked; no response counts as wrong."""
    a, b = select_base_rows(first), select_base_rows(second)
    left, right = find_common_rows((a, b))
    scenes = SceneClusters.from_records(a.take(left))
    return run_paired_test(score_rows(a).values[left], score_rows(b).values[right], scenes)


def run_paired_test(first: npt.NDArray[Any], second: npt.NDArray[Any], scenes: SceneClusters) -> PairedTest:
    """What two models score on the same questions, row by row."""
    if not len(first):
        return PairedTest(0, 0, 0, None, None, None, None)
    change = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    made = scenes.estimate_difference(first, second)
    p = sign_flip_test(scenes.sum_by_scene(change))
    up, down = int((change > 0).sum()), int((change < 0).sum())
    mean = float(np.mean(first, dtype=np.float64))
    return PairedTest(len(first), up, down, made.value, made.low, made.high, p, made.scenes, mean)


def compare_seeds(first: Sequence[RunRecords], second: Sequence[RunRecords]) -> PairedTest:
    """Two models, each by the mean of its seeds, on the questions that all of their runs were asked."""
    runs = [select_base_rows(records) for records in (*first, *second)]
    rows = find_common_rows(runs)
    values = [score_rows(run).values[at] for run, at in zip(runs, rows, strict=True)]
    one, two = values[: len(first)], values[len(first) :]
    test = run_paired_test(
        np.mean(one, axis=0), np.mean(two, axis=0), SceneClusters.from_records(runs[0].take(rows[0]))
    )
    return add_seed_variance(test, [[float(v.mean()) for v in side] for side in (one, two)]) if test.n else test


def add_seed_variance(test: PairedTest, sides: Sequence[Sequence[float]]) -> PairedTest:
    """The same difference, unsure for its seeds too: `sides` hold the figure of each seed, or of each of two models.

    The variances over scenes and over seeds add up, with the degrees of freedom of Welch and Satterthwaite, but neither
    interval nor chance is surer than that of the scenes or of the seeds alone. A side of one seed stands for itself.
    """
    several = [np.asarray(side, np.float64) for side in sides if len(side) > 1]
    test = replace(test, seeds=max((len(side) for side in sides), default=1))
    parts = [(float(side.var(ddof=1)) / len(side), len(side) - 1.0) for side in several]
    if test.drop is None or test.low is None or test.high is None or sum(v for v, _ in parts) <= TINY**2:
        return test

    sides_of_scenes = (test.drop - test.low, test.high - test.drop)
    freedom = max(test.scenes - 1.0, 1.0)
    below, above = (widen_side(side, parts, freedom) for side in sides_of_scenes)
    variances = list_variances(sides_of_scenes[0 if test.drop > 0 else 1], parts, freedom)
    chances = [student_p_value(test.drop / v**0.5, known) for v, known in variances if v > 0]
    p = max(test.p or 0.0, *chances)
    return replace(test, low=max(-1.0, test.drop - below), high=min(1.0, test.drop + above), p=p)


def sign_flip_test(sums: Floats) -> float:
    """The chance of so large a sum if each scene's difference had either sign: two-sided, mid-p.

    A permutation test: were the two models alike, exchanging their answers to a scene would change nothing.
    """
    there = np.abs(sums[np.abs(sums) > TINY])
    if not len(there):
        return 1.0
    total = abs(float(sums.sum()))
    whole = _scale_to_integers(there)
    if whole is None and len(there) <= FEW:
        signs = 1.0 - 2.0 * ((np.arange(1 << len(there))[:, None] >> np.arange(len(there))) & 1)
        drawn = np.abs(signs @ there)
        near = np.abs(drawn - total) <= TINY * (1 + total)
        return float((drawn > total)[~near].sum() + 0.5 * near.sum()) / len(drawn)
    if len(there) > MANY or whole is None:
        return math.erfc(total / math.sqrt(2 * float((there**2).sum())))
    steps, scale = whole
    # The sum with signs is twice that of the scenes with a plus, less that of all.
    chances = np.zeros(int(steps.sum()) + 1)
    chances[0] = 1.0
    for step in steps.tolist():
        chances[step:] = 0.5 * chances[step:] + 0.5 * chances[: len(chances) - step]
        chances[:step] *= 0.5
    drawn = np.abs(2 * np.arange(len(chances)) - int(steps.sum()))
    at = round(total * scale)
    return min(1.0, float(chances[drawn > at].sum() + 0.5 * chances[drawn == at].sum()))


def _scale_to_integers(sums: Floats) -> tuple[npt.NDArray[np.int64], int] | None:
    """The sums as multiples of a part of 1, and that part: answers score 0 or 1, thirds, or thirtieths."""
    for scale in SCALES:
        steps = np.round(sums * scale)
        if np.allclose(steps, sums * scale, atol=1e-6) and steps.sum() <= MOST_STEPS:
            return steps.astype(np.int64), scale
    return None


def correct_holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """The p-values of several factors, corrected so that all hold at once; what has none keeps none."""
    ordered = sorted((p, name) for name, p in p_values.items() if p is not None)
    corrected, largest = dict(p_values), 0.0
    for place, (p, name) in enumerate(ordered):  # never smaller than that of a stronger finding
        largest = max(largest, min(1.0, (len(ordered) - place) * p))
        corrected[name] = largest
    return corrected


def effective_sample_size(records: RunRecords) -> float:
    """How many independent questions would give the accuracy as precisely; 0 where there are none."""
    rows = select_base_rows(records)
    scored = score_rows(rows)
    if not scored.scorable.any():
        return 0.0
    return SceneClusters.from_records(rows).effective_size(scored.values, scored.scorable)


def smallest_detectable_drop(
    n: float, accuracy: float, *, discordant: float | None = None, power: float = POWER, tests: int = 1
) -> float:
    """The smallest drop from `accuracy` that n independent questions a side detect, at 5% two-sided over all `tests`.

    Between two separate sets; with `discordant`, the share of questions that only one side is right on,
    between two sides of the same questions. 1 where none is detectable. Questions that share scenes are worth
    fewer: give their `effective_sample_size`.
    """
    z_test, z_power = (NormalDist().inv_cdf(share) for share in (1 - (1 - LEVEL) / 2 / tests, power))
    if n <= 0:
        return 1.0

    def power_shortfall(drop: float) -> float:
        """Below 0 while the drop is too small to be detected."""
        if discordant is not None:
            spread = max(discordant, drop)
            return float(drop * n**0.5 - z_test * spread**0.5 - z_power * max(0.0, spread - drop**2) ** 0.5)
        after = accuracy - drop
        pooled = (accuracy + after) / 2
        apart = (accuracy * (1 - accuracy) + after * (1 - after)) ** 0.5
        return float(drop * n**0.5 - z_test * (2 * pooled * (1 - pooled)) ** 0.5 - z_power * apart)

    if accuracy <= 0 or power_shortfall(accuracy) < 0:
        return 1.0
    if power_shortfall(0.0) >= 0:
        return 0.0
    low, high = 0.0, accuracy
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power_shortfall(middle) < 0 else (low, middle)
    return high


def fit_slope(records: RunRecords, level: Floats, weights: Floats | None = None) -> AccuracySlope:
    """The trend of accuracy over the level of each row, a straight line; a row without one is left out.

    `weights` make the mixture of questions the same at all levels. The error is robust to scenes as clusters.
    """
    scored = score_rows(records)
    kept = np.flatnonzero(scored.scorable & np.isfinite(level))
    x, y = level[kept], scored.values[kept]
    w = np.ones(len(kept)) if weights is None else weights[kept]
    if len(np.unique(x[w > 0])) < 2:
        raise UserError("a slope needs questions at two levels or more")
    off = x - (w @ x) / w.sum()
    size = float(w @ off**2)
    per_level = float(w @ (off * y)) / size
    rest = y - (w @ y) / w.sum() - per_level * off
    scenes = SceneClusters.from_records(records.take(kept))
    moved = scenes.sum_by_scene(w * off * rest) / size
    freedom = max(scenes.count - 1, 0.5)
    error = math.sqrt(float((moved**2).sum()) * scenes.count / freedom)
    half = student_quantile(freedom) * error
    p = student_p_value(per_level / error, freedom) if error > 0 else float(per_level == 0)
    return AccuracySlope(per_level, per_level - half, per_level + half, p, len(kept), scenes.count)


def average_seeds(scores: Sequence[Score]) -> Score:
    """One figure of several seeds: the mean, with Student's interval over seeds; counts are summed."""
    values = np.array([s.value for s in scores if s.value is not None], np.float64)
    if not len(scores) or len({(s.metric, s.form, s.slice) for s in scores}) != 1:
        raise ValueError("seeds aggregate over scores of one metric and slice")
    summed = {name: sum(getattr(s, name) for s in scores) for name in ("n", *WITHOUT_ANSWER)}
    if len(values) < 2:
        return replace(scores[0], **summed) if len(scores) > 1 else scores[0]
    half = student_quantile(len(values) - 1) * float(values.std(ddof=1) / len(values) ** 0.5)
    mean = float(values.mean())
    return replace(scores[0], value=none_if_nan(mean), low=mean - half, high=mean + half, scenes=None, **summed)
