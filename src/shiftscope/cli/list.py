"""List what there is: suites, models, metrics, shifts, ops, tests, and what plugins add to them."""

from typing import Annotated

import typer

from .. import registry
from ..errors import unknown
from ._console import print_json, print_table

REGISTRIES: dict[str, registry.Registry] = {
    "suites": registry.SUITES,
    "models": registry.MODELS,
    "metrics": registry.METRICS,
    "shifts": registry.SHIFTS,
    "schemas": registry.SCHEMAS,
    "notations": registry.NOTATIONS,
    "formats": registry.FORMATS,
    "tests": registry.GENERALIZATION_TESTS,
    "worlds": registry.WORLDS,
    "sections": registry.SECTIONS,
    "debiasing": registry.WRAPPERS,
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
        if section == "ops":
            from ..lang.op import all_ops

            rows = [(op.usage, op.summary) for op in all_ops().values()]
        else:
            rows = [(name, REGISTRIES[section].summary(name)) for name in REGISTRIES[section].names()]
        if as_json:
            for name, line in rows:
                print_json({"section": FORMER_NAMES.get(section, section), "name": name, "summary": line})
        elif rows:
            print_table((section, ""), rows)
        else:
            print(f"{section}: none yet\n")
