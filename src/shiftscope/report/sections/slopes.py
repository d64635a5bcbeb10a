"""Slopes: the trend of accuracy over the levels of a factor, where these have an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...errors import UserError
from ...metrics._interval import FEW_SCENES
from ...metrics._statistics import Slope, slope
from ...result import Floats, Records
from ..figure import change
from ..legend import signed
from ..markup import tag, text
from ..measure import LEVEL, corrected
from ..mixture import mix
from ..number import NONE, count
from ..pool import pooled
from ..section import Section
from ..shift import factors, shifts
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 32


def section(study: Study) -> Section | None:
    found = {
        (contender, factor): one
        for contender in study.home().contenders
        for factor, one in slopes(study, contender)
    }
    if not found:
        return None
    chances = corrected({key: one.p for key, one in found.items() if np.isfinite(one.p)})
    names = [c for c in study.home().contenders if any(key[0] == c for key in found)]
    rows = [
        [Cell(f), *(_cell(found.get((c, f)), chances.get((c, f))) for c in names)]
        for f in dict.fromkeys(f for _, f in found)
    ]
    heads = [Head("Factor"), *(Head(signed(study, c), numeric=True) for c in names)]
    note = tag(
        "p",
        tag("span", "▼", class_="mark-worse"),
        f" significant: {LEVEL:g}, Holm-corrected over the table, with errors that take scenes together.",
        class_="note",
    )
    lead = (
        "Change of accuracy in points from one level of the factor to the next, by a straight line through "
        "all levels, the default's included; over the kinds of question that all of them have, weighed "
        "alike. A factor whose levels have no order has no trend."
    )
    return Section("Trend over levels", text([table(heads, [rows], caption="Change a level"), note]), lead)


def slopes(study: Study, contender: str) -> Iterator[tuple[str, Slope]]:
    """The slope over the levels of each factor that has an order, and of each fact `level` of numbers."""
    for name, factor in factors().items():
        if not factor.ordered:
            continue
        found = [s for s in shifts(study) if s.factor == name and s.base.contender == contender]
        for base in dict.fromkeys(s.base for s in found):
            runs = [base, *(s.shifted for s in found if s.base is base)]
            places = [_place(run, factor.variants, factor.base) for run in runs]
            made = _slope([r for r, p in zip(runs, places, strict=True) if p is not None], places)
            if made is not None:
                yield f"{factor.title}: {' → '.join(_names(runs, places))}", made
    yield from _own(pooled(study.home().of(contender)).records)


def _place(run: Run, variants: Sequence[str], base: str) -> float | None:
    """The level of a run's data; what is no variant of the factor is its base."""
    if not run.factor:
        return float(variants.index(base))
    return float(variants.index(run.variant)) if run.variant in variants else None


def _names(runs: Sequence[Run], places: Sequence[float | None]) -> list[str]:
    known = [(place, run.test) for run, place in zip(runs, places, strict=True) if place is not None]
    return [name for _, name in sorted(known)]


def _slope(runs: Sequence[Run], places: Sequence[float | None]) -> Slope | None:
    known = [p for p in places if p is not None]
    weights = np.concatenate(mix([run.records for run in runs]).weights)
    level = np.concatenate([np.full(len(r.records), p) for r, p in zip(runs, known, strict=True)])
    rows = pooled([run.each[0] for run in runs]).records
    return _fitted(rows, np.where(weights > 0, level, np.nan), weights)


def _own(records: Records) -> Iterator[tuple[str, Slope]]:
    """Over levels that the data of a user tell as numbers: by their values, not their ranks."""
    facts = dict(records.facts)
    if "factor" not in facts or "level" not in facts:
        return
    for factor in facts["factor"].values:
        rows = records.take(facts["factor"].equals(factor))
        column = dict(rows.facts)["level"]
        used = [k for k in np.unique(column.codes).tolist() if k >= 0]
        values = [column.values[k] for k in used]
        if factor in factors() or not all(type(v) in (int, float) for v in values):
            continue
        parts = [np.flatnonzero(column.codes == k) for k in used]
        weights, level = np.zeros(len(rows)), np.full(len(rows), np.nan)
        mixed = mix([rows.take(part) for part in parts]).weights
        for part, value, weight in zip(parts, values, mixed, strict=True):
            weights[part], level[part] = weight, np.where(weight > 0, value, np.nan)
        made = _fitted(rows, level, weights)
        if made is not None:
            yield str(factor), made


def _fitted(records: Records, level: Floats, weights: Floats | None) -> Slope | None:
    try:
        made = slope(records, level, weights)
    except UserError:  # one level only
        return None
    return made if made.scenes >= FEW_SCENES else None


def _cell(one: Slope | None, p: float | None) -> Cell:
    if one is None:
        return Cell(NONE, 0.0)
    said = f"{count(one.n)} questions of {count(one.scenes)} scenes"
    return change(one.per_level, one.low, one.high, p, said)
