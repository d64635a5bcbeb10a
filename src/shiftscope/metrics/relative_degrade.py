"""How much of its accuracy a model loses when tested on another variant than it was trained on.

Super-CLEVR (Li et al., 2023). The paper prints one form, footnotes another and tabulates a third; see
docs/decisions/008-relative-degrade.md. With A(i, j) the accuracy of the model trained on i and tested on j:

*printed*     the mean of the six (A(i, i) − A(i, j)) / A(i, i); for the concept distribution the mean over
              the trained models k of ((head − tail) + (long − oppo)) / (2 · A(k, k)).
*footnote*    the same, but the concept distribution over 2 · A(k, bal).
*tabulated*   for each trained model its two drops are added, not averaged, then the mean over the models;
              the concept distribution is over A(k, bal), undivided by 2.
*absolute*    as tabulated, but a trained model that gains on the other variants counts by how much, without
              its sign. These are the figures of the paper's Table 2, all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import UserError, unknown
from ..result import Floats, RunRecords, Score
from .accuracy import score_rows
from .bootstrap import SceneBootstrap, bootstrap_interval, number_clusters
from .intervals import none_if_nan, sum_by_slice, widen_side
from .slices import WITHOUT_ANSWER, find_rows_apart, select_base_rows

FORMS = ("printed", "footnote", "tabulated", "absolute")
SUMMED = ("tabulated", "absolute")
VARIANTS = {
    "visual": ("easy", "mid", "hard"),
    "redundancy": ("rd-", "rd", "rd+"),
    "distribution": ("bal", "slt", "long"),
    "compositionality": ("co-0", "co-1", "co-2"),
}
DEFAULT = "default"  # Super-CLEVR's default data are mid, rd, bal and co-0 at once
BASES = {"visual": "mid", "redundancy": "rd", "distribution": "bal", "compositionality": "co-0"}
TrainTest = tuple[str, str]  # trained on, tested on
K = TypeVar("K", bound=Hashable)
_Number = TypeVar("_Number", float, Floats)


def find_level(name: str, factor: str) -> str:
    """What a variant is called within a factor: the default data are the factor's base there."""
    return BASES[factor] if name == DEFAULT else name


def relative_degrade(accuracy: Mapping[TrainTest, _Number], factor: str, form: str = "tabulated") -> _Number:
    """The figure of one factor, as a share, from the accuracies of models on its variants."""
    if factor not in VARIANTS:
        raise unknown("factor", factor, VARIANTS)
    if form not in FORMS:
        raise unknown("form of Relative Degrade", form, FORMS)

    def find_accuracy(trained: str, tested: str) -> _Number:
        if (trained, tested) not in accuracy:
            raise UserError(
                f"Relative Degrade of {factor}, {form} form: no accuracy of the model trained on "
                f"{trained!r} and tested on {tested!r}"
            )
        return accuracy[trained, tested]

    drops = []  # of each trained model, two added up
    try:
        for i in VARIANTS[factor]:
            if factor == "distribution":
                one = find_accuracy(i, "head") - find_accuracy(i, "tail")
                two = find_accuracy(i, "long") - find_accuracy(i, "oppo")
                base = find_accuracy(i, i if form == "printed" else "bal")
            else:
                base = find_accuracy(i, i)
                one, two = (base - find_accuracy(i, j) for j in VARIANTS[factor] if j != i)
            drops.append((one + two) / base)
    except ZeroDivisionError:
        raise UserError(
            f"Relative Degrade of {factor}: a model that is never right in its own domain has nothing to lose"
        ) from None
    drops = [abs(drop) for drop in drops] if form == "absolute" else drops
    total = sum(drops[1:], start=drops[0])
    return total / (len(drops) if form in SUMMED else 2 * len(drops))


@dataclass(frozen=True, slots=True, eq=False)
class DegradeEstimate:
    """A Relative Degrade with its interval, and its replicates for paired differences and ratios."""

    value: float
    low: float | None
    high: float | None
    replicates: Floats
    scenes: int

    @classmethod
    def from_replicates(cls, value: float, replicates: Floats, scenes: int) -> DegradeEstimate:
        low, high = bootstrap_interval(replicates[:, None], value, scenes)
        return cls(value, none_if_nan(low[0]), none_if_nan(high[0]), replicates, scenes)

    def subtract(self, other: DegradeEstimate) -> DegradeEstimate:
        """This minus the other, paired scene by scene."""
        return self.from_replicates(self.value - other.value, self.replicates - other.replicates, self.scenes)

    def divide(self, other: DegradeEstimate) -> DegradeEstimate:
        """This as a multiple of the other, paired scene by scene."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = self.replicates / other.replicates
        return self.from_replicates(self.value / other.value if other.value else float("nan"), ratios, self.scenes)


class ResampledAccuracies(Generic[K]):
    """Accuracies of several models or tests on the same scenes, which are resampled together."""

    def __init__(self, right: Mapping[K, Floats], asked: Mapping[K, Floats]) -> None:
        """Sums by scene: of each key an array [scene], whose scenes are numbered alike."""
        self._place = {key: k for k, key in enumerate(asked)}
        hits, among = (np.stack([sums[key] for key in asked]) for sums in (right, asked))
        self.values: dict[K, float] = dict(zip(asked, (hits.sum(1) / among.sum(1)).tolist(), strict=True))
        at, scene = np.indices(among.shape)
        resampled = SceneBootstrap(scene.ravel())
        self.scenes = resampled.clusters
        drawn = (resampled.sum_by_slice(sums.ravel(), at.ravel(), len(asked)) for sums in (hits, among))
        with np.errstate(invalid="ignore", divide="ignore"):
            self._replicates = np.divide(*drawn)  # [replicate, key]

    def subtract(self, pairs: Sequence[tuple[K, K]]) -> DegradeEstimate:
        """The accuracy of the first key less that of the second, the mean over pairs: one for each seed.

        The interval is over scenes; with several seeds, over scenes and seeds.
        """
        gaps = np.array([self.values[one] - self.values[other] for one, other in pairs])
        first, second = ([self._place[pair[k]] for pair in pairs] for k in (0, 1))
        drawn = (self._replicates[:, first] - self._replicates[:, second]).mean(1)
        found = DegradeEstimate.from_replicates(float(gaps.mean()), drawn, self.scenes)
        if len(pairs) < 2 or found.low is None or found.high is None:
            return found
        seeds = [(float(gaps.var(ddof=1)) / len(pairs), len(pairs) - 1.0)]
        sides = (found.value - found.low, found.high - found.value)
        below, above = (widen_side(side, seeds, max(self.scenes - 1.0, 1.0)) for side in sides)
        return replace(found, low=found.value - below, high=found.value + above)

    def measure_degrade(self, keys: Mapping[TrainTest, K], factor: str, form: str) -> DegradeEstimate:
        """Relative Degrade over the accuracies of these keys; a UserError where one that it needs is missing."""
        there = {pair: key for pair, key in keys.items() if key in self._place}
        value = relative_degrade({pair: self.values[key] for pair, key in there.items()}, factor, form)
        with np.errstate(invalid="ignore", divide="ignore"):
            replicates = {pair: self._replicates[:, self._place[key]] for pair, key in there.items()}
            drawn = relative_degrade(replicates, factor, form)
        return DegradeEstimate.from_replicates(value, drawn, self.scenes)


def measure_runs(runs: Mapping[TrainTest, RunRecords], factor: str, form: str = "tabulated") -> Score:
    """The figure of one factor from the runs themselves; scenes that runs share are resampled together."""
    if not runs:
        raise UserError(f"Relative Degrade of {factor} needs runs on its variants; there are none")
    pairs = sorted(runs)
    rows = [select_base_rows(runs[pair]) for pair in pairs]
    scored = [score_rows(r) for r in rows]
    numbered = number_clusters([r.cluster for r in rows])
    present, number = np.unique(np.concatenate(numbered), return_inverse=True)
    clusters = np.split(number, np.cumsum([len(r) for r in rows])[:-1])
    right: dict[TrainTest, Floats] = {}
    asked: dict[TrainTest, Floats] = {}
    for pair, cluster, s in zip(pairs, clusters, scored, strict=True):
        if not s.scorable.any():
            raise UserError(f"the run trained on {pair[0]!r} and tested on {pair[1]!r} has nothing to score")
        right[pair] = sum_by_slice(s.values * s.scorable, cluster, len(present))
        asked[pair] = sum_by_slice(s.scorable, cluster, len(present))
    estimate = ResampledAccuracies(right, asked).measure_degrade({pair: pair for pair in pairs}, factor, form)
    counts: dict[str, Any] = {
        name: sum(int((find_rows_apart(r, name) & s.scorable).sum()) for r, s in zip(rows, scored, strict=True))
        for name in WITHOUT_ANSWER
    }
    figures = estimate.value, sum(int(s.scorable.sum()) for s in scored), estimate.low, estimate.high
    of = (("factor", factor),)
    return Score(f"relative_degrade.{form}", *figures, slice=of, scenes=estimate.scenes, **counts)
