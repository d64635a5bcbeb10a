"""Headline: every model on every test, and on every kind of question, with intervals and significance."""

from __future__ import annotations

from ...result import Score
from ..chart.interval import interval
from ..figure import figure, mark
from ..grid import best, by_fact, difference, grid
from ..legend import signed
from ..markup import Child, Html, tag, text
from ..measure import LEVEL, accuracy, corrected, detectable
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
        by_fact(home, "kind", "Accuracy by kind of question", "Kind"),
        _key(home),
    ]
    lead = "Accuracy in per cent, with 95% intervals that take the questions of a scene together."
    if len(home.runs) < len(study.runs):
        lead += " Each model is shown as trained on the variant it is asked about."
    return Section("Results", text(parts), lead + told(study.home()))


def _one_test(study: Study, test: str) -> Html:
    """One test: a row a contender, with its distance from the best."""
    runs = {c: run for c in study.contenders if (run := study.run(c, test))}
    scores = {c: accuracy(run) for c, run in runs.items()}
    top = best(study, scores)
    chances = corrected({c: difference(run, runs[top]) for c, run in runs.items() if top and c != top})
    heads = [
        Head("Model"),
        Head("0 to 100", sortable=False),
        Head("Accuracy", numeric=True),
        Head("To the best", numeric=True, title="points from the best model"),
        Head("p (Holm)", numeric=True, title="exact McNemar test against the best, on the same questions"),
        Head("Scored", numeric=True, title="questions with a reply and a known answer"),
        Head("No reply", numeric=True, title="failed or missing: not in the accuracy"),
        Head(
            "Detectable", numeric=True, title="the smallest drop that a second test of this size would find"
        ),
    ]
    models = [c for c in runs if c not in study.references]
    bodies = [
        [_row(study, runs[c], scores[c], scores.get(top or ""), chances.get(c)) for c in group]
        for group in (models, [c for c in runs if c not in models])
    ]
    return table(heads, bodies, caption=f"Accuracy on {test}")


def _row(study: Study, run: Run, score: Score, top: Score | None, p: float | None) -> list[Cell]:
    series, value = study.series(run.contender), score.value
    known = value is not None and top is not None and top.value is not None and score is not top
    behind = value - top.value if known and value is not None and top and top.value is not None else None
    least = detectable(run)
    unreplied = score.missing + score.failed
    return [
        Cell(signed(study, run.contender), run.contender),
        Cell(interval(value, score.low, score.high, series) if value is not None else NONE, class_="pick"),
        figure(score, best=score is top),
        Cell("best" if score is top else text([points(behind), mark(p, behind)]), behind or 0.0),
        Cell(NONE if p is None else chance(p).removeprefix("p ").removeprefix("= "), 2.0 if p is None else p),
        Cell(count(score.n), float(score.n)),
        Cell(count(unreplied), float(unreplied)),
        Cell(NONE if least is None else percent(least), least),
    ]


def _tests(study: Study) -> Html:
    runs = {(r.contender, r.test): r for r in study.runs}
    scores = {key: accuracy(run) for key, run in runs.items()}
    return grid(study, "Accuracy by test", "Test", study.tests, scores, runs)


def _key(study: Study) -> Html:
    said: list[Child] = [
        tag("b", "Bold"),
        ": the best model. ",
        tag("span", "▼", class_="mark-worse"),
        f" significantly below it: exact McNemar test on the same questions, {LEVEL:g}, Holm-corrected over "
        "the table. ",
    ]
    if study.references and len(study.references) < len(study.contenders):
        said.append(
            f"Reference points ({', '.join(study.references)}) mark floor and ceiling and are not ranked."
        )
    for run in study.runs:
        if lacking := sum(one.lacking for one in run.each):
            whole = sum(one.log.questions or 0 for one in run.each)
            said.append(
                f" {run.contender} on {run.test} is unfinished: {count(lacking)} of {count(whole)} questions "
                "are missing."
            )
        if run.seeds:
            said.append(
                f" {run.contender} on {run.test} is the mean of {len(run.seeds)} seeds, with the interval "
                "over seeds; it is not tested against others."
            )
    return tag("p", said, class_="note")
