"""Calibration: whether a model's confidence in its answers matches how often it is right."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ...errors import UserError
from ...metrics.calibration import Reliability, measure
from ...metrics.intervals import wilson_interval
from ...metrics.transfer_matrix import TransferMatrix
from ...result import Score
from ..chart.frame import draw_legend_mark
from ..chart.lines import LineSeries, draw_lines
from ..markup import Child, Html, render_charts, render_figure, render_legend, tag
from ..measure import Levels, describe_dropped_variants, drop_variants, measure_accuracy_by
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import build_run_table, render_model_legend, score_cell, sort_runs
from ..study_page import describe_measure
from ..table import numeric

PLACES = {"report": 55, "study": 50}
BINS = 10
FEWEST = 5  # confidences in a bin of a study, for a point


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        return _build_study(records)
    home = records.select_in_domain()
    besides, report = describe_dropped_variants(home), drop_variants(home)
    shown = [r for r in report.runs if not r.is_reference and np.isfinite(r.records.confidence).any()]
    if not shown:
        return None
    lines: dict[str, list[LineSeries]] = {test: [] for test in report.tests}
    errors: dict[ReportRun, Score] = {}
    for run in sort_runs(report, shown):
        confidence = run.records.confidence
        placed = np.minimum(np.nan_to_num(confidence) * BINS, BINS - 1)
        bins = np.where(np.isfinite(confidence), placed, -1).astype(np.int32)
        scores = measure_accuracy_by(run, "belief", Levels(_name_bins(BINS), bins, ordered=True))
        lines[run.test].append(LineSeries(run.contender, report.series_of(run.contender), scores))
        with suppress(UserError):  # confidences, but none beside an answer
            errors[run] = measure(run.records)[0]
    charts = [
        _draw_chart(test if len(lines) > 1 else "Accuracy", " by confidence, %", "Accuracy against confidence", series)
        for test, series in lines.items()
        if series
    ]
    title = "Expected calibration error, points"
    parts: list[Child] = [
        render_model_legend(report, dict.fromkeys(r.contender for r in sort_runs(report, shown))),
        render_charts(charts),
        build_run_table(report, title, errors, [numeric("Calibration error")], lambda run: [score_cell(errors[run])]),
    ]
    lead = f"On the dashed line a model is right as often as it is confident; below it, it is overconfident.{besides}"
    return Section("Calibration", parts, lead)


def _build_study(matrix: TransferMatrix) -> Section | None:
    study = matrix.study
    answers, series = [], set()
    # The default in domain, and each factor's farthest shift.
    for trained, tested in dict.fromkeys([study.default, *(grid.farthest for grid in study.grids)]):
        title = f"{trained.label} on {tested.label}"
        curves = [
            (k, model, r)
            for k, model in enumerate(study.models)
            if (out := matrix.find_outcome(model, trained, tested, study.question_groups[0]))
            and (r := out.confidence)
            and r.n
        ]
        if curves:
            answers.append(_draw_reliability(f"Answers, {title}", curves))
            series |= {k for k, _, _ in curves}
    parts: list[Child] = []
    if answers:
        parts.append(render_legend([draw_legend_mark(k), " ", study.models[k]] for k in sorted(series)))
        parts.append(render_charts(answers))
    for one in matrix.diagnoses:
        named = [(describe_measure(matrix, name), r) for name, r in one.reliability if r.n]
        charts = [_draw_reliability(f"Confidence in {name}", [(0, name, r)]) for name, r in named]
        if charts:
            title = f"Scene parser, {one.trained.label} on {one.tested.label}"
            parts += [tag("h3", title), render_charts(charts)]
    lead = (
        "On the dashed line, predictions are right as often as their confidence says; below it, they are "
        "overconfident. Whiskers: 95% (Wilson), long where a bin holds few."
    )
    return Section("Calibration", parts, lead) if parts else None


def _draw_reliability(title: str, curves: Sequence[tuple[int, str, Reliability]]) -> Html:
    lines = []
    for k, name, one in curves:
        pairs = zip(one.right, one.count, strict=True)
        points = (Score("", right / n, n, *wilson_interval(right, n)) if n >= FEWEST else None for right, n in pairs)
        lines.append(LineSeries(name, k, tuple(points)))
    sizes = curves[0][2].count if len(curves) == 1 else ()
    return _draw_chart(title, ": how often right, by confidence, %", title, lines, sizes)


def _draw_chart(title: str, about: str, label: str, lines: Sequence[LineSeries], sizes: Sequence[int] = ()) -> Html:
    """Accuracy over bins of confidence, against the line on which both are the same."""
    bins = len(lines[0].points)
    guide = [(k + 0.5) / bins for k in range(bins)]
    chart = draw_lines(label, _name_bins(bins), lines, list(sizes) or [0] * bins, width=470, guide=guide)
    return render_figure(title, about, chart)


def _name_bins(bins: int) -> tuple[str, ...]:
    return tuple(f"{100 * k // bins}–{100 * (k + 1) // bins}" for k in range(bins))
