"""Curves: accuracy against question length, program steps, objects, kind and how common the answer is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...result import Column, Records
from .. import legend
from ..chart.lines import Line, Point, lines
from ..grid import common_tests
from ..level import MOST, Levels, joined, levels
from ..markup import Html, tag, text
from ..measure import accuracy_by
from ..originals import originals, told
from ..pool import pooled
from ..section import Section
from ..study import Run, Study

PLACE = 50
ENOUGH = 40  # questions a range should hold
NARROW, WIDE = 320.0, 1000.0  # pixels: three charts in a row, or one


@dataclass(frozen=True, slots=True)
class Curve:
    """One chart: the fact on its axis, its heading and unit."""

    fact: str
    title: str
    unit: str = ""


CURVES = (
    Curve("length", "Question length", "words"),
    Curve("steps", "Program length", "steps"),
    Curve("objects", "Objects in the scene"),
    Curve("images", "Images of the question"),
    Curve("frequency", "How common the true answer is", "% of answers"),
    Curve("kind", "Kind of question"),
    Curve("action", "Kind of action"),
)


def section(study: Study) -> Section | None:
    home = common_tests(originals(study.home()))
    if home is None:
        return None
    besides, study = told(study.home()), home
    runs = [pooled(study.of(contender)) for contender in study.contenders]
    charts = list(_charts(study, runs))
    if not charts:
        return None
    shown = legend.contenders(study, study.contenders)
    together = " All tests together." if len(study.tests) > 1 else ""
    lead = (
        "Points with 95% intervals; the pale bars behind show how the questions are spread."
        f"{together}{besides}"
    )
    body = text([shown, tag("div", charts, class_="charts")])
    return Section("Accuracy against what was asked", body, lead)


def _charts(study: Study, runs: Sequence[Run]) -> Iterator[Html]:
    for curve in CURVES:
        cut = cuts(runs, curve.fact)
        if cut is None or len(cut[0].names) < 2:
            continue
        yield chart(study, runs, curve, cut)


def cuts(runs: Sequence[Run], fact: str) -> list[Levels] | None:
    """One cut into levels for all runs, so that points stand above each other; None without the fact."""
    columns = [_column(run.records, fact) for run in runs]
    known = [c for c in columns if c is not None]
    if len(known) < len(columns) or not known:
        return None
    together = levels(joined(known), min(max(len(known[0]) // ENOUGH, 3), MOST))
    ends = np.cumsum([len(c) for c in known])
    return [
        Levels(together.names, together.codes[end - len(c) : end], together.ordered)
        for c, end in zip(known, ends.tolist(), strict=True)
    ]


def _column(records: Records, fact: str) -> Column | None:
    if fact == "frequency":
        return frequency(records)
    return dict(records.facts).get(fact)


def frequency(records: Records) -> Column:
    """How common each row's true answer is, in whole per cent of the rows."""
    codes = records.truth.codes
    n = np.bincount(codes[codes >= 0], minlength=len(records.truth.values))
    shares = np.maximum(np.round(100 * n / max(n.sum(), 1)), 1).astype(int)
    values, at = np.unique(shares, return_inverse=True)
    return Column(tuple(values.tolist()), np.append(at, -1).astype(np.int32)[codes])


def chart(study: Study, runs: Sequence[Run], curve: Curve, cut: Sequence[Levels]) -> Html:
    """The accuracy of all runs against one fact; `cut` is that of each run."""
    names = cut[0].names
    drawn = [
        Line(
            run.contender,
            study.series(run.contender),
            tuple(
                None if s is None or s.value is None else Point(s.value, s.low, s.high, s.n)
                for s in accuracy_by(run, curve.fact, at)
            ),
        )
        for run, at in zip(runs, cut, strict=True)
    ]
    sizes = np.bincount(cut[0].codes[cut[0].codes >= 0], minlength=len(names)).tolist()
    label = f"Accuracy against {curve.title.lower()} for {', '.join(r.contender for r in runs)}"
    wide = len(names) > 8 or max(map(len, names)) > 8
    return tag(
        "figure",
        tag("figcaption", curve.title, tag("span", f", {curve.unit}") if curve.unit else None),
        lines(label, names, drawn, sizes, joined=cut[0].ordered, width=WIDE if wide else NARROW),
        class_="wide" if wide else None,
    )
