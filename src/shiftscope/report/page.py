"""Page: the sections under one title, in one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..errors import UserError
from ..store.dataset import Dataset
from ..store.lock import locked_name
from ..whole import utf8, write_whole
from .markup import Html, tag
from .number import several
from .section import Section, sections
from .study import Study, read_study
from .summary import tiles


@dataclass(frozen=True, slots=True)
class Written:
    """A page on disk: how large it is and which sections it has, by name and title."""

    path: Path
    bytes: int
    sections: tuple[tuple[str, str], ...]


def report(runs: Iterable[Path], out: Path, data: Path | None = None) -> Written:
    """Write the page of these runs; `data` is where their dataset is now, if it has moved.

    A page that is there already is replaced whole.
    """
    if out.is_dir():
        raise UserError(f"{out} is a folder; name the page, as in --out {out / 'report.html'}")
    if data is not None:
        Dataset.open(data)
    with locked_name(out):
        study = read_study(runs, data)
        made = list(sections(study))
        text = utf8(page(study, made))
        write_whole(out, text)
    return Written(out, len(text), tuple((name, section.title) for name, section in made))


def page(study: Study, made: Sequence[tuple[str, Section]]) -> str:
    """The page as text, from the sections made."""
    return document(f"ShiftScope report: {_short(study)}", _header(study), made)


def document(
    title: str, header: Html, made: Sequence[tuple[str, Section]], styles: Sequence[str] = ("style.css",)
) -> str:
    """A whole file of sections with their contents; the styles are files beside this one."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"shiftscope {__version__}"),
        tag("title", title),
        tag("style", Html("\n".join(map(_file, styles)))),
    )
    body = tag(
        "body",
        tag("div", _contents(made), tag("main", header, map(_section, made), _footer()), class_="page"),
        tag("script", Html(_file("script.js"))),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _short(study: Study) -> str:
    home = study.home()
    names = [c for c in home.contenders if c not in home.references] or list(home.contenders)
    shown = ", ".join(names) if len(names) < 4 else several(len(names), "model")
    return f"{shown} on {home.tests[0] if len(home.tests) == 1 else several(len(home.tests), 'test')}"


def _header(study: Study) -> Html:
    asked = sum(run.log.questions or len(run.records) for run in study.each)
    lead = f"{several(len(study.each), 'run')}, {several(asked, 'question')} put."
    return tag("header", tag("h1", _short(study)), tag("p", lead, class_="lead"), tiles(study))


def _contents(made: Sequence[tuple[str, Section]]) -> Html:
    links = [tag("li", tag("a", section.title, href=f"#{name}")) for name, section in made]
    return tag("nav", tag("p", "ShiftScope"), tag("ol", links), aria_label="Contents")


def _section(named: tuple[str, Section]) -> Html:
    name, section = named
    return tag(
        "section",
        tag("h2", section.title, id=f"{name}-title"),
        tag("p", section.lead, class_="lead") if section.lead else None,
        section.body,
        id=name,
        aria_labelledby=f"{name}-title",
    )


def _footer() -> Html:
    return tag(
        "footer", tag("p", f"Made by ShiftScope {__version__}. This file needs nothing else.", class_="note")
    )


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
