"""Relative Degrade: the share of its accuracy that a model loses to each factor, measured beside reported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...errors import UserError
from ...metrics.relative_degrade import FORMS, VARIANTS, find_level, measure_runs
from ...metrics.transfer_matrix import TransferMatrix
from ...result import Score
from ...suites.superclevr import reported as paper
from ...suites.superclevr.study import MODELS, QUESTION_GROUPS
from ..chart.bars import Bar, draw_bars
from ..chart.frame import SHAPES
from ..markup import Html, render_charts, render_figure, render_note
from ..measure import drop_variants
from ..mixture import reweight_question_types
from ..number_format import format_percent, format_spread
from ..page import Section
from ..runs import ReportRuns
from ..score_table import score_cell
from ..study_tables import degrade_table, select_grids
from ..table import Row, Table, TableHead, numeric

PLACES = {"report": 35, "study": 40}
FORM = "absolute"  # the form that the figures of the paper's Table 2 follow, and so the one to set beside them
LEAD = "How much of its accuracy a model loses when tested on another variant than it was trained on"

Figures = Mapping[tuple[str, str], Score]  # model, factor


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    key = render_note(
        "Filled: measured here, with 95% intervals. Dashed: reported (",
        paper.SOURCE.removeprefix("reported: "),
        f"). The charts show the {FORM} form, that of the paper's figures; smaller is more robust.",
    )
    if isinstance(records, TransferMatrix):
        charts = []
        for one in select_grids(records):
            found = {m: records.measure_degrade(m, one, FORM, "object") for m in MODELS}
            scores = {m: Score(FORM, d.value, 0, d.low, d.high) for m, d in found.items() if d}
            if scores:
                charts.append(
                    _draw_chart(one.title, one.factor, scores, filter(None, map(find_reported_model, MODELS)))
                )
        tables = [degrade_table(records, sort) for sort in QUESTION_GROUPS]
        return (
            Section("Relative Degrade", [render_charts(charts), key, *tables], f"Table 2. {LEAD}.") if charts else None
        )
    measured = {form: measure_degrade(records, form) for form in FORMS}
    if not any(measured.values()):
        return None
    drawn = {f: {m: s for (m, at), s in measured[FORM].items() if at == f} for f in VARIANTS}
    charts = [_draw_chart(f, f, scores, paper.MODELS) for f, scores in drawn.items() if scores]
    lead = f"{LEAD}, over the question types that all variants of a factor have. "
    lead += "The default data are mid, rd, bal and co-0."
    return Section("Relative Degrade", [render_charts(charts), key, _build_table(measured)], lead)


def measure_degrade(study: ReportRuns, form: str) -> dict[tuple[str, str], Score]:
    """Model and factor to figure, for those whose runs fill all the entries the form needs."""
    study = drop_variants(study)
    found = {}
    for model in dict.fromkeys(r.model for r in study.runs if r.trained):
        runs = [r for r in study.runs if r.model == model and r.trained]
        for factor, variants in VARIANTS.items():
            entries = {(find_level(r.trained, factor), find_level(r.test, factor)): r.records for r in runs}
            used = {at: records for at, records in entries.items() if at[0] in variants}
            if not used:
                continue
            # Only the question types that all of them have: easy scenes have no parts to ask about.
            weights = reweight_question_types(list(used.values())).weights
            shared = {at: r.take(w > 0) for (at, r), w in zip(used.items(), weights, strict=True)}
            try:
                found[model, factor] = measure_runs(shared, factor, form)
            except UserError:  # an entry is missing: no figure rather than half of one
                continue
    return found


def find_reported_model(model: str) -> str | None:
    """The paper's name for a model, however it is spelled here."""

    def normalise(name: str) -> str:
        return re.sub(r"[^a-z0-9]", "", name.lower())

    return next((name for name in paper.MODELS if normalise(name) == normalise(model)), None)


def _draw_chart(title: str, factor: str, scores: Mapping[str, Score], others: Iterable[str]) -> Html:
    """Each measured model with the paper's figure below it; then what the paper reports of others."""
    bars, left = [], dict.fromkeys(others)
    for series, (model, score) in enumerate(scores.items()):
        value = score.value or 0.0
        figure = f"{format_percent(value)} {format_spread(value, score.low, score.high)}"
        low, high = (None if end is None else 100 * end for end in (score.low, score.high))
        bars.append(Bar(f"{model}, measured", 100 * value, figure, series, low, high))
        if (reported := find_reported_model(model)) in left:
            bars.append(_build_reported_bar(str(reported), factor, series))
            left.pop(reported)
    bars += [_build_reported_bar(model, factor, len(SHAPES)) for model in left]
    chart = draw_bars(f"Relative Degrade by {title}", bars, width=470)
    return render_figure(title.capitalize(), ", % of accuracy lost", chart)


def _build_reported_bar(model: str, factor: str, series: int) -> Bar:
    value = paper.find_relative_degrade(model, factor)
    return Bar(f"{model}, reported", 100 * value, format_percent(value), series, hollow=True)


def _build_table(measured: Mapping[str, Figures]) -> Table:
    rows: list[Row] = []
    sizes = []
    for model in dict.fromkeys(model for figures in measured.values() for model, _ in figures):
        group: list[Row] = [
            [model, f"{form}, measured", *(score_cell(figures.get((model, f))) for f in VARIANTS)]
            for form, figures in measured.items()
        ]
        if reported := find_reported_model(model):
            given = [paper.find_relative_degrade(reported, f) for f in VARIANTS]
            group.append([model, "reported", *(score_cell(Score("", v, 0)) for v in given)])
        rows += group
        sizes.append(len(group))
    heads = [TableHead("Model"), TableHead("Form"), *(numeric(factor.capitalize()) for factor in VARIANTS)]
    return Table("Relative Degrade in the forms the paper names, %", heads, rows, groups=sizes)
