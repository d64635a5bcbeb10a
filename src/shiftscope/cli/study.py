"""Study how models lose accuracy to each factor of a suite's shifts."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError
from ._console import json_line, shard_bar, table

if TYPE_CHECKING:
    from ..run.study.cell import Record
    from ..run.study.study import Order

group = typer.Typer(
    help="Train models on variants of a suite and ask each about all: tables with intervals.",
    no_args_is_help=True,
)
CELLS, PAGE = "cells", "report.html"


@group.command("superclevr")
def command(
    out: Annotated[
        Path | None, typer.Option(help="The study's folder: weights, runs, cells and report.html.")
    ] = None,
    models: Annotated[str, typer.Option(help="Which models, by commas.")] = "nsvqa,p_nsvqa,p_nsvqa_exact",
    factors: Annotated[
        str, typer.Option(help="Which factors, by commas.")
    ] = "visual,redundancy,distribution,compositionality",
    scale: Annotated[
        str, typer.Option(help="small (480 images, a trial) or paper (30,000 images, for a GPU).")
    ] = "small",
    images: Annotated[
        int | None, typer.Option(min=12, help="Another number of images, over train, val and test.")
    ] = None,
    visual: Annotated[
        str, typer.Option(help="mid or hard: how the variants of the other factors are seen.")
    ] = "mid",
    train: Annotated[str, typer.Option(help="Only these trainings, by commas: easy,mid,slt,rd-.")] = "",
    seeds: Annotated[str, typer.Option(help="Seeds of the default's training, by commas: 0,1,2.")] = "0",
    device: Annotated[str, typer.Option(help="auto, cuda or cpu.")] = "auto",
    cells: Annotated[
        Path | None, typer.Option(help="Where cells are kept: a folder, or FILE.jsonl; else OUT/cells.")
    ] = None,
    known: Annotated[
        Path | None, typer.Option(help="Cells of earlier studies, which are not made again.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Begin no training that would not be done by then.")
    ] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="Write every cell as a run too; at scale small always.")
    ] = False,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one a core.")] = 0,
    tables: Annotated[
        bool, typer.Option("--tables", help="Train nothing: print the tables of the stored cells.")
    ] = False,
    page: Annotated[
        Path | None, typer.Option(help="With --tables: write them to this file, as Markdown.")
    ] = None,
    merge: Annotated[
        list[Path] | None, typer.Option(help="Put the records of these files into the folder of cells.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Train and test every variant of Super-CLEVR's factors, cell by cell; goes on where it stopped."""
    if cells is None and out is None:
        raise UserError("name the study's folder with --out, or where cells are kept with --cells")
    kept = cells or (out or Path()) / CELLS
    if page is not None and not tables:
        raise UserError("--page writes the tables of stored cells; add --tables")
    if merge:
        _merge(merge, kept, as_json)
        return
    if not tables:
        if out is None:
            raise UserError("a study needs a folder for its weights: --out DIR")
        from ..run.study.scale import scale_named
        from ..run.study.study import Order

        order = Order(
            out=out,
            cells=kept,
            known=known,
            models=_names(models),
            factors=_names(factors),
            visual=visual,
            scale=scale_named(scale, images),
            seeds=_numbers(seeds),
            only=_names(train),
            device=device,
            workers=workers or os.cpu_count() or 1,
            minutes=minutes,
            runs=runs,
            command=shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        _refuse_foreign(out)
        _study(order, as_json)
        if not _can_test():
            print("tables need scipy and statsmodels: where these are, use --tables", file=sys.stderr)
            return
    _tell(kept, page, out, as_json)


def _refuse_foreign(out: Path) -> None:
    """Nothing is written into a folder of something else."""
    from ..run.study.study import JOINED, RUNS, WEIGHTS
    from ..store.lock import contents

    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    own = (CELLS, PAGE, JOINED, RUNS, WEIGHTS)
    if out.is_dir() and contents(out) and not any((out / name).exists() for name in own):
        raise UserError(f"{out} is not empty and holds no study; name another folder with --out")


def _can_test() -> bool:
    from ..report.measure import tests_available

    return tests_available()


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(name) for name in _names(text))
    except ValueError:
        raise UserError(f"--seeds takes whole numbers by commas, as in 0,1,2, not {text!r}") from None


def _merge(files: list[Path], into: Path, as_json: bool) -> None:
    from ..run.study.shelf import merge

    made = merge(files, into)
    if as_json:
        json_line({"cells": str(into), **made._asdict()})
        return
    print(f"{into}: {made.new:,} of {made.records:,} records were new")
    for name in made.cut_short:
        print(f"{name}: its last line is cut short and was left out")


def _study(order: Order, as_json: bool) -> None:
    from ..run.study.study import study

    def tell(sentence: str) -> None:
        print(f"shiftscope: {sentence}", file=sys.stderr, flush=True)

    for record in study(order, tell=tell, bar=shard_bar):
        line = _line(record)
        if as_json:
            json_line(line)
        else:
            print("  ".join(f"{v:.2f}" if isinstance(v, float) else v for v in line.values()), flush=True)


def _line(record: Record) -> dict[str, Any]:
    """A record in a few words."""
    from ..run.study.cell import Cell

    made: dict[str, Any] = {"kind": record.KIND, "trained_on": record.trained.label}
    if isinstance(record, Cell):
        made |= {"asked_about": record.tested.label, "model": record.model}
        for sort, outcome in record.outcomes:
            if outcome.asked:
                made[sort] = round(100 * outcome.right / outcome.asked, 2)
    return made


def _tell(cells: Path, page: Path | None, out: Path | None, as_json: bool) -> None:
    """The tables of what is stored, on the terminal and in files."""
    from ..report.superclevr.markdown import results_page, warning
    from ..report.superclevr.page import write_study_page
    from ..report.superclevr.tables import every_table
    from ..run.study.board import board_of, scales_of
    from ..run.study.shelf import Shelf
    from ..whole import write_whole

    records = Shelf(cells).records()
    scales = scales_of(records)
    if not scales:
        raise UserError(f"{cells}: no cells there yet; make some with shiftscope study superclevr --out DIR")
    board = board_of(records, scales[0])
    if not as_json and warning(board):
        print(warning(board).strip("*"))
    for one in every_table(board):
        if as_json:
            json_line({"table": one.title, "columns": one.columns, "rows": one.rows, "note": one.note})
            continue
        print()
        table(one.columns, one.rows, one.title)
        if one.note:
            print(one.note)
    written = []
    if page is not None:
        write_whole(page, results_page(records).encode())
        written.append(page)
    if out is not None:
        written.append(write_study_page(out / PAGE, records))
    if written and not as_json:
        print(f"\nwrote {', '.join(map(str, written))}")
