"""Choose the best of several checkpoints by their runs on validation data."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import warn
from . import _console as shared
from ._console import print_json, print_table


def command(
    runs: Annotated[list[Path], typer.Argument(help="Runs of the checkpoints or models to choose from, on one split.")],
    metric: Annotated[str, typer.Option(help="Metric to maximize (shiftscope list metrics).")] = "accuracy",
    split: Annotated[str, typer.Option(help="The IID validation split, if not val, valid or validation.")] = "",
    on_ood: Annotated[bool, typer.Option("--on-ood", help="Allow data other than IID validation; marks it.")] = False,
    as_json: shared.AsJson = False,
) -> None:
    """Choose the run with the highest figure and write selection.json into its folder."""
    from ..metrics.slices import to_percent
    from ..run.select import NAME, select

    made = select(runs, metric, split=split, on_ood=on_ood)
    found: list[dict[str, Any]] = []
    for run, model, score in zip(made.runs, made.models, made.scores, strict=True):
        figures = {k: to_percent(getattr(score, k)) for k in ("value", "low", "high")}
        found.append({"run": str(run), "model": model, **figures, "n": score.n})
    if as_json:
        print_json({"chosen": str(made.best_run), **made.to_json(), "runs": found})
    else:
        rows = []
        for at, row in enumerate(found):
            interval = "" if None in (row["low"], row["high"]) else f"{row['low']:.2f} to {row['high']:.2f}"
            mark = "chosen" if at == made.best else ""
            rows.append([row["run"], row["model"], f"{row['value']:.2f}", interval, row["n"], mark])
        print_table(("run", "model", f"{made.scores[0].metric} %", "95% interval", "n", ""), rows)
        print(f"chosen: {made.best_run} (written to {made.best_run / NAME})")
    if on_ood:
        warn(
            f"the choice was made on split {made.split!r} as out-of-distribution data: "
            "figures of the chosen model on that data are no longer a fair test"
        )
