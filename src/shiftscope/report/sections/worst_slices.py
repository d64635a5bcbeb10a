"""Worst-hit slices: where each model does much worse than elsewhere, found by search."""

from __future__ import annotations

import numpy as np

from ...metrics.accuracy import row_scores
from ..legend import signed
from ..level import Levels, levels
from ..markup import Child, Html, tag, text
from ..number import chance, count, percent, points, several
from ..originals import originals, told
from ..pool import pooled
from ..section import Section
from ..study import Run, Study, judged
from ..table import Cell, Head, table
from ..worst import FEWEST, Found, Slice, worst

PLACE = 60
SKIPPED = ("split", "family", "variant")  # the same for all, or a template or test by another name
NAMES = {
    "kind": "kind",
    "length": "words",
    "objects": "objects",
    "steps": "program steps",
    "truth": "true answer",
}
MOST_LEVELS = 5  # of a number
MOST_KINDS = 40  # a fact of more values than this names examples, not parts of the data


def section(study: Study) -> Section | None:
    besides, study = told(study.home()), originals(study.home())
    asked = dict.fromkeys(r.contender for r in judged(study.runs))
    found = {contender: search(pooled(study.of(contender))) for contender in asked}
    if not any(one.searched for one in found.values()):
        return None
    parts: list[Child] = [_table(study, contender, one) for contender, one in found.items() if one.slices]
    none = [
        f"{contender} ({several(one.searched, 'slice')})"
        for contender, one in found.items()
        if not one.slices
    ]
    if none:
        parts.append(
            tag(
                "p", "Nothing stands out more than luck would make it: ", ", ".join(none), ".", class_="quiet"
            )
        )
    lead = (
        f"All slices by one fact or two that hold at least {FEWEST} examples were compared with the rest; "
        "the chances are corrected for the number of slices searched, and a slice that is mostly another "
        f"one is left out.{besides}"
    )
    return Section("Where it breaks most", text(parts), lead)


def search(run: Run) -> Found:
    """The worst slices of a run by its facts; questions without a known answer are left out."""
    scored = row_scores(run.records)
    values = np.where(scored.scorable, scored.values, np.nan)
    return worst(values, run.records.cluster.codes, facts_of(run))


def facts_of(run: Run) -> dict[str, Levels]:
    """The facts that can make up a slice, with those levels that say something."""
    found = {}
    for name, column in (*run.records.facts, ("truth", run.records.truth)):
        made = levels(column, MOST_LEVELS)
        if name not in SKIPPED and 2 <= len(made.names) <= MOST_KINDS:
            found[name] = made
    return found


def _table(study: Study, contender: str, found: Found) -> Html:
    heads = [
        Head("Slice"),
        Head("Examples", numeric=True),
        Head("Accuracy there", numeric=True),
        Head("Elsewhere", numeric=True),
        Head("Difference", numeric=True),
        Head("p (Holm)", numeric=True, title=f"corrected for {found.searched} slices"),
    ]
    rows = [
        [
            Cell(named(one)),
            Cell(count(one.n), float(one.n)),
            Cell(percent(one.inside), one.inside),
            Cell(percent(one.outside), one.outside),
            Cell(points(one.inside - one.outside), one.inside - one.outside, class_="mark-worse"),
            Cell(chance(one.chance), one.chance),
        ]
        for one in found.slices
    ]
    note = tag("p", f"{several(found.searched, 'slice')} searched.", class_="note")
    return text([tag("h3", signed(study, contender)), table(heads, [rows], caption="Worst slices"), note])


def named(one: Slice) -> Html:
    """A slice in words."""
    said = [tag("span", f"{NAMES.get(name, name)} ", tag("b", level)) for name, level in one.facts]
    return said[0] if len(said) == 1 else text([said[0], " and ", said[1]])
