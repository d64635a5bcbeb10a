"""Shifts: what each factor costs, from its base to its other levels; paired where twins exist."""

from __future__ import annotations

from ...metrics._interval import FEW_SCENES
from ...metrics._statistics import Paired
from ..figure import change
from ..legend import signed
from ..markup import Child, tag, text
from ..measure import LEVEL, corrected
from ..number import NONE, count
from ..section import Section
from ..shift import Shift, factors, shifts, without_base
from ..study import Study
from ..table import Cell, Head, table

PLACE = 15

Row = tuple[str, str, str]  # factor, base, level


def section(study: Study) -> Section | None:
    found = [s for s in shifts(study) if _from_home(s)]
    drops = {(s.base.contender, *_row(s)): made for s in found if (made := s.drop()) is not None}
    lost = dict.fromkeys((run.factor, "", run.test) for run in without_base(study))
    home = study.home()
    if not drops and not lost:
        return None
    paired = {_row(s): s.twins is not None for s in found}
    chances = corrected({key: one.p for key, one in drops.items()})
    rows = [*dict.fromkeys(key[1:] for key in drops), *lost]
    names = [c for c in home.contenders if any(key[0] == c for key in drops)]
    heads = [
        Head("Factor"),
        Head("From → to"),
        Head("Estimate", title="paired: twin questions; unpaired: two accuracies"),
        *(Head(signed(study, c), numeric=True) for c in names),
    ]
    listed = [
        [
            Cell(_title(row[0])),
            Cell(f"{row[1]} → {row[2]}" if row[1] else row[2]),
            Cell(_estimate(row, paired)),
            *(_cell(drops.get((c, *row)), chances.get((c, *row))) for c in names),
        ]
        for row in rows
    ]
    lead = (
        "Change of accuracy in points, with 95% intervals. Twins share everything but the one thing that was "
        "changed, so their drop is estimated pair by pair. Levels with questions of their own are compared "
        "unpaired, over the kinds of question that both have, weighed as in the base."
    )
    shown = table(heads, [listed], caption="Change from the base of a factor to its levels")
    return Section("What the shift costs", text([shown, _note(rows)]), lead)


def _row(shift: Shift) -> Row:
    return shift.factor, shift.base.test, shift.to


def _title(factor: str) -> str:
    known = factors().get(factor)
    return known.title if known else factor.capitalize()


def _estimate(row: Row, paired: dict[Row, bool]) -> str:
    if not row[1]:
        return "no run on its base"
    return "paired" if paired[row] else "unpaired"


def _from_home(shift: Shift) -> bool:
    """Whether the model was trained on the base, or on nothing that is known."""
    return shift.base.home and shift.base.trained in ("", shift.base.test)


def _cell(one: Paired | None, p: float | None) -> Cell:
    if one is None or one.drop is None:
        return Cell(NONE, 0.0)
    said = f"{count(one.n)} questions of {count(one.scenes)} scenes"
    if one.only_first or one.only_second:
        said += f"; better in the base {count(one.only_first)}, in the twin {count(one.only_second)}"
    if one.scenes < FEW_SCENES:
        said += "; too few scenes to tell much"
    return change(-one.drop, _minus(one.high), _minus(one.low), p, said)


def _note(rows: list[Row]) -> Child:
    told = {row[0] for row in rows}
    absent = [f.title.lower() for name, f in factors().items() if name not in told]
    said: list[Child] = [
        tag("span", "▼", class_="mark-worse"),
        f" significant at {LEVEL:g}, Holm-corrected over the table: exchanging the answers to twins scene by "
        "scene; Student's t over scenes where unpaired.",
    ]
    if absent and len(absent) < len(factors()):
        said.append(f" Not among these runs: {', '.join(absent)}.")
    return tag("p", said, class_="note")


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
