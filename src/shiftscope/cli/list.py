"""List what there is: suites, models, metrics, shifts, ops, tests, and what plugins add to them."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import unknown
from ..registry import (
    FORMATS,
    GENERALIZATION_TESTS,
    METRICS,
    MODELS,
    NOTATIONS,
    SCHEMAS,
    SHIFTS,
    SUITES,
    WORLDS,
    Registry,
)
from ..registry import SECTIONS as REPORT_SECTIONS
from ._console import print_json, print_table

REGISTRIES: dict[str, Registry] = {
    "suites": SUITES,
    "models": MODELS,
    "metrics": METRICS,
    "shifts": SHIFTS,
    "schemas": SCHEMAS,
    "notations": NOTATIONS,
    "formats": FORMATS,
    "tests": GENERALIZATION_TESTS,
    "worlds": WORLDS,
    "sections": REPORT_SECTIONS,
}
FORMER_NAMES = {"notations": "dialects"}  # which `--json` keeps, and the argument takes too
SECTIONS = (*list(REGISTRIES)[:4], "ops", *list(REGISTRIES)[4:])


def command(
    what: Annotated[str, typer.Argument(help=f"One of {', '.join(SECTIONS)}; all of them by default.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> None:
    """List suites, models, metrics, shifts, ops, formats and so on, each with a line; plugins are among them."""
    what = next((section for section, former in FORMER_NAMES.items() if what == former), what)
    if what and what not in SECTIONS:
        raise unknown("section", what, SECTIONS)
    for section in [what] if what else SECTIONS:
        rows = list_section(section)
        if as_json:
            for name, line in rows:
                print_json({"section": FORMER_NAMES.get(section, section), "name": name, "summary": line})
        elif rows:
            print_table((section, ""), rows)
        else:
            print(f"{section}: none yet\n")


def list_section(section: str) -> list[tuple[str, str]]:
    """(name, one line) of everything in a section."""
    if section == "ops":
        from ..lang.op import all_ops

        return [(op.usage, op.summary) for op in all_ops().values()]
    registry = REGISTRIES[section]
    return [(name, registry.summary(name)) for name in registry.names()]
