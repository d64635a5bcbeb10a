"""Shortcut groups of an audit: which concept goes with which answer, how often, and who gets its rare answers right."""

from __future__ import annotations

import numpy as np

from ...columns import Column
from ...report.audit_page import describe_shortcut
from ...report.markup import Child, tag
from ...report.number_format import count_noun, format_percent
from ...report.table import Table, TableCell, TableHead, count_cell, numeric
from ..collection import RIGHT, OpenedData, ShortcutMarks
from ..filters import GROUP, PART, ExampleFilter
from .frame import PageFrame, render_heading, render_menus, render_select

MOST_GROUPS = 150  # rows, the largest


def render_shortcuts(frame: PageFrame, data: OpenedData, marks: ShortcutMarks, shortcut: str) -> str:
    chosen = shortcut if shortcut in marks.groups else next(iter(marks.groups))
    column, parts = marks.groups[chosen], marks.parts[chosen]
    here = f"/d/{data.number}/shortcuts"
    menu = render_select("Shortcut", "shortcut", [(s, f"{s}: {describe_shortcut(s)}") for s in marks.groups], chosen)
    form = render_menus([menu], here)
    lead = (
        f"{count_noun(len(column.values), 'group')} by {describe_shortcut(chosen)}. In a group whose answers are "
        "uneven, the frequent ones are its head and the rare ones its tail: what a model that relies on the shortcut "
        "gets wrong."
    )
    body: list[Child] = [render_heading("Shortcuts", lead), form, _render_groups(data, chosen, column, parts)]
    return frame.render("Shortcuts", tag("div", body, class_="wide-page"), data=data, here=here)


def _render_groups(data: OpenedData, shortcut: str, column: Column, parts: Column) -> Table:
    size = len(column.values)
    known = column.codes >= 0
    counts = np.bincount(column.codes[known], minlength=size)
    by_part = {name: np.bincount(column.codes[known & parts.equals(name)], minlength=size) for name in ("head", "tail")}
    answers = data.index.column("answer")
    rows = []
    for k in np.argsort(-counts, kind="stable")[:MOST_GROUPS].tolist():
        if not counts[k]:
            break
        inside = column.codes == k
        codes = answers.codes[inside & (answers.codes >= 0)]
        top = int(np.bincount(codes).argmax()) if len(codes) else -1
        share = float((codes == top).mean()) if top >= 0 else 0.0
        group = ExampleFilter(((f"{GROUP}{shortcut}", str(column.values[k])),))
        here = f"/d/{data.number}"
        cells = [
            TableCell(tag("a", str(column.values[k]), href=f"{here}{group.to_query()}"), str(column.values[k])),
            count_cell(int(counts[k])),
            TableCell(str(answers.values[top]) if top >= 0 else "–"),
            TableCell(format_percent(share), share),
        ]
        for name in ("head", "tail"):
            n = int(by_part[name][k])
            narrowed = ExampleFilter((*group.conditions, (f"{PART}{shortcut}", name)))
            cells.append(TableCell(tag("a", f"{n:,}", href=f"{here}{narrowed.to_query()}") if n else "–", float(n)))
        for view in data.runs:
            cells += [
                _measure(view.outcome, inside & parts.equals(name) & (view.places >= 0)) for name in ("head", "tail")
            ]
        rows.append(cells)
    heads = [
        TableHead("Group"),
        numeric("Questions"),
        TableHead("Commonest answer"),
        numeric("Its share, %"),
        numeric("Head"),
        numeric("Tail"),
    ]
    heads += [numeric(f"{view.name}, {name} %") for view in data.runs for name in ("head", "tail")]
    more = f"The {MOST_GROUPS} largest of {size:,} groups." if size > MOST_GROUPS else ""
    return Table(f"Groups by {describe_shortcut(shortcut)}", heads, rows, note=more)


def _measure(outcome: Column, rows: np.typing.NDArray[np.bool_]) -> TableCell:
    """The share of these rows that are right."""
    n = int(rows.sum())
    if not n:
        return TableCell("–")
    share = float(outcome.equals(RIGHT)[rows].mean())
    return TableCell(format_percent(share), share)
