"""Slopes: the trend of accuracy from one level of a factor to the next, where levels are numbers."""

from __future__ import annotations

import numpy as np

from ...errors import UserError
from ...metrics._statistics import Slope, slope
from ..figure import change
from ..legend import signed
from ..level import spelled
from ..markup import tag, text
from ..measure import LEVEL, corrected
from ..number import NONE, count
from ..pool import pooled
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 32
FEWEST = 10  # scenes that an error over scenes can rest on


def section(study: Study) -> Section | None:
    study = study.home()
    found = {
        (contender, factor): one
        for contender in study.contenders
        for factor, one in slopes(pooled(study.of(contender))).items()
    }
    if not found:
        return None
    chances = corrected({key: one.p for key, one in found.items() if np.isfinite(one.p)})
    names = [c for c in study.contenders if any(key[0] == c for key in found)]
    factors = sorted({factor for _, factor in found})
    heads = [Head("Factor"), *(Head(signed(study, c), numeric=True) for c in names)]
    rows = [[Cell(f), *(_cell(found.get((c, f)), chances.get((c, f))) for c in names)] for f in factors]
    note = tag(
        "p",
        tag("span", "▼", class_="mark-worse"),
        f" significant: {LEVEL:g}, Holm-corrected over the table, with errors that take scenes together.",
        class_="note",
    )
    lead = "Change of accuracy in points for each step of the factor's level, by a straight line through all."
    return Section("Trend over levels", text([table(heads, [rows], caption="Change a level"), note]), lead)


def slopes(run: Run) -> dict[str, Slope]:
    """The slope over each factor's levels; without those whose levels are no numbers or too few."""
    facts = dict(run.records.facts)
    if "factor" not in facts or "level" not in facts:
        return {}
    found = {}
    for factor in facts["factor"].values:
        rows = run.records.take(facts["factor"].equals(factor))
        level = dict(rows.facts)["level"]
        used = {level.values[k] for k in np.unique(level.codes).tolist() if k >= 0}
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in used)
        if not numbers or len(np.unique(rows.cluster.codes)) < FEWEST:
            continue
        try:
            found[spelled(factor)] = slope(rows, "level", sorted(used))
        except UserError:  # one level, or no libraries for it
            continue
    return found


def _cell(one: Slope | None, p: float | None) -> Cell:
    if one is None:
        return Cell(NONE, 0.0)
    return change(one.per_level, one.low, one.high, p, f"{count(one.n)} questions")
