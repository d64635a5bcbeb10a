"""Calibration: whether a model's belief in its answers is worth what it says."""

from __future__ import annotations

import numpy as np

from ...errors import UserError
from ...metrics.calibration import measure
from .. import legend
from ..chart.lines import Line, Point, lines
from ..figure import figure
from ..level import Levels
from ..markup import tag, text
from ..measure import accuracy_by
from ..originals import originals, told
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 55
BINS = 10
NAMES = tuple(f"{100 * k // BINS}–{100 * (k + 1) // BINS}" for k in range(BINS))


def section(study: Study) -> Section | None:
    besides, study = told(study.home()), originals(study.home())
    runs = [r for r in study.runs if not r.reference and np.isfinite(r.records.belief).any()]
    if not runs:
        return None
    runs.sort(key=lambda r: (study.series(r.contender), study.tests.index(r.test)))
    several = len(study.tests) > 1
    charts = []
    for test in study.tests:
        here = [r for r in runs if r.test == test]
        if here:
            charts.append(
                tag(
                    "figure",
                    tag("figcaption", test if several else "Accuracy", tag("span", " by belief, %")),
                    lines(
                        "Accuracy against belief",
                        NAMES,
                        [_line(study, r) for r in here],
                        [0] * BINS,
                        width=470,
                        guide=[(k + 0.5) / BINS for k in range(BINS)],
                    ),
                )
            )
    rows = []
    for run in runs:
        try:
            score = measure(run.records)[0]
        except UserError:  # beliefs, but none beside an answer
            continue
        rows.append(
            [
                Cell(legend.signed(study, run.contender), run.contender),
                *([Cell(run.test)] if several else []),
                figure(score),
            ]
        )
    heads = [Head("Model"), *([Head("Test")] if several else []), Head("Calibration error", numeric=True)]
    shown = legend.contenders(study, dict.fromkeys(r.contender for r in runs))
    body = text(
        [
            shown,
            tag("div", charts, class_="charts pairs"),
            table(heads, [rows], caption="Expected calibration error, points"),
        ]
    )
    lead = (
        "On the dashed line a model is right as often as it believes; below it, it is too sure of itself."
        f"{besides}"
    )
    return Section("Belief and truth", body, lead)


def _line(study: Study, run: Run) -> Line:
    belief = run.records.belief
    bins = np.where(np.isfinite(belief), np.minimum(np.nan_to_num(belief) * BINS, BINS - 1), -1).astype(
        np.int32
    )
    scores = accuracy_by(run, "belief", Levels(NAMES, bins, ordered=True))
    points = tuple(
        None if s is None or s.value is None else Point(s.value, s.low, s.high, s.n) for s in scores
    )
    return Line(run.contender, study.series(run.contender), points)
