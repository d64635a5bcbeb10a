"""Choose the best of several checkpoints by their runs on validation data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import json_line, table

if TYPE_CHECKING:
    from ..run.select import Selection


def command(
    runs: Annotated[
        list[Path], typer.Argument(help="Runs of the checkpoints or models to choose from, on one split.")
    ],
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
        json_line({"chosen": str(made.chosen), **made.data(), "runs": _rows(made)})
    else:
        _table(made)
        print(f"chosen: {made.chosen} (written to {made.chosen / NAME})")
    if on_ood:
        print(
            f"shiftscope: the choice was made on split {made.split!r} as out-of-distribution data: "
            "figures of the chosen model on that data are no longer a fair test",
            file=sys.stderr,
        )


def _rows(made: Selection) -> list[dict[str, Any]]:
    rows = []
    for run, model, s in zip(made.runs, made.models, made.scores, strict=True):
        shares = {"value": s.value, "low": s.low, "high": s.high}
        percent = {k: None if v is None else round(100 * v, 10) for k, v in shares.items()}
        rows.append({"run": str(run), "model": model, **percent, "n": s.n})
    return rows


def _table(made: Selection) -> None:
    rows = []
    for at, r in enumerate(_rows(made)):
        interval = "" if r["low"] is None or r["high"] is None else f"{r['low']:.2f} to {r['high']:.2f}"
        mark = "chosen" if at == made.best else ""
        rows.append([r["run"], r["model"], f"{r['value']:.2f}", interval, r["n"], mark])
    table(("run", "model", f"{made.scores[0].metric} %", "95% interval", "n", ""), rows)
