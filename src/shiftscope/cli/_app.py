"""The command line's verbs, found by file name; a verb's module is imported to know its options."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from .. import __version__
from ..registry import VERBS

app = typer.Typer(
    name="shiftscope",
    help="Find where, and why, a visual-reasoning model breaks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shiftscope {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    """Find where, and why, a visual-reasoning model breaks."""


for _name in VERBS.names():
    _module = VERBS.load(_name)
    if hasattr(_module, "group"):  # a verb of several kinds: make clevr, make questions
        app.add_typer(_module.group, name=_name)
    else:
        app.command(_name, help=inspect.getdoc(_module.command))(_module.command)


@cache
def command() -> Callable[..., Any]:
    """All verbs with their options; to look at all of them takes typer a sixth of a second."""
    return get_command(app)
