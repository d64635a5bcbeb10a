"""Generalization tests: what segment-combine, contrast sets and transfer found, where they made the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...catalog import TESTS
from ..figure import figure
from ..markup import Child, Html, tag, text
from ..number import count
from ..outcome import Outcome, outcomes
from ..section import Section
from ..study import Study
from ..table import Cell, Head, table

PLACE = 26
ELSEWHERE = "compositional"  # has a section of its own


def section(study: Study) -> Section | None:
    found: dict[str, list[Outcome]] = {}
    for one in outcomes(study):
        if one.rows and one.test != ELSEWHERE:
            found.setdefault(one.test, []).append(one)
    if not found:
        return None
    parts: list[Child] = [part for test, many in found.items() for part in _test(test, many)]
    lead = "Per cent, and drops in points, with 95% intervals that take the questions of a scene together."
    return Section("Generalization tests", text(parts), lead)


def _test(test: str, many: Sequence[Outcome]) -> Iterator[Html]:
    alone = f", {many[0].shown}" if len(many) == 1 else ""
    yield tag("h3", f"{said(test)}{alone}")
    if test in TESTS.names():
        yield tag("p", capital(TESTS.summary(test).partition(": ")[2]), class_="note")
    yield _table(test, many)
    left: dict[str, int] = {}
    for one in many:
        left |= {why: max(n, left.get(why, 0)) for why, n in one.left_out}
    if left:
        listed = "; ".join(f"{count(n)}, {why}" for why, n in left.items())
        yield tag("p", f"Left out: {listed}.", class_="note")


def _table(test: str, many: Sequence[Outcome]) -> Html:
    facts = list(dict.fromkeys(name for one in many for row in one.rows for name, _ in row.of))
    metrics = list(dict.fromkeys(name for one in many for row in one.rows for name in row.scores))
    heads = [
        *(Head(said(name)) for name in facts),
        *([Head("Model")] if len(many) > 1 else []),
        *(Head(said(name), numeric=True) for name in metrics),
        Head("Questions", numeric=True),
    ]
    rows = []
    for of in dict.fromkeys(row.of for one in many for row in one.rows):
        for one in many:
            row = next((r for r in one.rows if r.of == of), None)
            if row is None:
                continue
            most = max((s.n for s in row.scores.values()), default=0)
            known = dict(of)
            rows.append(
                [
                    *(Cell(known.get(name, ""), class_="fact") for name in facts),
                    *([Cell(one.shown)] if len(many) > 1 else []),
                    *(figure(row.scores.get(name)) for name in metrics),
                    Cell(count(most), float(most)),
                ]
            )
    return table(heads, [rows], caption=f"{said(test)}: what it found")


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def said(name: str) -> str:
    """A name in words: local_coherency is Local coherency."""
    return name.replace("_", " ").capitalize()
