"""Drops from the base of a factor to another level of it, paired where twins exist.

Twins (matched pairs) share everything but the one factor, so a drop between them is estimated pair by pair.
Where levels have questions of their own, two accuracies are compared over the question types that both have.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from ..metrics.accuracy import score_rows
from ..metrics.intervals import RatioTerm, cluster_runs
from ..metrics.relative_degrade import VARIANTS
from ..metrics.significance import PairedTest, add_seed_variance, run_paired_test
from ..registry import SHIFTS
from ..shift import Factor
from .measure import reweight_question_types
from .runs import ReportRun, ReportRuns, read_shared_fact


@dataclass(frozen=True, slots=True, eq=False)
class TwinRuns:
    """Two runs of which the second asks about variants of what the first asks about; they may be the same."""

    base: ReportRun
    shifted: ReportRun
    base_rows: npt.NDArray[np.int64]
    shifted_rows: npt.NDArray[np.int64]

    def list_seeds(self) -> list["TwinRuns"]:
        """The twins of each seed that both sides have; itself where there are no seeds."""
        if len(self.base.each) == len(self.shifted.each) == 1:
            return [self]
        by_seed = {run.seed: run for run in self.shifted.each}
        both = [(run, by_seed[seed]) for run in self.base.each if (seed := run.seed) in by_seed]
        return [one for base, shifted in both if (one := match_twins(base, shifted)) is not None] or [self]

    def measure_drop(self) -> PairedTest | None:
        """The paired difference, base less shifted, over all seeds; a side without a response is not right."""
        firsts, seconds, asked = [], [], []
        for twins in self.list_seeds():
            base, shifted = score_rows(twins.base.records), score_rows(twins.shifted.records)
            good = base.scorable[twins.base_rows] & shifted.scorable[twins.shifted_rows]
            one, two = twins.base_rows[good], twins.shifted_rows[good]
            if len(one):
                firsts.append(base.values[one])
                seconds.append(shifted.values[two])
                asked.append(twins.base.records.take(one))
        if not asked:
            return None
        test = run_paired_test(np.concatenate(firsts), np.concatenate(seconds), cluster_runs(asked))
        return add_seed_variance(test, [[float((a - b).mean()) for a, b in zip(firsts, seconds, strict=True)]])

    def find_failing(self) -> npt.NDArray[np.int64]:
        """Which pairs are right in the base and not in the variant."""
        base, shifted = score_rows(self.base.records), score_rows(self.shifted.records)
        wrong = shifted.scorable & (shifted.values < 1)
        return np.flatnonzero((base.values[self.base_rows] >= 1) & wrong[self.shifted_rows])


@lru_cache(maxsize=4)
def find_twin_runs(report: ReportRuns) -> tuple[TwinRuns, ...]:
    """Every two runs of one trained model that hold twins of each other, those within one run included.

    Names repeat from one dataset to another: only that of which it is a variant has its originals.
    """
    pairs = []
    for training in dict.fromkeys(r.training for r in report.runs):
        runs = [r for r in report.runs if r.training == training]
        for shifted in runs:
            bases = [run for run in runs if run.source_id == shifted.source_id or run.is_base_of(shifted)]
            matched = [one for base in bases if (one := match_twins(base, shifted)) is not None]
            within = [one for one in matched if one.base.source_id == shifted.source_id]
            pairs += within or matched
    return tuple(pairs)


def match_twins(base: ReportRun, shifted: ReportRun) -> TwinRuns | None:
    """The rows of `shifted` that are variants of rows of `base`; None where there are none.

    A base may be a variant of something else. But a variant may also keep its original's name: a row that
    names itself as what it is a variant of is no base.
    """
    twins, names, codes = shifted.records.twin, base.records.question.values, base.records.question.codes
    number = {name: k for k, name in enumerate(names)}
    of_twin = np.array([*(number.get(name, -2) for name in base.records.twin.values), -2], np.int64)
    originals = np.flatnonzero((of_twin[base.records.twin.codes] != codes) & (codes >= 0))
    if not len(originals) or not (twins.codes >= 0).any():
        return None
    row_of = np.full(len(names), -1, np.int64)
    row_of[codes[originals]] = originals
    rows = np.array([*(row_of[number[t]] if t in number else -1 for t in twins.values), -1], np.int64)
    beside = rows[twins.codes]
    there = np.flatnonzero(beside >= 0)
    return TwinRuns(base, shifted, beside[there], there) if len(there) else None


WITHIN = "its variants"
OTHER = "other"  # the factor is not known


@dataclass(frozen=True, slots=True, eq=False)
class RunShift:
    """A run about the base of a factor and one about another level of it, by the same trained model."""

    factor: str
    base: ReportRun
    shifted: ReportRun
    twins: TwinRuns | None

    @property
    def title(self) -> str:
        """The factor in words."""
        return name_factor(self.factor, self.shifted)

    @property
    def to(self) -> str:
        return WITHIN if self.base is self.shifted else self.shifted.test

    def measure_drop(self) -> PairedTest | None:
        """Base less shifted."""
        return self.twins.measure_drop() if self.twins else measure_unpaired_drop(self.base, self.shifted)


def measure_unpaired_drop(base: ReportRun, shifted: ReportRun) -> PairedTest | None:
    """The accuracy of the one less that of the other, over the types both have, weighted as in the base."""
    runs = [one.records for one in (*base.each, *shifted.each)]
    weights = reweight_question_types(runs).weights
    if not all(w.any() for w in weights):
        return None
    values = np.concatenate([score_rows(r).values for r in runs])
    every = np.concatenate(weights)
    here = np.arange(len(values)) < sum(len(one.records) for one in base.each)
    parts = [RatioTerm(values * w, w) for w in (np.where(here, every, 0), np.where(here, 0, every))]
    made = cluster_runs(runs).combine(parts, (1, -1))
    n = sum(int((w > 0).sum()) for w in weights[len(base.each) :])
    first = float(parts[0].hits.sum() / parts[0].among.sum())
    test = PairedTest(n, 0, 0, made.value, made.low, made.high, made.p, made.scenes, first)
    means = [float(score_rows(r).values @ w / w.sum()) for r, w in zip(runs, weights, strict=True)]
    return add_seed_variance(test, [means[: len(base.each)], means[len(base.each) :]])


def find_shifts(report: ReportRuns) -> Iterator[RunShift]:
    """Every base and level of one trained model that are among the runs; the order is that of the factors."""
    shifts = []
    for run in report.runs:
        twins = [one for one in find_twin_runs(report) if one.shifted is run]
        for one in twins:
            factor = read_shared_fact(run.records.take(one.shifted_rows), "factor") or run.factor
            shifts.append(RunShift(factor or OTHER, one.base, run, one))
        if not twins and run.factor:
            bases = [base for base in report.runs if base.training == run.training and base is not run]
            shifts += [RunShift(run.factor, base, run, None) for base in bases if base.is_base_of(run)]
    order = {name: k for k, name in enumerate(load_factors())}
    yield from sorted(shifts, key=lambda s: order.get(s.factor, len(order)))


def find_runs_without_base(report: ReportRuns) -> list[ReportRun]:
    """Runs about a level of a factor whose base no run of that training is about."""
    shown = {id(s.shifted) for s in find_shifts(report)}
    known = {*load_factors(), *(r.spec["factor"] for r in report.runs if r.spec.get("factor"))}
    return [run for run in report.runs if run.factor in known and id(run) not in shown]


def name_factor(factor: str, run: ReportRun) -> str:
    """A factor in words: as a run about it says, else by its title."""
    if named := run.spec.get("factor"):
        return str(named)
    return load_factors()[factor].title if factor in load_factors() else factor.capitalize()


@cache
def load_factors() -> dict[str, Factor]:
    """The factors that are known, by name."""
    loaded = (module for _, module in SHIFTS.load_all())
    factors = {module.FACTOR.name: module.FACTOR for module in loaded if hasattr(module, "FACTOR")}
    return {name: factors[name] for name in sorted(factors, key=lambda n: ([*VARIANTS, n].index(n), n))}
