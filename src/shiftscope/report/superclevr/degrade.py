"""Relative Degrade: the share of its accuracy that a model loses to each factor, measured beside reported."""

from __future__ import annotations

from ...run.study.board import Board
from ...run.study.matrix import MODELS, Grid
from ...suites import _reported_superclevr as paper
from ..chart.bars import Bar, Group, bars
from ..markup import Html, tag, text
from ..number import percent, spread
from ..section import Section
from .plain import plain
from .tables import shown_grids, table_2
from .world import REPORTED

FORM = "absolute"  # of the paper's Table 2


def section(board: Board) -> Section | None:
    charts = [made for one in shown_grids(board) if (made := _chart(board, one))]
    if not charts:
        return None
    key = tag("p", f"Filled: measured, {FORM} form. Hollow: reported by the paper.", class_="note")
    tables = [plain(table_2(board, sort)) for sort in ("object", "part")]
    lead = "Table 2. How much of its accuracy a model loses when asked about another variant than its own."
    return Section("Relative Degrade", text([tag("div", charts, class_="charts pairs"), key, *tables]), lead)


def _chart(board: Board, one: Grid) -> Html | None:
    made = []
    for series, model in enumerate(MODELS):
        found = board.degrade(model, one, FORM, "object")
        if found:
            made.append(
                Bar(
                    model,
                    100 * found.value,
                    f"{percent(found.value)} {spread(found.value, found.low, found.high)}",
                    series,
                    None if found.low is None else 100 * found.low,
                    None if found.high is None else 100 * found.high,
                )
            )
    if not made:
        return None
    for series, model in enumerate(MODELS):
        if said := REPORTED.get(model):
            value = paper.relative_degrade(said, one.factor)
            made.append(Bar(f"{said}, reported", 100 * value, percent(value), series, hollow=True))
    title = tag("figcaption", one.title.capitalize(), tag("span", ", % of accuracy lost"))
    return tag("figure", title, bars(f"Relative Degrade by {one.title}", [Group("", tuple(made))], width=470))
