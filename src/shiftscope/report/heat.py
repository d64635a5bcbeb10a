"""Heat map: a table whose cells are coloured by their value and carry it in writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .color import ink_on, sequential
from .markup import Html, tag
from .number import NONE


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell: what it says, what it is worth from 0 to 1, a line below and a note for the pointer."""

    figure: str
    share: float
    below: str = ""
    title: str = ""
    marked: bool = False  # outlined, such as a variant tested on itself


def heat_map(
    caption: str,
    rows: Sequence[str],
    columns: Sequence[str],
    tile: Callable[[str, str], Tile | None],
    *,
    corner: str = "",
    color: Callable[[float], str] = sequential,
) -> Html:
    """The table; a cell without a tile is shown as such, not left looking like a low value."""
    head = tag(
        "tr",
        tag("th", tag("span", corner, class_="unseen"), scope="col"),
        [tag("th", c, scope="col") for c in columns],
    )
    body = [
        tag("tr", tag("th", row, scope="row"), [_cell(tile(row, column), color) for column in columns])
        for row in rows
    ]
    made = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body), class_="heat")
    return tag("div", made, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _cell(tile: Tile | None, color: Callable[[float], str]) -> Html:
    if tile is None:
        return tag("td", NONE, class_="void", title="not run")
    background = color(tile.share)
    return tag(
        "td",
        tile.figure,
        tag("small", tile.below) if tile.below else None,
        class_="same" if tile.marked else None,
        style=f"background:{background};color:{ink_on(background)}",
        title=tile.title or None,
    )
