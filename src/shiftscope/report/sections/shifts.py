"""Shifts: the paired drop from each base test to its twins, one factor changed and all else the same."""

from __future__ import annotations

from ...metrics._statistics import Paired
from ..figure import change
from ..legend import signed
from ..markup import tag, text
from ..measure import LEVEL, corrected
from ..number import NONE, count
from ..section import Section
from ..study import Study
from ..table import Cell, Head, table
from ..twins import TwinRuns, twin_runs

PLACE = 15

Key = tuple[str, str, str]  # contender, base, shifted


def section(study: Study) -> Section | None:
    drops = {_key(t): made for t in twin_runs(study) if _from_home(t) and (made := t.drop()) is not None}
    study = study.home()
    if not drops:
        return None
    chances = corrected({key: one.p for key, one in drops.items()})
    shifts = list(dict.fromkeys((base, shifted) for _, base, shifted in drops))
    names = [c for c in study.contenders if any(key[0] == c for key in drops)]
    if len(names) <= len(shifts):
        heads = [Head("From → to"), *(Head(signed(study, c), numeric=True) for c in names)]
        rows = [
            [Cell(_arrow(*shift)), *(_cell(drops.get((c, *shift)), chances.get((c, *shift))) for c in names)]
            for shift in shifts
        ]
    else:
        heads = [Head("Model"), *(Head(_arrow(*shift), numeric=True) for shift in shifts)]
        rows = [
            [
                Cell(signed(study, c), c),
                *(_cell(drops.get((c, *shift)), chances.get((c, *shift))) for shift in shifts),
            ]
            for c in names
        ]
    note = tag(
        "p",
        tag("span", "▼", class_="mark-worse"),
        f" significant: exact McNemar test on the twins, {LEVEL:g}, Holm-corrected over the table.",
        class_="note",
    )
    lead = (
        "Twins share everything but the one thing that was changed, so the drop is estimated pair by pair. "
        "Change of accuracy in points, with 95% intervals."
    )
    return Section(
        "What the shift costs", text([table(heads, [rows], caption="Change from base to twin"), note]), lead
    )


def _from_home(twins: TwinRuns) -> bool:
    """Whether the model was trained on the base, or on nothing that is known."""
    return twins.base.home and twins.base.trained in ("", twins.base.test)


def _key(twins: TwinRuns) -> Key:
    within = twins.base is twins.shifted
    return twins.base.contender, twins.base.test, "its variants" if within else twins.shifted.test


def _arrow(base: str, shifted: str) -> str:
    return f"{base} → {shifted}"


def _cell(one: Paired | None, p: float | None) -> Cell:
    if one is None or one.drop is None:
        return Cell(NONE, 0.0)
    only = f"right only in the base {count(one.only_first)}, only in the twin {count(one.only_second)}"
    return change(-one.drop, _minus(one.high), _minus(one.low), p, f"{count(one.n)} pairs; {only}")


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
