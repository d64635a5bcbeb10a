"""Put a model through a generalization test; one file per test, found by its name."""

from __future__ import annotations

import typer

from ...catalog import Catalog

group = typer.Typer(
    help="Put a model through a generalization test: segment-combine, contrast, …", no_args_is_help=True
)

COMMANDS = Catalog("test", "shiftscope.cli.test")

for _name in COMMANDS.names():
    group.command(_name.replace("_", "-"))(COMMANDS.load(_name).command)
