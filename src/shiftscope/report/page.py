"""The page engine: sections under one title, written as one self-contained HTML file.

A file in `sections/` is one section. It says in `PLACES` on which pages it stands and where, and makes itself in
`section(records)`, which returns None where the records have nothing to show:

    PLACES = {"report": 15}  # smaller is further up

    def section(runs: ReportRuns) -> Section | None:
        return Section("Title", [Table(...), "prose"], "How to read it.")

The records are those of the page: ReportRuns for `report`, AuditEvidence for `audit`, a study's TransferMatrix for
`study`. Tables, charts and text are drawn here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import UserError
from ..files import encode_utf8, write_whole
from ..registry import SECTIONS
from .markup import Child, Html, join_markup, render_tiles, tag
from .table import Table

Tile = tuple[str, str, str]  # name, figure, and a line about it


@dataclass(frozen=True)
class Section:
    """A heading, a sentence on how to read what follows, and what follows: tables, charts, text."""

    title: str
    parts: Sequence[Child]
    lead: str = ""

    @cached_property
    def body(self) -> Html:
        return join_markup(self.parts)

    @property
    def tables(self) -> list[Table]:
        return [part for part in self.parts if isinstance(part, Table)]


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is about: its kind, its records, and what stands above its sections."""

    kind: str  # report, audit or study
    records: Any
    title: str
    opening: Sequence[Child] = ()
    tiles: Sequence[Tile] = ()

    def build_sections(self) -> Iterator[tuple[str, Section]]:
        """The sections that these records can fill, in the order of the page, each with its name."""
        loaded = list(SECTIONS.load_all())
        here = [(module.PLACES[self.kind], name, module) for name, module in loaded if self.kind in module.PLACES]
        for _, name, module in sorted(here, key=lambda one: one[:2]):
            section = module.section(self.records)
            if section is not None:
                yield name, section

    def render(self, sections: Iterable[tuple[str, Section]] | None = None) -> str:
        """The page as text, from sections made before or made now."""
        shown = list(self.build_sections() if sections is None else sections)
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="generator", content=f"shiftscope {__version__}"),
            tag("title", f"ShiftScope {self.kind}: {self.title}"),
            tag("style", Html(_read_asset("style.css"))),
        )
        links = [tag("li", tag("a", section.title, href=f"#{name}")) for name, section in shown]
        contents = tag("nav", tag("p", "ShiftScope"), tag("ol", links), aria_label="Contents")
        tiles = render_tiles(self.tiles) if self.tiles else None
        header = tag("header", tag("h1", self.title), self.opening, tiles)
        text = f"Made by ShiftScope {__version__}. This file needs nothing else."
        footer = tag("footer", tag("p", text, class_="note"))
        blocks = [
            tag(
                "section",
                tag("h2", section.title, id=f"{name}-title"),
                tag("p", section.lead, class_="lead") if section.lead else None,
                section.body,
                id=name,
                aria_labelledby=f"{name}-title",
            )
            for name, section in shown
        ]
        main = tag("main", header, blocks, footer)
        script = tag("script", Html(_read_asset("script.js")))
        body = tag("body", tag("div", contents, main, class_="page"), script)
        return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page on disk: how large it is and which sections it has, by name and title."""

    path: Path
    bytes: int
    built: tuple[tuple[str, Section], ...]

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, section.title) for name, section in self.built)


Render = Callable[[Page, Sequence[tuple[str, Section]]], str]


def write_page(page: Page, out: Path, render: Render = Page.render) -> WrittenPage:
    """Write a page whole, as HTML or as `render` makes it; one that is there is replaced."""
    refuse_folder(out)
    sections = list(page.build_sections())
    text = encode_utf8(render(page, sections))
    write_whole(out, text)
    return WrittenPage(out, len(text), tuple(sections))


def refuse_folder(out: Path) -> None:
    if out.is_dir():
        raise UserError(f"{out} is a folder; name the page, as in --out {out / 'report.html'}")


def _read_asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
