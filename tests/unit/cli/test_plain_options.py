"""Plain options are read as Typer reads them, and without pydantic; what is wrong with one, Typer says."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.main import get_command

from shiftscope.cli._plain_options import read_plainly


def build_command(told, *, plainly):
    app = typer.Typer(add_completion=False)

    @app.command()
    def run(
        files: Annotated[list[Path] | None, typer.Argument()] = None,
        pair: Annotated[tuple[int, str], typer.Option()] = (1, "x"),
        word: str = "a",
        n: Annotated[int, typer.Option(min=1, max=99)] = 3,
        share: float = 0.5,
        out: Path = Path("x"),
        maybe: int | None = None,
        names: Annotated[list[str] | None, typer.Option("--name")] = None,
        switch: Annotated[bool, typer.Option("--switch")] = False,
    ) -> None:
        told.append((files, pair, word, n, share, out, maybe, names, switch))

    return read_plainly(get_command(app)) if plainly else get_command(app)


@pytest.mark.parametrize(
    "line",
    [
        *("", "--word 12", "--n 7", "--n -7", "--n 0", "--n 100", "--n 1_0", "--n ٣", "--n 1.5", "--n 7.0"),
        *("--share 2", "--share 1e3", "--share x", "--share .5", "--out /tmp", "--out /nowhere/at/all"),
        *(
            "--maybe 4",
            "--maybe x",
            "--name a --name b",
            "--switch",
            "--word",
            "--n",
            "a b",
            "/tmp",
            "--pair 2 y",
            "--pair x y",
        ),
    ],
)
def test_values_and_errors_are_those_of_typer(line):
    found = []
    for plainly in (False, True):
        told = []
        try:
            build_command(told, plainly=plainly)(line.split(), standalone_mode=False)
        except Exception as error:
            told.append((type(error), error.format_message()))
        found.append([*told, *map(type, told[0])])
    assert found[0] == found[1]


def test_a_command_line_without_errors_does_without_pydantic():
    code = "import sys; from shiftscope.cli._app import command; command()(['list', 'suites'], standalone_mode=False)"
    run = f"{code}; assert 'pydantic' not in sys.modules"
    subprocess.run([sys.executable, "-c", run], check=True, capture_output=True)
