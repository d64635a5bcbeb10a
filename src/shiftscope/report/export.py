"""Export: what a page shows as Markdown, JSON or CSV; tables and text, without charts and examples."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from math import isfinite

from .. import __version__
from .markup import Child, Html
from .number_format import DASH
from .page import Page, Section
from .runs import ReportRuns
from .table import Table, TableCell
from .verdict import find_verdict, list_judged

Sections = Sequence[tuple[str, Section]]
_BLOCK = re.compile(r"<(h3|p|pre)\b[^>]*>(.*?)</\1>", re.DOTALL)
CSV_COLUMNS = ("section", "table", "row", "column", "text", "value")


def render_markdown(page: Page, sections: Sections) -> str:
    """The page as text with its tables, for a pull request or a lab book."""
    parts = [f"# {page.title}", *_list_text(page.opening)]
    parts += [f"- {name}: {figure} ({about})" for name, figure, about in page.tiles]
    for _, section in sections:
        text = list(_list_text(section.parts))
        while text and text[-1].startswith("### ") and "\n" not in text[-1]:  # what it heads is not for here
            text.pop()
        if text:  # else charts or examples alone
            parts += [f"## {section.title}", section.lead, *text]
    return "\n\n".join(filter(None, parts)) + "\n"


def _list_text(parts: Iterable[Child]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Table):
            yield part.to_markdown(level=3)
        elif isinstance(part, Html):
            yield from _convert_blocks(part)
        elif isinstance(part, str):
            yield part
        elif isinstance(part, Iterable):
            yield from _list_text(part)


def _convert_blocks(markup: str) -> Iterator[str]:
    """Headings, paragraphs and commands; not figures, nor cards of examples."""
    if markup.startswith(("<figure", "<div", "<article", "<svg", "<ul", "<table")):
        return
    for kind, inside in _BLOCK.findall(markup):
        text = unescape(re.sub(r"<[^>]+>", "", inside))
        if kind == "pre" and text.startswith("{"):  # specs are in the runs
            continue
        yield f"```\n{text}\n```" if kind == "pre" else f"### {' '.join(text.split())}" if kind == "h3" else text


def render_json(page: Page, sections: Sections) -> str:
    """Verdicts, runs and all tables; a cell has its text and, where it has one, its value."""
    report: ReportRuns = page.records
    data = {
        "shiftscope": __version__,
        "title": page.title,
        "verdicts": [find_verdict(report, contender).to_json() for contender in list_judged(report)],
        "runs": [
            {"folder": str(r.folder or ""), "model": r.contender, "test": r.test, "seed": r.spec.get("seed")}
            for r in report.each
        ],
        "sections": [
            {
                "name": name,
                "title": section.title,
                "tables": [
                    {"title": table.title, "columns": texts[0], "rows": texts[1:], "values": list_values(table)}
                    for table in section.tables
                    for texts in [table.list_text()]
                ],
            }
            for name, section in sections
        ],
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def render_csv(page: Page, sections: Sections) -> str:
    """Every cell of every table on a line of its own."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for name, section in sections:
        for table in section.tables:
            heads, *rows = table.list_text()
            for row, values in zip(rows, list_values(table), strict=True):
                for head, text, value in list(zip(heads, row, values, strict=True))[1:]:
                    writer.writerow([name, table.title, row[0], head, text, "" if value is None else repr(value)])
    return file.getvalue()


def list_values(table: Table) -> list[list[float | str | None]]:
    """What cells sort by, where that is not their text; nothing for a cell that shows no figure."""

    def read_value(cell: TableCell | str) -> float | str | None:
        if isinstance(cell, str) or cell.content == DASH:
            return None
        return None if isinstance(cell.value, float) and not isfinite(cell.value) else cell.value

    return [[read_value(cell) for cell in row] for row in table.rows]


FORMATS: dict[str, Callable[[Page, Sections], str]] = {
    "html": lambda page, sections: page.render(sections),
    "md": render_markdown,
    "json": render_json,
    "csv": render_csv,
}
