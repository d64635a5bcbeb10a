"""Make datasets, scenes or questions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ...registry import SUITES
from .._console import print_json, print_table, shard_bar
from . import questions, scenes

if TYPE_CHECKING:
    from ...suites import MakeReport, Option, Suite

OUT = Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is resumed.")]
COMMON: dict[str, tuple[Any, Any]] = {
    "workers": (Annotated[int, typer.Option(min=0, help="Processes; 0 for one per core.")], 0),
    "repair": (Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")], False),
    "as_json": (Annotated[bool, typer.Option("--json", help="Print JSON.")], False),
}


class SuiteGroup(TyperGroup):
    """Besides its own commands, one for each suite, which is loaded when its command is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*SUITES.names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, name: str) -> Any:
        if name not in self.commands and name in SUITES.names():
            self.commands[name] = build_suite_command(name)
        return super().get_command(ctx, name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Suites are listed by their summaries, so that none is loaded."""
        own = [(name, (self.commands[name].help or "").splitlines()[0]) for name in super().list_commands(ctx)]
        listed = [(name, SUITES.summary(name)) for name in SUITES.names()]
        rows = [*listed, *(row for row in own if row[0] not in dict(listed))]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


group = typer.Typer(
    cls=SuiteGroup,
    help="Make a dataset, scenes and images alone, or questions about given scenes.",
    no_args_is_help=True,
)
group.command("scenes")(scenes.command)
group.command("questions")(questions.command)


def build_suite_command(name: str) -> Any:
    """`shiftscope make NAME`, with the options that the suite's spec and inputs give."""
    from ...suites import load_suite

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    suite = load_suite(name)
    app.command(name, help=suite.help)(build_callback(suite))
    command = typer.main.get_command(app)
    command.name = name
    return command


def build_callback(suite: Suite[Any]) -> Callable[..., None]:
    """A function whose parameters are the options."""
    options = suite.spec.list_options() | suite.options

    def callback(out: Path, workers: int, repair: bool, as_json: bool, **given: Any) -> None:
        made = suite.run(given, out, workers=workers or None, repair=repair, bar=shard_bar)
        for report in made:
            print_report(report, as_json)

    annotated = {name: (_annotate(name, o), ... if o.required else o.default) for name, o in options.items()}
    listed = {"out": (OUT, ...)} | annotated | COMMON
    keyword, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    parameters = [
        inspect.Parameter(name, keyword, annotation=kind, default=empty if default is ... else default)
        for name, (kind, default) in listed.items()
    ]
    callback.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    callback.__annotations__ = {name: kind for name, (kind, _) in listed.items()}
    return callback


def _annotate(name: str, option: Option) -> Any:
    """An option as Typer reads it: a switch has one spelling, and no `--no-` beside it."""
    kind = option.type or type(option.default)
    spelled = f"--{option.name or name.replace('_', '-')}"
    spellings = [spelled, option.short] if option.short else [spelled]
    made = typer.Option(*spellings, min=option.min, help=option.help, show_default=option.show_default)
    return Annotated[kind if option.required or option.default is not None else kind | None, made]


def print_report(report: MakeReport, as_json: bool) -> None:
    """One JSON object, or lines and tables; flushed, for the next may take hours."""
    if as_json:
        if report.data:
            print_json(report.data)
        return
    for block in report.text:
        if isinstance(block, str):
            print(block, flush=True)
        else:
            print_table(*block)
