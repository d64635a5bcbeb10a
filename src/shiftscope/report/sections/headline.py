"""Headline: every model on every test, and on every kind of question, with intervals and significance."""

from __future__ import annotations

import numpy as np

from ...result import MISSING_IMAGE, Score
from ..chart.interval import interval
from ..figure import figure, mark
from ..grid import best, by_fact, difference, grid
from ..legend import signed
from ..markup import Child, Html, tag, text
from ..measure import LEVEL, accuracy, corrected, detectable, metric_name
from ..number import NONE, chance, count, percent, points
from ..originals import originals, told
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 10


def section(study: Study) -> Section | None:
    home = originals(study.home())
    parts: list[Child] = [
        _one_test(home, home.tests[0]) if len(home.tests) == 1 else _tests(home),
        by_fact(home, "about", "Accuracy on questions about objects and about their parts", "About", True),
        by_fact(home, "kind", "Accuracy by kind of question", "Kind"),
        _key(home),
    ]
    lead = (
        f"{metric_name(home)} in per cent, with 95% intervals that take the questions of a scene together. "
        "A question without a reply counts as wrong; runs that lack replies are not ranked."
    )
    if len(home.runs) < len(study.runs):
        lead += " Each model is shown as trained on the variant it is asked about."
    return Section("Results", text(parts), lead + told(study.home()))


def _one_test(study: Study, test: str) -> Html:
    """One test: a row a contender, with its distance from the best."""
    runs = {c: run for c in study.contenders if (run := study.run(c, test))}
    scores = {c: accuracy(run) for c, run in runs.items()}
    top = best(study, scores)
    chances = corrected(
        {c: difference(run, runs[top]) for c, run in runs.items() if top and c != top and scores[c].complete}
    )
    heads = [
        Head("Model"),
        Head("0 to 100", sortable=False),
        Head("Accuracy", numeric=True),
        Head("To the best", numeric=True, title="points from the best model"),
        Head(
            "p (Holm)",
            numeric=True,
            title="against the best on the same questions, exchanging their answers scene by scene",
        ),
        Head("Questions", numeric=True, title="that were to be asked and whose answer is known"),
        Head("Answered", numeric=True, title="the share that has a reply; the others count as wrong"),
        Head(
            "Detectable", numeric=True, title="the smallest drop that a second test of this size would find"
        ),
    ]
    models = [c for c in runs if c not in study.references and scores[c].complete]
    partial = [c for c in runs if c not in study.references and not scores[c].complete]
    bodies = [
        [_row(study, runs[c], scores[c], scores.get(top or ""), chances.get(c)) for c in group]
        for group in (models, partial, [c for c in runs if c not in (*models, *partial)])
    ]
    return table(heads, bodies, caption=f"{metric_name(study)} on {test}")


def _row(study: Study, run: Run, score: Score, top: Score | None, p: float | None) -> list[Cell]:
    series, value = study.series(run.contender), score.value
    known = value is not None and top is not None and top.value is not None and score is not top
    known = known and score.complete
    behind = value - top.value if known and value is not None and top and top.value is not None else None
    least = detectable(run)
    return [
        Cell(signed(study, run.contender), run.contender),
        Cell(interval(value, score.low, score.high, series) if value is not None else NONE, class_="pick"),
        figure(score, best=score is top),
        Cell(_beside(score, top, behind, p), behind or 0.0),
        Cell(NONE if p is None else chance(p).removeprefix("p ").removeprefix("= "), 2.0 if p is None else p),
        Cell(count(score.n), float(score.n)),
        Cell(_share(score.answered), score.answered),
        Cell(NONE if least is None else percent(least), least),
    ]


def _share(answered: float | None) -> str:
    """In per cent; never 100 where something is missing."""
    if answered is None:
        return NONE
    return percent(answered, 0) if answered == 1 else percent(min(answered, 0.999))


def _beside(score: Score, top: Score | None, behind: float | None, p: float | None) -> Child:
    if score is top:
        return "best"
    if not score.complete:
        return "not ranked"
    return text([points(behind), mark(p, behind)])


def _tests(study: Study) -> Html:
    runs = {(r.contender, r.test): r for r in study.runs}
    scores = {key: accuracy(run) for key, run in runs.items()}
    return grid(study, f"{metric_name(study)} by test", "Test", study.tests, scores, runs)


def _key(study: Study) -> Html:
    said: list[Child] = [
        tag("b", "Bold"),
        ": the best model. ",
        tag("span", "▼", class_="mark-worse"),
        f" significantly below it on the same questions, {LEVEL:g}, Holm-corrected over the table. ",
    ]
    if study.references and len(study.references) < len(study.contenders):
        said.append(
            f"Reference points ({', '.join(study.references)}) mark floor and ceiling and are not ranked."
        )
    for run in study.runs:
        score = accuracy(run)
        if run.sample:
            said.append(f" {run.contender} on {run.test}: a sample, {run.sample}.")
        if not score.complete:
            said.append(
                f" {run.contender} on {run.test} is not ranked: of {count(score.n)} questions "
                f"{count(score.missing)} are missing and {count(score.failed)} failed, and count as wrong."
            )
        if unseen := sum(one.log.missing_images for one in run.each):
            right = [one.log.records.under(MISSING_IMAGE).right for one in run.each]
            share = percent(float(np.concatenate(right).mean())) if any(map(len, right)) else NONE
            said.append(
                f" {run.contender} on {run.test}: {count(unseen)} questions have no picture and were asked "
                f"without one, {share}% right; they are in no accuracy here."
            )
        if run.seeds:
            said.append(
                f" {run.contender} on {run.test} is the mean of {len(run.seeds)} seeds, with the interval "
                "over seeds; it is not tested against others."
            )
    return tag("p", said, class_="note")
