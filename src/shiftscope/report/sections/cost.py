"""Cost: how long each model took and what it was paid."""

from __future__ import annotations

import numpy as np

from ..legend import signed
from ..markup import text
from ..number import NONE, count, seconds
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 75


def section(study: Study) -> Section | None:
    timed = [r for r in study.each if np.isfinite(r.log.records.seconds).any()]
    if not timed:
        return None
    several = len(study.tests) > 1
    paid = any(np.nansum(r.log.records.cost) > 0 for r in timed)
    heads = [
        Head("Model"),
        *([Head("Test")] if several else []),
        Head("Replies", numeric=True),
        Head("Median", numeric=True),
        Head("95 of 100 within", numeric=True),
        Head("In all", numeric=True, title="the times added up; calls made at once overlap"),
        *([Head("Cost", numeric=True, title="in the currency of the prices given")] if paid else []),
    ]
    timed.sort(key=lambda r: (study.contenders.index(r.contender), study.tests.index(r.test)))
    rows = [
        [
            Cell(signed(study, run.contender), run.contender),
            *([Cell(run.test)] if several else []),
            *_times(run),
            *([_cost(run)] if paid else []),
        ]
        for run in timed
    ]
    return Section(
        "Time and cost", text([table(heads, [rows], caption="Time a reply, all conditions together")])
    )


def _times(run: Run) -> list[Cell]:
    times = run.log.records.seconds
    known = times[np.isfinite(times)]
    figures = [float(np.median(known)), float(np.quantile(known, 0.95)), float(known.sum())]
    return [Cell(count(len(known)), float(len(known))), *(Cell(seconds(v), v) for v in figures)]


def _cost(run: Run) -> Cell:
    cost = run.log.records.cost
    total = float(np.nansum(cost))
    return Cell(f"{total:.4g}" if np.isfinite(cost).any() else NONE, total)
