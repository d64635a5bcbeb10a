"""Results: every model on every test, and on every question type, with intervals and significance."""

from dataclasses import replace

import numpy as np

from ...metrics.significance import PairedTest, average_seeds
from ...metrics.transfer_matrix import TransferMatrix
from ...result import MISSING_IMAGE, Score
from .. import measure
from ..chart.bars import draw_interval
from ..markup import Child, Html, join_markup, render_note, tag
from ..number_format import DASH, format_count, format_p, format_paired, format_percent, format_points
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import (
    WORSE,
    build_comparison,
    compare_by_fact,
    find_best,
    model_cell,
    p_cell,
    score_cell,
    significance_mark,
)
from ..study_page import DIGITS, format_figure, select_reported
from ..table import Table, TableCell, TableHead, count_cell, numeric

PLACES = {"report": 10, "study": 20}
TINY = 0.001  # a table of many p-values omits those below it


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        compared = model_comparison_table(records)
        return Section("Results", [in_domain_table(records), *([compared] if compared.rows else [])])
    home = measure.drop_variants(records.select_in_domain())
    if len(home.tests) == 1:
        table = _build_one_test_table(home, home.tests[0])
    else:
        runs = {(r.contender, r.test): r for r in home.runs}
        scores = {key: measure.measure_accuracy(run) for key, run in runs.items()}
        table = build_comparison(home, f"{measure.describe_metric(home)} by test", "Test", home.tests, scores, runs)
    parts: list[Child] = [
        table,
        compare_by_fact(home, "about", "Accuracy on questions about objects and about their parts", "About", True),
        compare_by_fact(home, "kind", "Accuracy by question type", "Question type"),
        _build_key(home),
    ]
    lead = (
        f"{measure.describe_metric(home)} in per cent, with 95% intervals that take the questions of a scene together. "
        "A question without a response counts as wrong; runs that lack responses are not ranked."
    )
    if len(home.runs) < len(records.runs):
        lead += " Each model is shown as trained on the variant it is tested on."
    return Section("Results", parts, lead + measure.describe_dropped_variants(records.select_in_domain()))


def _build_one_test_table(report: ReportRuns, test: str) -> Table:
    """One test: a row per contender, with its distance from the best."""
    runs = {c: run for c in report.contenders if (run := report.find_run(c, test))}
    scores = {c: measure.measure_accuracy(run) for c, run in runs.items()}
    top = find_best(report, scores)
    chances = measure.correct_p_values(
        {
            c: measure.compute_p_value(run, runs[top])
            for c, run in runs.items()
            if top and c != top and scores[c].complete
        }
    )
    heads = [
        TableHead("Model"),
        TableHead("0 to 100", sortable=False),
        numeric("Accuracy"),
        numeric("To the best", "points from the best model"),
        numeric("p (Holm)", "against the best on the same questions, exchanging their answers scene by scene"),
        numeric("Questions", "those whose answer is known"),
        numeric("Answered", "the share that has a response; the others count as wrong"),
        numeric("Detectable", "the smallest drop that a second test of this size would find"),
    ]
    models = [c for c in runs if c not in report.references and scores[c].complete]
    partial = [c for c in runs if c not in report.references and not scores[c].complete]
    groups = (models, partial, [c for c in runs if c not in (*models, *partial)])
    rows = [
        _build_row(report, runs[c], scores[c], scores.get(top or ""), chances.get(c)) for group in groups for c in group
    ]
    return Table(f"{measure.describe_metric(report)} on {test}", heads, rows, groups=[len(g) for g in groups])


def _build_row(report: ReportRuns, run: ReportRun, score: Score, top: Score | None, p: float | None) -> list[TableCell]:
    series, value = report.series_of(run.contender), score.value
    behind = None
    if value is not None and top is not None and top.value is not None and score is not top and score.complete:
        behind = value - top.value
    difference = join_markup([format_points(behind), significance_mark(p, behind)]) if score.complete else "not ranked"
    least, rate = measure.detectable_drop(run), score.response_rate
    answered = format_percent(rate, 0) if rate in (None, 1) else format_percent(min(rate or 0.0, 0.999))  # never 100
    return [
        model_cell(report, run.contender),
        TableCell(draw_interval(value, score.low, score.high, series) if value is not None else DASH, class_="pick"),
        score_cell(score, best=score is top),
        TableCell("best" if score is top else difference, behind or 0.0),
        p_cell(p),
        count_cell(score.n),
        TableCell(answered, score.response_rate),
        TableCell(DASH if least is None else format_percent(least), least),
    ]


def _build_key(report: ReportRuns) -> Html:
    notes: list[Child] = [
        tag("b", "Bold"),
        ": the best model. ",
        WORSE,
        f" significantly below it on the same questions, {measure.SIGNIFICANCE:g}, Holm-corrected over the table. ",
    ]
    if report.references and len(report.references) < len(report.contenders):
        notes.append(f"Reference points ({', '.join(report.references)}) mark floor and ceiling and are not ranked.")
    for run in report.runs:
        score = measure.measure_accuracy(run)
        if run.sample:
            notes.append(f" {run.contender} on {run.test}: a sample, {run.sample}.")
        if not score.complete:
            notes.append(
                f" {run.contender} on {run.test} is not ranked: of {format_count(score.n)} questions "
                f"{format_count(score.missing)} are missing and {format_count(score.failed)} failed, "
                "and count as wrong."
            )
        if unseen := sum(one.log.missing_images for one in run.each):
            right = [one.log.records.filter_condition(MISSING_IMAGE).right for one in run.each]
            share = format_percent(float(np.concatenate(right).mean())) if any(map(len, right)) else DASH
            notes.append(
                f" {run.contender} on {run.test}: {format_count(unseen)} questions have no image and were run "
                f"without one, {share}% right; they are in no accuracy here."
            )
        if run.seeds:
            notes.append(
                f" {run.contender} on {run.test} is the mean of {len(run.seeds)} seeds, with the interval "
                "over seeds; its p-values are over seeds and scenes."
            )
    return render_note(notes)


def in_domain_table(matrix: TransferMatrix) -> Table:
    """The default in its own domain, seed by seed, with the paper's figures beside."""
    study, (trained, tested) = matrix.study, matrix.study.default
    first = study.question_groups[0]
    with_reported = bool(select_reported(matrix, first).tables)
    place = next(
        (grid.factor, row, column)
        for grid in study.grids
        for row, t in grid.trained
        for column, at in grid.tested
        if (t, at) == study.default
    )
    rows = []
    for group in study.question_groups:
        reported = select_reported(matrix, group)
        for model in study.planned:
            scores = [matrix.find_score(model, replace(trained, seed=s), tested, group) for s in study.seeds]
            known = [s for s in scores if s is not None and s.value is not None]
            mean = deviation = DASH
            if len(known) > 1:
                mean = format_figure(average_seeds(known))
                deviation = f"{100 * float(np.std([s.value or 0.0 for s in known], ddof=1)):.{DIGITS}f}"
            share = format_percent(reported.find("accuracy", reported.find_model(model), *place), DIGITS)
            cells = (*map(format_figure, scores), mean, deviation, *([share] if with_reported else []))
            rows.append((f"{model}, {group} questions", *cells))
    notes = [
        "Seeds: the mean with Student's interval, and the standard deviation in points.",
        study.notes.get("in domain", ""),
    ]
    for one, other in study.comparisons[:1]:
        if test := matrix.compare_models(one, other, trained, tested, first):
            notes.append(f"{one} − {other} on the same {first} questions, seed 0: {format_paired(test)}.")
    reported_head = ["reported"] if with_reported else []
    heads = ("default, %", *(f"seed {s}" for s in study.seeds), "mean of seeds", "deviation", *reported_head)
    return Table("Default, in domain", heads, tuple(rows), " ".join(filter(None, notes)))


def model_comparison_table(matrix: TransferMatrix) -> Table:
    """What one model gains over another on the same questions, entry by entry and group by group."""
    study = matrix.study
    columns = [(one, other, group) for one, other in study.comparisons for group in study.question_groups]
    rows = []
    for trained, tested in matrix.list_pairs():
        gains = [matrix.compare_models(one, other, trained, tested, group) for one, other, group in columns]
        if any(gains):
            rows.append((trained.label, tested.label, *map(format_gain, gains)))
    note = (
        "Differences on the same questions, ± the longer side of an interval by scene; p < "
        f"{TINY} where none is given, not corrected for the number of rows. {study.notes.get('comparison', '')}"
    )
    heads = ("trained on", "tested on", *(f"{one} − {other}, {group}s" for one, other, group in columns))
    return Table("Model comparison, points", heads, tuple(rows), note.strip(), folded=True)


def format_gain(gain: PairedTest | None) -> str:
    """+1.20 ± 0.32, the longer side; p only where it is 0.001 or more."""
    if gain is None or gain.drop is None:
        return DASH
    sides = [abs(end - gain.drop) for end in (gain.low, gain.high) if end is not None]
    half = f" ± {100 * max(sides):.{DIGITS}f}" if sides else ""
    doubt = f", {format_p(gain.p)}" if gain.p is not None and gain.p >= TINY else ""
    return f"{format_points(gain.drop, DIGITS)}{half}{doubt}"
