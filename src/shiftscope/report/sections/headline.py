"""Results: every model on every test, and on every question type, with intervals and significance."""

from __future__ import annotations

import numpy as np

from ...metrics.transfer_matrix import TransferMatrix
from ...result import MISSING_IMAGE, Score
from ..chart.bars import draw_interval
from ..markup import Child, Html, join_markup, render_note, tag
from ..measure import (
    SIGNIFICANCE,
    compute_p_value,
    correct_p_values,
    describe_dropped_variants,
    describe_metric,
    detectable_drop,
    drop_variants,
    measure_accuracy,
)
from ..number_format import DASH, format_count, format_p, format_percent, format_points
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import WORSE, build_comparison, compare_by_fact, find_best, model_cell, score_cell, significance_mark
from ..study_tables import in_domain_table, model_comparison_table
from ..table import Table, TableCell, TableHead, count_cell, numeric

PLACES = {"report": 10, "study": 20}


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        return Section("Results", [in_domain_table(records), model_comparison_table(records)])
    home = drop_variants(records.select_in_domain())
    if len(home.tests) == 1:
        table = _build_one_test_table(home, home.tests[0])
    else:
        runs = {(r.contender, r.test): r for r in home.runs}
        scores = {key: measure_accuracy(run) for key, run in runs.items()}
        table = build_comparison(home, f"{describe_metric(home)} by test", "Test", home.tests, scores, runs)
    parts: list[Child] = [
        table,
        compare_by_fact(home, "about", "Accuracy on questions about objects and about their parts", "About", True),
        compare_by_fact(home, "kind", "Accuracy by question type", "Question type"),
        _build_key(home),
    ]
    lead = (
        f"{describe_metric(home)} in per cent, with 95% intervals that take the questions of a scene together. "
        "A question without a response counts as wrong; runs that lack responses are not ranked."
    )
    if len(home.runs) < len(records.runs):
        lead += " Each model is shown as trained on the variant it is tested on."
    return Section("Results", parts, lead + describe_dropped_variants(records.select_in_domain()))


def _build_one_test_table(study: ReportRuns, test: str) -> Table:
    """One test: a row per contender, with its distance from the best."""
    runs = {c: run for c in study.contenders if (run := study.find_run(c, test))}
    scores = {c: measure_accuracy(run) for c, run in runs.items()}
    top = find_best(study, scores)
    chances = correct_p_values(
        {c: compute_p_value(run, runs[top]) for c, run in runs.items() if top and c != top and scores[c].complete}
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
    models = [c for c in runs if c not in study.references and scores[c].complete]
    partial = [c for c in runs if c not in study.references and not scores[c].complete]
    groups = (models, partial, [c for c in runs if c not in (*models, *partial)])
    rows = [
        _build_row(study, runs[c], scores[c], scores.get(top or ""), chances.get(c)) for group in groups for c in group
    ]
    return Table(f"{describe_metric(study)} on {test}", heads, rows, groups=[len(g) for g in groups])


def _build_row(study: ReportRuns, run: ReportRun, score: Score, top: Score | None, p: float | None) -> list[TableCell]:
    series, value = study.series_of(run.contender), score.value
    behind = None
    if value is not None and top is not None and top.value is not None and score is not top and score.complete:
        behind = value - top.value
    difference = join_markup([format_points(behind), significance_mark(p, behind)]) if score.complete else "not ranked"
    least = detectable_drop(run)
    return [
        model_cell(study, run.contender),
        TableCell(draw_interval(value, score.low, score.high, series) if value is not None else DASH, class_="pick"),
        score_cell(score, best=score is top),
        TableCell("best" if score is top else difference, behind or 0.0),
        TableCell(DASH if p is None else format_p(p).removeprefix("p ").removeprefix("= "), 2.0 if p is None else p),
        count_cell(score.n),
        TableCell(_format_answered(score.response_rate), score.response_rate),
        TableCell(DASH if least is None else format_percent(least), least),
    ]


def _format_answered(answered: float | None) -> str:
    """In per cent; never 100 where something is missing."""
    if answered is None:
        return DASH
    return format_percent(answered, 0) if answered == 1 else format_percent(min(answered, 0.999))


def _build_key(study: ReportRuns) -> Html:
    notes: list[Child] = [
        tag("b", "Bold"),
        ": the best model. ",
        WORSE,
        f" significantly below it on the same questions, {SIGNIFICANCE:g}, Holm-corrected over the table. ",
    ]
    if study.references and len(study.references) < len(study.contenders):
        notes.append(f"Reference points ({', '.join(study.references)}) mark floor and ceiling and are not ranked.")
    for run in study.runs:
        score = measure_accuracy(run)
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
                "over seeds; it is not tested against others."
            )
    return render_note(notes)
