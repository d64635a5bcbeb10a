"""List what there is: suites, models, metrics, shifts, ops, tests and the file families that can be read."""

from __future__ import annotations

from typing import Annotated

import typer

from ..catalog import DIALECTS, FORMATS, METRICS, MODELS, SCHEMAS, SHIFTS, SUITES, TESTS, Catalog
from ..errors import unknown
from ._console import json_line, table

CATALOGS: dict[str, Catalog] = {
    "suites": SUITES,
    "models": MODELS,
    "metrics": METRICS,
    "shifts": SHIFTS,
    "schemas": SCHEMAS,
    "dialects": DIALECTS,
    "formats": FORMATS,
    "tests": TESTS,
}
SECTIONS = (*list(CATALOGS)[:4], "ops", *list(CATALOGS)[4:])


def command(
    what: Annotated[str, typer.Argument(help=f"One of {', '.join(SECTIONS)}; all of them by default.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List suites, models, metrics, shifts, ops, schemas, dialects, formats and tests, each with a line."""
    if what and what not in SECTIONS:
        raise unknown("section", what, SECTIONS)
    for section in [what] if what else SECTIONS:
        rows = contents(section)
        if as_json:
            for name, line in rows:
                json_line({"section": section, "name": name, "summary": line})
        elif rows:
            table((section, ""), rows)
        else:
            print(f"{section}: none yet\n")


def contents(section: str) -> list[tuple[str, str]]:
    """(name, one line) of everything in a section."""
    if section == "ops":
        from ..lang.op import all_ops

        return [(op.written, op.summary) for op in all_ops().values()]
    catalog = CATALOGS[section]
    return [(name, catalog.summary(name)) for name in catalog.names()]
