"""Choose the best of several checkpoints by their runs on validation data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_json, print_table

if TYPE_CHECKING:
    from ..run.select import Selection


def command(
    runs: Annotated[list[Path], typer.Argument(help="Runs of the checkpoints or models to choose from, on one split.")],
    metric: Annotated[
        str, typer.Option(help="The figure to choose by, the highest (shiftscope list metrics).")
    ] = "accuracy",
    split: Annotated[
        str, typer.Option(help="What the IID validation split is called, if not val, valid or validation.")
    ] = "",
    on_ood: Annotated[
        bool, typer.Option("--on-ood", help="Choose on other data than IID validation; marks the run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Choose the run with the highest figure and write selection.json into its folder."""
    from ..run.select import NAME, select

    made = select(runs, metric, split=split, on_ood=on_ood)
    if as_json:
        print_json({"chosen": str(made.best_run), **made.to_json(), "runs": _list_rows(made)})
    else:
        _print_runs(made)
        print(f"chosen: {made.best_run} (written to {made.best_run / NAME})")
    if on_ood:
        print(
            f"shiftscope: the choice was made on split {made.split!r} as out-of-distribution data: "
            "figures of the chosen model on that data are no longer a fair test",
            file=sys.stderr,
        )


def _list_rows(made: Selection) -> list[dict[str, Any]]:
    rows = []
    for run, model, s in zip(made.runs, made.models, made.scores, strict=True):
        shares = {"value": s.value, "low": s.low, "high": s.high}
        percent = {k: None if v is None else round(100 * v, 10) for k, v in shares.items()}
        rows.append({"run": str(run), "model": model, **percent, "n": s.n})
    return rows


def _print_runs(made: Selection) -> None:
    rows = []
    for at, r in enumerate(_list_rows(made)):
        interval = "" if r["low"] is None or r["high"] is None else f"{r['low']:.2f} to {r['high']:.2f}"
        mark = "chosen" if at == made.best else ""
        rows.append([r["run"], r["model"], f"{r['value']:.2f}", interval, r["n"], mark])
    print_table(("run", "model", f"{made.scores[0].metric} %", "95% interval", "n", ""), rows)
