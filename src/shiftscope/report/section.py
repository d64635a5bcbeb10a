"""Section: one part of the page, found by file name in `sections/`; absent when the runs lack what it needs.

A file there holds `PLACE` (the smaller, the further up) and `section(study) -> Section | None`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..catalog import Catalog
from .markup import Html
from .study import Study

SECTIONS = Catalog("report section", "shiftscope.report.sections")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, a sentence on how to read what follows, and what follows."""

    title: str
    body: Html
    lead: str = ""


def sections(study: Study) -> Iterator[tuple[str, Section]]:
    """The sections that these runs can fill, in the order of the page, each with its name."""
    modules = [(SECTIONS.load(name), name) for name in SECTIONS.names()]
    for module, name in sorted(modules, key=lambda m: (m[0].PLACE, m[1])):
        made = module.section(study)
        if made is not None:
            yield name, made
