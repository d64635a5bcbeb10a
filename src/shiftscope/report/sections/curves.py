"""Curves: accuracy against question length, program steps, objects, question type and answer frequency."""

from collections.abc import Sequence

import numpy as np

from ...columns import Column
from ...result import RunRecords
from .. import measure
from ..chart.lines import LineSeries, draw_lines
from ..markup import Html, render_charts, render_figure
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import render_model_legend, select_common_tests

PLACES = {"report": 50}
ENOUGH = 40  # questions a range should hold
NARROW, WIDE = 320.0, 1000.0  # pixels: three charts in a row, or one
CURVES = (  # the fact on the axis, the heading, the unit
    ("length", "Question length", "words"),
    ("steps", "Program length", "steps"),
    ("objects", "Objects in the scene", ""),
    ("images", "Images per question", ""),
    ("frequency", "Frequency of the true answer", "% of answers"),
    ("kind", "Question type", ""),
    ("action", "Type of action", ""),
)


def section(report: ReportRuns) -> Section | None:
    compared = pool_contenders(report)
    if compared is None:
        return None
    home, runs, note = compared
    cuts = [(curve, cut_runs(runs, curve[0])) for curve in CURVES]
    charts = [draw_curve(home, runs, *curve, cut) for curve, cut in cuts if cut and len(cut[0].names) > 1]
    if not charts:
        return None
    lead = f"Points with 95% intervals; the pale bars behind show how the questions are spread.{note}"
    parts = [render_model_legend(home, home.contenders), render_charts(charts, "charts")]
    return Section("Accuracy by question property", parts, lead)


def pool_contenders(report: ReportRuns) -> tuple[ReportRuns, list[ReportRun], str] | None:
    """The in-domain runs on common tests, one run of all tests per contender, and what to say of it."""
    home = report.select_in_domain()
    shared = select_common_tests(measure.drop_variants(home))
    if shared is None:
        return None
    together = " All tests together." if len(shared.tests) > 1 else ""
    pooled = [measure.pool_runs(shared.select_contender(contender)) for contender in shared.contenders]
    return shared, pooled, together + measure.describe_dropped_variants(home)


def cut_runs(runs: Sequence[ReportRun], fact: str) -> list[measure.Levels] | None:
    """One cut into levels for all runs, so that points stand above each other; None without the fact."""
    columns = [answer_frequency(r.records) if fact == "frequency" else dict(r.records.facts).get(fact) for r in runs]
    known = [c for c in columns if c is not None]
    if len(known) < len(columns) or not known:
        return None
    together = measure.cut_levels(
        measure.concat_columns(known), min(max(len(known[0]) // ENOUGH, 3), measure.MOST_LEVELS)
    )
    ends = np.cumsum([len(c) for c in known])
    return [
        measure.Levels(together.names, together.codes[end - len(c) : end], together.ordered)
        for c, end in zip(known, ends.tolist(), strict=True)
    ]


def answer_frequency(records: RunRecords) -> Column:
    """How frequent each row's true answer is, in whole per cent of the rows."""
    codes = records.truth.codes
    n = np.bincount(codes[codes >= 0], minlength=len(records.truth.values))
    shares = np.maximum(np.round(100 * n / max(n.sum(), 1)), 1).astype(int)
    values, at = np.unique(shares, return_inverse=True)
    return Column(tuple(values.tolist()), np.append(at, -1).astype(np.int32)[codes])


def draw_curve(
    report: ReportRuns, runs: Sequence[ReportRun], fact: str, title: str, unit: str, cut: Sequence[measure.Levels]
) -> Html:
    """The accuracy of all runs against one fact; `cut` is that of each run."""
    names = cut[0].names
    drawn = [
        LineSeries(run.contender, report.series_of(run.contender), measure.measure_accuracy_by(run, fact, at))
        for run, at in zip(runs, cut, strict=True)
    ]
    sizes = np.bincount(cut[0].codes[cut[0].codes >= 0], minlength=len(names)).tolist()
    label = f"Accuracy against {title.lower()} for {', '.join(r.contender for r in runs)}"
    wide = len(names) > 8 or max(map(len, names)) > 8
    chart = draw_lines(label, names, drawn, sizes, joined=cut[0].ordered, width=WIDE if wide else NARROW)
    return render_figure(title, f", {unit}" if unit else None, chart, look="wide" if wide else None)
