"""The command line's verbs, found by file name; a verb's module is imported when its options are needed."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from .. import __version__
from ..registry import VERBS
from ._plain_options import read_plainly


class VerbCommands(Mapping[str, Any]):
    """The verbs by name; to look at the options of all of them takes typer longer than most commands take."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in VERBS.names():
            raise KeyError(name)
        if name not in self._built:
            self._built[name] = _build_verb(name)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS.names())

    def __len__(self) -> int:
        return len(VERBS.names())


class VerbGroup(TyperGroup):
    """The whole command line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": VerbCommands()})


app = typer.Typer(
    cls=VerbGroup,
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


def _build_verb(name: str) -> Any:
    module, alone = VERBS.load(name), typer.Typer(add_completion=False, rich_markup_mode=None)
    if hasattr(module, "group"):  # a verb of several kinds: make clevr, make questions
        alone.add_typer(module.group, name=name)
        return read_plainly(get_command(alone).commands[name])  # type: ignore[attr-defined]
    alone.command(name, help=inspect.getdoc(module.command))(module.command)
    return read_plainly(get_command(alone))


@cache
def command() -> Callable[..., Any]:
    """The command line as it is called."""
    return read_plainly(get_command(app))  # type: ignore[no-any-return]
