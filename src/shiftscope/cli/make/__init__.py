"""Make datasets, scenes or questions."""

from __future__ import annotations

import typer

from . import clevr, clevr_hyp, covr, gqa, questions, scenes, superclevr

group = typer.Typer(
    help="Make a dataset, scenes and images alone, or questions about given scenes.", no_args_is_help=True
)
group.command("clevr")(clevr.command)
group.command("clevr_hyp")(clevr_hyp.command)
group.command("covr")(covr.command)
group.command("gqa")(gqa.command)
group.command("superclevr")(superclevr.command)
group.command("scenes")(scenes.command)
group.command("questions")(questions.command)
