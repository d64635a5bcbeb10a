"""Two models side by side: how often each is right where the other is not, and in which questions they part."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import numpy as np

from ...metrics.significance import PairedTest, compare_models
from ...report.markup import Child, tag
from ...report.measure import spell_fact
from ...report.number_format import count_noun, format_paired
from ...report.runs import ReportRun
from ...report.table import Table, TableCell, TableHead, count_cell, numeric
from ..collection import OpenedData
from ..filters import FACT, FACT_LABELS, PAIR_OUTCOMES, ExampleFilter, select_parting
from .frame import PageFrame, link_count, render_heading, render_menus, render_select

MOST_KINDS = 60  # rows


def render_models(frame: PageFrame, data: OpenedData, one: int, other: int, by: str) -> str:
    first, second = data.runs[one], data.runs[other]
    here = f"/d/{data.number}"
    runs = [(str(k), view.name) for k, view in enumerate(data.runs)]
    facts = _list_facts(data)
    by = by if by in facts else next((n for n in ("kind", *facts) if n in facts), "")
    menus = [
        render_select("First", "a", runs, str(one)),
        render_select("Second", "b", runs, str(other)),
        render_select("By", "by", [(n, FACT_LABELS.get(n, spell_fact(n))) for n in facts], by),
    ]
    form = render_menus(menus, f"{here}/models")
    masks = {how: select_parting(data, one, other, how) for how in PAIR_OUTCOMES}
    asked = int((masks["first"] | masks["second"] | masks["both"] | masks["neither"]).sum())

    def link(how: str, n: int) -> Child:
        return link_count(n, f"{here}{ExampleFilter((('pair', f'{one}.{other}.{how}'),)).to_query()}")

    counts = {how: int(mask.sum()) for how, mask in masks.items()}
    names = first.name, second.name
    square = tag(
        "table",
        tag("caption", f"{count_noun(asked, 'question')} that both were asked"),
        tag(
            "thead",
            tag("tr", tag("td"), tag("th", f"{names[1]} right", scope="col"), tag("th", "wrong or none", scope="col")),
        ),
        tag(
            "tbody",
            tag(
                "tr",
                tag("th", f"{names[0]} right", scope="row"),
                tag("td", link("both", counts["both"]), class_="num"),
                tag("td", link("first", counts["first"]), class_="num parting"),
            ),
            tag(
                "tr",
                tag("th", "wrong or none", scope="row"),
                tag("td", link("second", counts["second"]), class_="num parting"),
                tag("td", link("neither", counts["neither"]), class_="num"),
            ),
        ),
        class_="square",
    )
    test = _compare_runs(first.run, second.run)
    lead = f"{names[0]} minus {names[1]}: {format_paired(test)}" if test.n else "The two share no question."
    differ = tag("p", "They answer differently in ", link("differ", counts["differ"]), " of these.")
    body: list[Child] = [render_heading("Two models", lead), form, square, differ]
    if by:
        body.append(_render_by(data, one, other, by, masks))
    return frame.render("Two models", tag("div", body, class_="wide-page"), data=data, here=f"{here}/models")


def prepare_models(data: OpenedData) -> None:
    """Compare the first two runs, and read what they can be cut by, before anybody asks: it takes a second."""
    _list_facts(data)
    _compare_runs(data.runs[0].run, data.runs[1].run)


def _list_facts(data: OpenedData) -> list[str]:
    return [n for n in data.fact_names if n != "answer" and 1 < len(data.column(n).values) <= MOST_KINDS]


def _compare_runs(first: ReportRun, second: ReportRun) -> PairedTest:
    with _comparing:  # who comes while it is under way waits for it
        return _compare_once(first, second)


_comparing = Lock()


@lru_cache(maxsize=64)
def _compare_once(first: ReportRun, second: ReportRun) -> PairedTest:
    return compare_models(first.records, second.records)


def _render_by(data: OpenedData, one: int, other: int, by: str, masks: dict[str, np.typing.NDArray[np.bool_]]) -> Table:
    """Where they part, value by value of a fact."""
    column = data.column(by)
    counts = {
        how: np.bincount(column.codes[masks[how] & (column.codes >= 0)], minlength=len(column.values)).tolist()
        for how in ("first", "second", "both", "neither")
    }
    rows = []
    for k, value in enumerate(column.values):
        n = sum(counts[how][k] for how in counts)
        if not n:
            continue
        cells = [TableCell(spell_fact(value), str(value)), count_cell(n)]
        for how in ("first", "second", "both", "neither"):
            chosen = ExampleFilter((("pair", f"{one}.{other}.{how}"), (f"{FACT}{by}", str(value))))
            link = link_count(counts[how][k], f"/d/{data.number}{chosen.to_query()}")
            cells.append(TableCell(link, float(counts[how][k])))
        rows.append(cells)
    rows.sort(key=lambda cells: -abs(float(cells[2].value or 0) - float(cells[3].value or 0)))
    names = data.runs[one].name, data.runs[other].name
    heads = [
        TableHead(FACT_LABELS.get(by, spell_fact(by)).capitalize()),
        numeric("Questions"),
        numeric(f"Only {names[0]}"),
        numeric(f"Only {names[1]}"),
        numeric("Both"),
        numeric("Neither"),
    ]
    return Table("Where they part", heads, rows)
