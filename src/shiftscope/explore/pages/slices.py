"""Slices of a run: accuracy by a fact, and the worst slices, each a link to its examples."""

from __future__ import annotations

from dataclasses import replace

from ...metrics import accuracy
from ...metrics.slices import select_base_rows
from ...report.markup import Child, tag
from ...report.measure import measure_accuracy, spell_fact
from ...report.number_format import count_noun, format_p, format_percent, format_points, spell_accuracy
from ...report.score_table import score_cell
from ...report.sections.worst_slices import describe_slice, search_slices
from ...report.table import Table, TableCell, TableHead, count_cell, numeric
from ..collection import OpenedData
from ..filters import ASKED, FACT, FACT_LABELS, NOT_RIGHT, RUN, ExampleFilter
from .frame import PageFrame, link_count, render_heading, render_menus, render_select

MOST_SLICES = 200  # rows of the table


def render_slices(frame: PageFrame, data: OpenedData, number: int, by: str) -> str:
    view = data.runs[number]
    facts = [name for name, column in view.run.records.facts if len(column.values) > 1]
    by = by if by in facts else next((n for n in ("kind", *facts) if n in facts), "")
    here = f"/d/{data.number}"
    runs = [(str(k), one.name) for k, one in enumerate(data.runs)]
    names = [(n, FACT_LABELS.get(n, spell_fact(n))) for n in facts]
    menus = [render_select("Run", "run", runs, str(number)), render_select("By", "by", names, by)]
    form = render_menus(menus, f"{here}/slices")
    whole = measure_accuracy(view.run)
    lead = f"{view.name}: {spell_accuracy(whole)}, {count_noun(whole.n, 'question')}"
    body: list[Child] = [render_heading("Slices", lead), form]
    if by:
        body.append(_render_by(data, number, by))
    body.append(_render_worst(data, number))
    return frame.render(
        f"Slices of {view.name}", tag("div", body, class_="wide-page"), data=data, here=f"{here}/slices"
    )


def _render_by(data: OpenedData, number: int, by: str) -> Table:
    records = select_base_rows(data.runs[number].run.records)
    scores = [s for s in accuracy.measure(replace(records, replies=()), (by,)) if s.slice][:MOST_SLICES]
    rows = []
    for score in scores:
        value = dict(score.slice)[by]
        asked, wrong = (
            ExampleFilter(((f"{FACT}{by}", str(value)), (f"{RUN}{number}", one))) for one in (ASKED, NOT_RIGHT)
        )
        missed = int(wrong.select(data).sum())
        rows.append(
            [
                TableCell(tag("a", spell_fact(value), href=f"/d/{data.number}{asked.to_query()}"), str(value)),
                count_cell(score.n),
                score_cell(score),
                TableCell(link_count(missed, f"/d/{data.number}{wrong.to_query()}"), float(missed)),
            ]
        )
    label = FACT_LABELS.get(by, spell_fact(by))
    heads = [TableHead(label.capitalize()), numeric("Questions"), numeric("Accuracy, %"), numeric("Not right")]
    return Table(f"Accuracy by {label}", heads, rows)


def _render_worst(data: OpenedData, number: int) -> Child:
    search = search_slices((data.runs[number].run,))
    if not search.slices:
        return tag(
            "p",
            f"No slice stands out more than by chance ({count_noun(search.searched, 'slice')} searched).",
            class_="quiet",
        )
    rows = []
    for k, one in enumerate(search.slices):
        words = describe_slice(one)
        link = f"/d/{data.number}?worst={number}.{k}"
        rows.append(
            [
                TableCell(tag("a", words[:1].upper() + words[1:], href=link)),
                count_cell(one.n),
                TableCell(format_percent(one.inside), one.inside),
                TableCell(format_percent(one.outside), one.outside),
                TableCell(format_points(one.inside - one.outside), one.inside - one.outside, class_="mark-worse"),
                TableCell(format_p(one.chance), one.chance),
            ]
        )
    heads = [
        TableHead("Slice"),
        *(numeric(name) for name in ("Examples", "Accuracy there", "Elsewhere", "Difference", "p (Holm)")),
    ]
    note = f"{count_noun(search.searched, 'slice')} searched; p-values are corrected for that."
    return Table("Worst slices", heads, rows, note=note)
