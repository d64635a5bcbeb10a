"""A table of text as HTML: figures stand right and on one line, sentences wrap."""

from __future__ import annotations

from collections.abc import Sequence

from ...run.study.findings import FAILS
from ..markup import Child, Html, tag, text
from ..number import MINUS, NONE
from ..table import Cell, Head, table
from .text_table import Table

LONG = 45  # characters; a cell with more is a sentence
SHORT = 20  # a column of words no longer than this does not wrap
FIGURE = (*"0123456789+", MINUS, NONE)  # how one begins
WRAPS = "white-space: normal; min-width: 11rem"
LOUD = {FAILS: {"style": "color: var(--bad); font-weight: 650"}}  # what should not be overlooked


def plain(one: Table) -> Html:
    columns = list(zip(*one.rows, strict=True)) or [()] * len(one.columns)
    prose = any(len(cell) > LONG for row in one.rows for cell in row)
    heads = [Head(name, numeric=k > 0 and _figures(columns[k])) for k, name in enumerate(one.columns)]
    looks = [_look(k, cells, prose) for k, cells in enumerate(columns)]
    rows = [
        [Cell(cell, **(look | LOUD.get(cell, {}))) for cell, look in zip(row, looks, strict=True)]
        for row in one.rows
    ]
    note: Child = tag("p", one.note, class_="note") if one.note else None
    return text([table(heads, [rows], caption=one.title), note])


def _figures(cells: Sequence[str]) -> bool:
    return all(cell.startswith(FIGURE) and len(cell) <= LONG for cell in cells)


def _look(k: int, cells: Sequence[str], prose: bool) -> dict[str, str]:
    """How the cells of a column wrap."""
    if prose and any(len(cell) > SHORT for cell in cells):
        return {} if _figures(cells) else {"style": WRAPS}
    return {"class_": "short"} if k else {}
