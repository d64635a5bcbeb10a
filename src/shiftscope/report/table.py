"""Tables: one record for HTML pages, Markdown and the terminal; and heat maps.

In HTML every column and row has a heading, and a table sorts where scripts may run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .chart.frame import sequential_color, text_color_on
from .markup import Child, Html, join_markup, render_details, render_note, strip_markup, tag
from .number_format import DASH, MINUS, format_count

LONG = 45  # characters; text with more is a sentence, and wraps
SHORT = 20  # a column of words no longer than this does not wrap
NUMBER_STARTS = (*"0123456789+", MINUS, DASH)
DENSE, CROWDED = 7, 12  # columns from which on these stand closer, and are set smaller
WRAPS = "white-space: normal; min-width: 11rem"
LOUD = "color: var(--bad); font-weight: 650"


@dataclass(frozen=True, slots=True)
class TableCell:
    """What a cell shows, and the value it sorts by where that is not its text."""

    content: Child
    value: float | str | None = None
    class_: str = ""
    title: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class TableHead:
    """The heading of a column; `numeric` ones stand right."""

    content: Child
    numeric: bool = False
    sortable: bool = True
    title: str = ""


def numeric(content: Child, title: str = "") -> TableHead:
    """The heading of a column of numbers."""
    return TableHead(content, numeric=True, title=title)


def count_cell(n: int) -> TableCell:
    return TableCell(format_count(n), float(n))


Row = Sequence[TableCell | str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a title; the first cell of a row is its heading, `note` is what a reader must know.

    Headings and cells may be plain text: such a column stands right where all of it is figures.
    """

    title: str
    columns: Sequence[TableHead | str]
    rows: Sequence[Row]
    note: Child = ""
    class_: str = ""
    groups: Sequence[int] = ()  # how many rows belong together, group by group; all of them by default
    loud: str = ""  # text that should not be overlooked
    folded: bool = False  # in HTML, until a reader opens it

    def __html__(self) -> Html:
        plain = [[cell for row in self.rows if isinstance(cell := row[k], str)] for k in range(len(self.columns))]
        prose = any(len(text) > LONG for texts in plain for text in texts)
        heads: list[TableHead] = []
        looks: list[dict[str, Any]] = []  # of the plain text of a column: figures stand on one line, sentences wrap
        for k, (column, texts) in enumerate(zip(self.columns, plain, strict=True)):
            if isinstance(column, TableHead):
                heads.append(column)
                looks.append({})
                continue
            short = all(text.startswith(NUMBER_STARTS) and len(text) <= LONG for text in texts)
            figures = short and len(texts) == len(self.rows)
            heads.append(TableHead(column, numeric=k > 0 and figures))
            if prose and any(len(text) > SHORT for text in texts):
                looks.append({} if figures else {"style": WRAPS})
            else:
                looks.append({"class_": "short"} if k else {})
        sortable = any(h.sortable for h in heads) and len(self.rows) > 2
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
        bodies, at = [], 0
        for size in self.groups or (len(self.rows),):
            rows = [
                tag("tr", map(self._render_cell, range(len(heads)), row, heads, looks)) for row in self.rows[at:][:size]
            ]
            bodies.append(tag("tbody", rows) if rows else None)
            at += size
        table = tag(
            "table",
            tag("caption", self.title) if self.title else None,
            tag("thead", tag("tr", head)),
            bodies,
            class_=" ".join(filter(None, [self.class_, *self._list_widths(), "sortable" if sortable else ""])) or None,
        )
        frame = tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=self.title or "table")
        shown = join_markup([frame, render_note(self.note) if self.note else None])
        return render_details(self.title, shown) if self.folded else shown

    def _list_widths(self) -> list[str]:
        """The looks that make many columns fit a laptop."""
        return [look for look, fewest in (("dense", DENSE), ("crowded", CROWDED)) if len(self.columns) >= fewest]

    def list_text(self) -> list[list[str]]:
        """The headings and the rows as plain text."""
        rows: list[Sequence[TableHead | TableCell | str]] = [self.columns, *self.rows]
        texts = ([strip_markup(c if isinstance(c, str) else c.content) for c in row] for row in rows)
        return [[" ".join(text.split()) for text in row] for row in texts]

    def to_markdown(self, level: int = 2) -> str:
        """A heading of this level, the rows, and the note."""
        lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in self.list_text()]
        lines.insert(1, f"|{'---|' * len(self.columns)}")
        return "\n\n".join(filter(None, [f"{'#' * level} {self.title}", "\n".join(lines), strip_markup(self.note)]))

    def _render_cell(self, k: int, cell: TableCell | str, head: TableHead, look: dict[str, Any]) -> Html:
        if isinstance(cell, str):
            cell = TableCell(cell, **(look | ({"style": LOUD} if self.loud and cell == self.loud else {})))
        return tag(
            "td" if k else "th",
            cell.content,
            scope=None if k else "row",
            class_=" ".join(filter(None, ("num" if head.numeric else "", cell.class_))) or None,
            title=cell.title or None,
            style=cell.style or None,
            data_value=f"{cell.value:.6g}" if isinstance(cell.value, float) else cell.value,
        )


@dataclass(frozen=True, slots=True)
class HeatTile:
    """One entry of a heat map: its text, its value from 0 to 1, a line below and a note for the pointer."""

    figure: str
    share: float
    below: str = ""
    title: str = ""
    marked: bool = False  # outlined, such as a variant tested on itself


def render_heat_map(
    caption: str,
    rows: Sequence[tuple[str, str]],
    columns: Sequence[str],
    tile: Callable[[tuple[str, str], str], HeatTile | None],
    corner: str = "",
) -> Html:
    """A table coloured by value; an entry without a tile is shown as such, not left looking like a low value.

    A row has the name of its group, which heads its rows where there is one, and its own.
    """
    head = tag(
        "tr", tag("th", tag("span", corner, class_="unseen"), scope="col"), [tag("th", c, scope="col") for c in columns]
    )

    def render_tile(tile: HeatTile | None) -> Html:
        if tile is None:
            return tag("td", DASH, class_="void", title="not run")
        background = sequential_color(tile.share)
        return tag(
            "td",
            tile.figure,
            tag("small", tile.below) if tile.below else None,
            class_="same" if tile.marked else None,
            style=f"background:{background};color:{text_color_on(background)}",
            title=tile.title or None,
        )

    bodies = []
    for group in dict.fromkeys(group for group, _ in rows):
        heading = tag("tr", tag("th", group, scope="rowgroup", colspan=len(columns) + 1, class_="group-name"))
        body = [
            tag("tr", tag("th", row[1], scope="row"), [render_tile(tile(row, column)) for column in columns])
            for row in rows
            if row[0] == group
        ]
        bodies.append(tag("tbody", heading if group else None, body))
    table = tag("table", tag("caption", caption), tag("thead", head), bodies, class_="heat")
    return tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=caption)
