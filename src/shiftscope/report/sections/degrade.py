"""Relative Degrade: the share of its accuracy that a model loses to each factor, measured beside reported."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...errors import UserError
from ...metrics.relative_degrade import FORMS, VARIANTS, level_of, measure_runs
from ...metrics.relative_degrade import Cell as Trained
from ...result import Records, Score
from ...suites import _reported_superclevr as paper
from ..chart.bars import Bar, Group, bars
from ..chart.mark import SHAPES
from ..figure import figure
from ..markup import Html, tag, text
from ..mixture import mix
from ..number import percent, spread
from ..originals import originals
from ..section import Section
from ..study import Study
from ..table import Cell, Head, table

PLACE = 35
FORM = (
    "absolute"  # the form that the figures of the paper's Table 2 follow, and so the one to set beside them
)

Figures = Mapping[tuple[str, str], Score]  # model, factor


def section(study: Study) -> Section | None:
    measured = {form: scores(study, form) for form in FORMS}
    if not any(measured.values()):
        return None
    charts = [
        _chart(factor, measured[FORM]) for factor in VARIANTS if any(f == factor for _, f in measured[FORM])
    ]
    key = tag(
        "p",
        "Filled: measured here, with 95% intervals. Dashed: reported (",
        paper.SOURCE.removeprefix("reported: "),
        f"). The charts show the {FORM} form, that of the paper's figures; smaller is more robust.",
        class_="note",
    )
    body = text([tag("div", charts, class_="charts pairs"), key, _table(measured)])
    return Section(
        "Relative Degrade",
        body,
        "How much of its accuracy a model loses when asked about another variant than it was trained on, "
        "over the kinds of question that all variants of a factor have. The default data are mid, rd, bal "
        "and co-0.",
    )


def scores(study: Study, form: str) -> dict[tuple[str, str], Score]:
    """Model and factor to figure, for those whose runs fill all the cells the form needs."""
    study = originals(study)
    found = {}
    for model in dict.fromkeys(r.model for r in study.runs if r.trained):
        runs = [r for r in study.runs if r.model == model and r.trained]
        for factor, variants in VARIANTS.items():
            cells = {(level_of(r.trained, factor), level_of(r.test, factor)): r.records for r in runs}
            used = {c: records for c, records in cells.items() if c[0] in variants}
            if not used:
                continue
            try:
                found[model, factor] = measure_runs(_alike(used), factor, form)
            except UserError:  # a cell is missing: no figure rather than half of one
                continue
    return found


def _alike(cells: Mapping[Trained, Records]) -> dict[Trained, Records]:
    """With only the kinds of question that all of them have: easy scenes have no parts to ask about."""
    weights = mix(list(cells.values())).weights
    return {cell: r.take(w > 0) for (cell, r), w in zip(cells.items(), weights, strict=True)}


def reported(model: str) -> str | None:
    """The paper's name for a model, however it is spelled here."""
    return next((name for name in paper.MODELS if _letters(name) == _letters(model)), None)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _chart(factor: str, measured: Figures) -> Html:
    made = []
    named = [model for model, f in measured if f == factor]
    for series, model in enumerate(named):
        score = measured[model, factor]
        value = score.value or 0.0
        made.append(
            Bar(
                f"{model}, measured",
                100 * value,
                f"{percent(value)} {spread(value, score.low, score.high)}",
                series,
                None if score.low is None else 100 * score.low,
                None if score.high is None else 100 * score.high,
            )
        )
        if said := reported(model):
            made.append(_reported(said, factor, series))
    others = [m for m in paper.MODELS if m not in {reported(n) for n in named}]
    made += [_reported(m, factor, len(SHAPES)) for m in others]
    return tag(
        "figure",
        tag("figcaption", factor.capitalize(), tag("span", ", % of accuracy lost")),
        bars(f"Relative Degrade by {factor}", [Group("", tuple(made))], width=470),
    )


def _reported(model: str, factor: str, series: int) -> Bar:
    value = paper.relative_degrade(model, factor)
    return Bar(f"{model}, reported", 100 * value, percent(value), series, hollow=True)


def _table(measured: Mapping[str, Figures]) -> Html:
    models = list(dict.fromkeys(model for figures in measured.values() for model, _ in figures))
    heads = [Head("Model"), Head("Form"), *(Head(factor.capitalize(), numeric=True) for factor in VARIANTS)]
    bodies = []
    for model in models:
        rows = [
            [Cell(model), Cell(f"{form}, measured"), *(figure(figures.get((model, f))) for f in VARIANTS)]
            for form, figures in measured.items()
        ]
        if said := reported(model):
            given = [paper.relative_degrade(said, f) for f in VARIANTS]
            rows.append([Cell(model), Cell("reported"), *(figure(Score("", v, 0)) for v in given)])
        bodies.append(rows)
    return table(heads, bodies, caption="Relative Degrade in the forms the paper names, %")
