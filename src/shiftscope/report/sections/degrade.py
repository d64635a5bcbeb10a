"""Relative Degrade: the share of its accuracy that a model loses to each factor, measured beside reported."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from ...errors import UserError
from ...metrics.relative_degrade import FORMS, VARIANTS, TrainTest, find_level, measure_runs
from ...metrics.significance import average_seeds
from ...metrics.transfer_matrix import TransferMatrix
from ...result import RunRecords, Score
from ...suites import ReportedFigures, find_reported
from ..chart.bars import Bar, draw_bars
from ..chart.frame import SHAPES
from ..drops import load_factors
from ..markup import Html, render_charts, render_figure, render_note
from ..measure import drop_variants, reweight_question_types
from ..number_format import DASH, format_percent, format_spread
from ..page import Section
from ..runs import ReportRuns
from ..score_table import score_cell
from ..study_page import DIGITS, describe_caveats, format_figure, select_grids, select_reported
from ..table import Row, Table, TableHead, numeric

TABLE = "relative_degrade"
PLACES = {"report": 35, "study": 40}
FORM = "absolute"  # the form that the figures of the paper's Table 2 follow, and so the one to set beside them
LEAD = "How much of its accuracy a model loses when tested on another variant than it was trained on"

FORM_NOTE = "The forms are defined at the top of this page; compare absolute with reported figures."


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        return _build_study(records)
    measured = {form: measure_degrade(records, form) for form in FORMS}
    if not any(measured.values()):
        return None
    reported = find_reported(TABLE)
    titles = {f: load_factors()[f].title for f in VARIANTS}
    drawn = {f: {m: s for (m, at), s in measured[FORM].items() if at == f} for f in VARIANTS}
    charts = [_draw_chart(titles[f], f, scores, reported.models, reported) for f, scores in drawn.items() if scores]
    lead = f"{LEAD}, over the question types that all variants of a factor have. "
    lead += "The default data are mid, rd, bal and co-0."
    rows: list[Row] = []
    sizes = []
    for model in dict.fromkeys(model for figures in measured.values() for model, _ in figures):
        group: list[Row] = [
            [model, f"{form}, measured", *(score_cell(figures.get((model, f))) for f in VARIANTS)]
            for form, figures in measured.items()
        ]
        if name := reported.find_model(model):
            shares = [reported.find(TABLE, name, f) for f in VARIANTS]
            group.append([model, "reported", *(score_cell(Score("", share, 0)) for share in shares)])
        rows += group
        sizes.append(len(group))
    heads = [TableHead("Model"), TableHead("Form"), *(numeric(titles[factor]) for factor in VARIANTS)]
    table = Table("Relative Degrade in the forms the paper names, %", heads, rows, groups=sizes)
    return Section("Relative Degrade", [render_charts(charts), _render_key(reported), table], lead)


def _build_study(matrix: TransferMatrix) -> Section | None:
    study, group = matrix.study, matrix.study.question_groups[0]
    reported = select_reported(matrix, group)
    own = [name for model in study.models if (name := reported.find_model(model))]
    charts = []
    for grid in select_grids(matrix):
        measured = {model: matrix.measure_degrade(model, grid, FORM, group) for model in study.models}
        scores = {model: Score(FORM, d.value, 0, d.low, d.high) for model, d in measured.items() if d}
        if scores:
            charts.append(_draw_chart(grid.title, grid.factor, scores, own, reported))
    if not charts:
        return None
    tables = [degrade_table(one) for one in (matrix, matrix.validation) if one]
    return Section("Relative Degrade", [render_charts(charts), _render_key(reported), *tables], f"Table 2. {LEAD}.")


def degrade_table(matrix: TransferMatrix) -> Table:
    """Relative Degrade of each factor in all its forms, of each group of questions, beside reported figures."""
    study, grids, groups = matrix.study, select_grids(matrix), matrix.study.question_groups
    reported = select_reported(matrix, groups[0])
    columns = [(grid, group) for grid in grids for group in groups]
    rows: list[tuple[str, ...]] = []
    for model in study.planned:
        for form in FORMS:
            measured = [matrix.measure_degrade(model, grid, form, group) for grid, group in columns]
            cells = [DASH if d is None else format_figure(Score(form, d.value, 0, d.low, d.high)) for d in measured]
            rows.append((model, form, *cells))
        if name := reported.find_model(model):
            shares = [reported.find(TABLE, name, g.factor) if group == groups[0] else None for g, group in columns]
            rows.append((f"{name}, reported", FORM, *("" if s is None else format_percent(s, DIGITS) for s in shares)))
    heads = ("model", "form", *(g.title if group == groups[0] else f"{g.title}, {group}s" for g, group in columns))
    split = "" if matrix.split == "test" else ", validation split"
    note = " ".join([FORM_NOTE, *describe_caveats(grids)])
    return Table(f"Table 2, Relative Degrade{split}, %", heads, tuple(rows), note)


def measure_degrade(report: ReportRuns, form: str) -> dict[tuple[str, str], Score]:
    """Model and factor to figure, for those whose runs fill all the entries the form needs; over their common seeds."""
    report = drop_variants(report)
    figures = {}
    for model in dict.fromkeys(r.model for r in report.runs if r.trained):
        runs = [r for r in report.runs if r.model == model and r.trained]
        for factor, variants in VARIANTS.items():
            entries = {(find_level(r.trained, factor), find_level(r.test, factor)): r for r in runs}
            used = {at: run for at, run in entries.items() if at[0] in variants}
            if not used:
                continue
            by_seed = {at: {one.seed: one.records for one in run.each} for at, run in used.items()}
            seeds = [s for s in next(iter(by_seed.values())) if all(s in known for known in by_seed.values())]
            every = [{at: known[s] for at, known in by_seed.items()} for s in seeds]
            every = every or [{at: run.records for at, run in used.items()}]
            with suppress(UserError):  # an entry is missing: no figure rather than half of one
                figures[model, factor] = average_seeds([_measure_entries(one, factor, form) for one in every])
    return figures


def _measure_entries(entries: Mapping[TrainTest, RunRecords], factor: str, form: str) -> Score:
    """Over the question types that all of them have: easy scenes have no parts to ask about."""
    weights = reweight_question_types(list(entries.values())).weights
    shared = {at: r.take(w > 0) for (at, r), w in zip(entries.items(), weights, strict=True)}
    return measure_runs(shared, factor, form)


def _render_key(reported: ReportedFigures) -> Html:
    dashed = f" Dashed: reported ({reported.source.removeprefix('reported: ')})." if reported.source else ""
    form = f"The charts show the {FORM} form, that of the paper's figures; smaller is more robust."
    return render_note(f"Filled: measured here, with 95% intervals.{dashed} {form}")


def _draw_chart(
    title: str, factor: str, scores: Mapping[str, Score], others: Iterable[str], reported: ReportedFigures
) -> Html:
    """Each measured model with the paper's figure below it; then what the paper reports of others."""
    bars, left = [], dict.fromkeys(others)

    def add_reported(model: str, series: int) -> None:
        value = reported.find(TABLE, model, factor)
        if value is not None:
            bars.append(Bar(f"{model}, reported", 100 * value, format_percent(value), series, hollow=True))

    for series, (model, score) in enumerate(scores.items()):
        value = score.value or 0.0
        figure = f"{format_percent(value)} {format_spread(value, score.low, score.high)}"
        low, high = (None if end is None else 100 * end for end in (score.low, score.high))
        bars.append(Bar(f"{model}, measured", 100 * value, figure, series, low, high))
        if (name := reported.find_model(model)) in left:
            add_reported(str(name), series)
            left.pop(name)
    for model in left:
        add_reported(model, len(SHAPES))
    chart = draw_bars(f"Relative Degrade by {title}", bars, width=470)
    return render_figure(title.capitalize(), ", % of accuracy lost", chart)
