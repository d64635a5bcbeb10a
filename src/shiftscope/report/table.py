"""Tables of the page: a heading for every column and row, sortable where scripts may run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .markup import Child, Html, tag


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the value it sorts by where that is not its text."""

    content: Child
    value: float | str | None = None
    class_: str = ""
    title: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """The heading of a column; `numeric` ones stand right."""

    content: Child
    numeric: bool = False
    sortable: bool = True
    title: str = ""


def table(
    heads: Sequence[Head], bodies: Iterable[Sequence[Sequence[Cell]]], *, caption: str = "", class_: str = ""
) -> Html:
    """A table; each body is a group of rows, the first cell of a row its heading."""
    groups = [rows for rows in bodies if rows]
    sortable = any(h.sortable for h in heads) and sum(map(len, groups)) > 2
    head = [
        tag(
            "th",
            h.content,
            scope="col",
            class_="num" if h.numeric else None,
            title=h.title or None,
            data_sortable=sortable and h.sortable,
        )
        for h in heads
    ]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else None,
            tag("thead", tag("tr", head)),
            [tag("tbody", [_row(cells, heads) for cells in rows]) for rows in groups],
            class_=f"{class_} {'sortable' if sortable else ''}".strip() or None,
        ),
        class_="scroll",
        tabindex="0",
        role="group",
        aria_label=caption or "table",
    )


def _row(cells: Sequence[Cell], heads: Sequence[Head]) -> Html:
    made = []
    for k, (cell, head) in enumerate(zip(cells, heads, strict=True)):
        made.append(
            tag(
                "td" if k else "th",
                cell.content,
                scope=None if k else "row",
                class_=" ".join(filter(None, ("num" if head.numeric else "", cell.class_))) or None,
                title=cell.title or None,
                style=cell.style or None,
                data_value=f"{cell.value:.6g}" if isinstance(cell.value, float) else cell.value,
            )
        )
    return tag("tr", made)
