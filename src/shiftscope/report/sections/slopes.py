"""Slopes: the trend of accuracy over the levels of a factor, where these have an order."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...errors import UserError
from ...metrics.intervals import FEW_SCENES
from ...metrics.significance import AccuracySlope, PairedTest, add_seed_variance, fit_slope
from ...result import Floats, RunRecords
from ..drops import find_shifts, load_factors
from ..markup import render_note
from ..measure import SIGNIFICANCE, correct_p_values, pool_runs, reweight_question_types
from ..number_format import DASH, format_count
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import WORSE, change_cell, render_model_name
from ..table import Row, Table, TableCell, TableHead, numeric

PLACES = {"report": 32}


def section(report: ReportRuns) -> Section | None:
    slopes = {
        (contender, factor): one
        for contender in report.select_in_domain().contenders
        for factor, one in measure_slopes(report, contender)
    }
    if not slopes:
        return None
    chances = correct_p_values({key: one.p for key, one in slopes.items() if np.isfinite(one.p)})
    names = [c for c in report.select_in_domain().contenders if any(key[0] == c for key in slopes)]
    rows: list[Row] = [
        [f, *(_build_cell(slopes.get((c, f)), chances.get((c, f))) for c in names)]
        for f in dict.fromkeys(f for _, f in slopes)
    ]
    heads = [TableHead("Factor"), *(numeric(render_model_name(report, c)) for c in names)]
    note = render_note(
        WORSE, f" significant: {SIGNIFICANCE:g}, Holm-corrected over the table, with errors that take scenes together."
    )
    lead = (
        "Change of accuracy in points from one level of the factor to the next, by a straight line through "
        "all levels, the default's included; over the question types that all of them have, weighted "
        "alike. A factor whose levels have no order has no trend."
    )
    return Section("Trend over levels", [Table("Change per level", heads, rows), note], lead)


def measure_slopes(report: ReportRuns, contender: str) -> Iterator[tuple[str, AccuracySlope]]:
    """The slope over the levels of each factor that has an order, and of each fact `level` of numbers."""
    for name, factor in load_factors().items():
        if not factor.ordered:
            continue
        shifts = [s for s in find_shifts(report) if s.factor == name and s.base.contender == contender]
        for base in dict.fromkeys(s.base for s in shifts):
            placed: list[tuple[ReportRun, float]] = []
            for run in (base, *(s.shifted for s in shifts if s.base is base)):
                level_name = run.variant if run.factor else factor.base  # what is no variant of the factor is its base
                if level_name in factor.variants:
                    placed.append((run, float(factor.variants.index(level_name))))
            slope = _fit_runs([(one, place) for run, place in placed for one in run.each])
            if slope is not None:
                seeds = set.intersection(*({one.seed for one in run.each} for run, _ in placed))
                slope = _add_seeds(slope, placed, sorted(seeds)) if len(seeds) > 1 else slope
                names = [run.test for run, _ in sorted(placed, key=lambda one: (one[1], one[0].test))]
                yield f"{factor.title}: {' → '.join(names)}", slope
    yield from _fit_user_levels(pool_runs(report.select_in_domain().select_contender(contender)).records)


def _fit_runs(placed: Sequence[tuple[ReportRun, float]]) -> AccuracySlope | None:
    """The slope over single runs, each at its level."""
    weights = np.concatenate(reweight_question_types([run.records for run, _ in placed]).weights)
    level = np.concatenate([np.full(len(run.records), place) for run, place in placed])
    return _fit_slope(pool_runs([run for run, _ in placed]).records, np.where(weights > 0, level, np.nan), weights)


def _add_seeds(slope: AccuracySlope, placed: Sequence[tuple[ReportRun, float]], seeds: Sequence[str]) -> AccuracySlope:
    """The same slope, unsure for the seeds that all levels have, too."""
    each = [[(one, place) for run, place in placed for one in run.each if one.seed == seed] for seed in seeds]
    slopes = [one.per_level for runs in each if (one := _fit_runs(runs)) is not None]
    test = PairedTest(slope.n, 0, 0, slope.per_level, slope.low, slope.high, slope.p, slope.scenes)
    made = add_seed_variance(test, [slopes])
    assert made.low is not None and made.high is not None and made.p is not None
    return replace(slope, low=made.low, high=made.high, p=made.p)


def _fit_user_levels(records: RunRecords) -> Iterator[tuple[str, AccuracySlope]]:
    """Over levels that the data of a user tell as numbers: by their values, not their ranks."""
    facts = dict(records.facts)
    if "factor" not in facts or "level" not in facts:
        return
    for factor in facts["factor"].values:
        rows = records.take(facts["factor"].equals(factor))
        column = dict(rows.facts)["level"]
        used = [k for k in np.unique(column.codes).tolist() if k >= 0]
        values = [column.values[k] for k in used]
        if factor in load_factors() or not all(type(v) in (int, float) for v in values):
            continue
        parts = [np.flatnonzero(column.codes == k) for k in used]
        weights, level = np.zeros(len(rows)), np.full(len(rows), np.nan)
        mixed = reweight_question_types([rows.take(part) for part in parts]).weights
        for part, value, weight in zip(parts, values, mixed, strict=True):
            weights[part], level[part] = weight, np.where(weight > 0, value, np.nan)
        slope = _fit_slope(rows, level, weights)
        if slope is not None:
            yield str(factor), slope


def _fit_slope(records: RunRecords, level: Floats, weights: Floats | None) -> AccuracySlope | None:
    try:
        slope = fit_slope(records, level, weights)
    except UserError:  # one level only
        return None
    return slope if slope.scenes >= FEW_SCENES else None


def _build_cell(one: AccuracySlope | None, p: float | None) -> TableCell:
    if one is None:
        return TableCell(DASH, 0.0)
    about = f"{format_count(one.n)} questions of {format_count(one.scenes)} scenes"
    return change_cell(one.per_level, one.low, one.high, p, about)
