"""`shiftscope study NAME` for studies of model selection."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UserError, warn
from ._console import print_json, print_table, shard_bar

CELLS, PAGE = "cells", "report.html"
PARTS = "whole,changing_priors,proportion"


def command(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of the world, weights, records and report.html.")] = None,
    data: Annotated[Path | None, typer.Option(help="A world made before, with --shortcut; else one is made.")] = None,
    methods: Annotated[str, typer.Option(help="Which methods, separated by commas; else all.")] = "",
    parts: Annotated[
        str, typer.Option(help="whole (Tables 2–4, Figure 6), changing_priors, proportion (Figure 7), by commas.")
    ] = PARTS,
    seeds: Annotated[
        str, typer.Option(help="Separated by commas; else the study's. The last two parts take one.")
    ] = "",
    scale: Annotated[str, typer.Option(help="small (240 images, a trial) or paper (30,000, for a GPU).")] = "small",
    images: Annotated[int | None, typer.Option(min=12, help="Number of images over train, val and test.")] = None,
    device: Annotated[str, typer.Option(help="auto, cuda or cpu.")] = "auto",
    cells: Annotated[Path | None, typer.Option(help="Folder or FILE.jsonl of records; else OUT/cells.")] = None,
    minutes: Annotated[float | None, typer.Option(help="End a piece by then; the same command resumes.")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one per core.")] = 0,
    tables: Annotated[bool, typer.Option("--tables", help="Train nothing: print tables of stored records.")] = False,
    page: Annotated[Path | None, typer.Option(help="With --tables: write them to this file, as Markdown.")] = None,
    merge: Annotated[list[Path] | None, typer.Option(help="Add the records of these files to the records.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Train every method on a biased world and choose its epoch on IID val, OOD val and OOD test; resumes."""
    name = str(context.info_name)
    if cells is None and out is None:
        raise UserError("name the study's folder with --out, or where records are stored with --cells")
    kept = cells or (out or Path()) / CELLS
    if page is not None and not tables:
        raise UserError("--page writes the tables of stored records; add --tables")
    if minutes is not None and minutes <= 0:
        raise UserError(f"{minutes:g} minutes are too few; give more, or omit --minutes")
    if merge:
        _merge(merge, kept, as_json)
        return
    if not tables:
        if out is None:
            raise UserError("a study needs a folder for its weights: --out DIR")
        from ..registry import STUDIES
        from ..run.selection_study.selection_study import SelectionStudySpec, run_selection_study

        study = STUDIES.load(name).STUDY
        try:
            numbers = tuple(map(int, _parse_names(seeds)))
        except ValueError:
            raise UserError(f"--seeds takes whole numbers by commas, as in 0,1,2, not {seeds!r}") from None
        spec = SelectionStudySpec(
            study=study,
            out=out,
            cells=kept,
            scale=study.find_scale(scale, images),
            parts=_parse_names(parts),
            methods=_parse_names(methods),
            seeds=numbers,
            data=data,
            device=device,
            workers=workers or os.cpu_count() or 1,
            minutes=minutes,
            command=shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        _refuse_foreign(out)
        for record in run_selection_study(spec, tell=warn, bar=shard_bar, make_bar=shard_bar):
            _print_record(record, as_json)
    _print_tables(name, kept, page, out, as_json)


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _refuse_foreign(out: Path) -> None:
    """Nothing is written into a folder of something else."""
    from ..folder import list_contents
    from ..run.selection_study.selection_study import WEIGHTS, WORLD

    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    own = (CELLS, PAGE, WEIGHTS, WORLD)
    if out.is_dir() and list_contents(out) and not any((out / name).exists() for name in own):
        raise UserError(f"{out} is not empty and holds no study; name another folder with --out")


def _merge(files: list[Path], into: Path, as_json: bool) -> None:
    from ..metrics.model_selection import parse_selection_record
    from ..run.study.entry_store import merge_records

    made = merge_records(files, into, parse_selection_record)
    if as_json:
        print_json({"cells": str(into), **made._asdict()})
        return
    print(f"{into}: {made.new:,} of {made.records:,} records were new")
    for name in made.cut_short:
        print(f"{name}: its last line is cut short and was left out")


def _print_record(record: Any, as_json: bool) -> None:
    """A record in a few words: what was trained, and the best of its epochs on IID val."""
    line: dict[str, Any] = {"kind": record.KIND}
    if record.KIND == "run":
        line |= {"method": record.method, "training": record.training, "seed": record.seed}
        line |= {"epochs": len(record.right["val"]), "seconds": record.seconds["training"]}
    else:
        line |= {"data": record.data, "questions": record.questions}
    print_json(line) if as_json else print("  ".join(map(str, line.values())), flush=True)


def _print_tables(name: str, cells: Path, page: Path | None, out: Path | None, as_json: bool) -> None:
    from ..files import write_whole
    from ..metrics.model_selection import build_selection_results, parse_selection_record
    from ..registry import STUDIES
    from ..report.selection_page import (
        describe_world,
        list_selection_tables,
        render_selection_markdown,
        write_selection_page,
    )
    from ..run.study.entry_store import EntryStore

    records = EntryStore(cells, parse_selection_record).read_records()
    if not records and page is None:
        raise UserError(f"{cells}: no records there yet; make some with shiftscope study {name} --out DIR")
    results = build_selection_results(STUDIES.load(name).STUDY, records)
    if not as_json:
        print("\n".join(describe_world(results)))
    for one in list_selection_tables(results):
        columns, *rows = one.list_text()
        if as_json:
            print_json({"table": one.title, "columns": columns, "rows": rows, "note": str(one.note)})
            continue
        print()
        print_table(columns, rows, one.title)
        if one.note:
            print(one.note)
    written = []
    if page is not None:
        write_whole(page, render_selection_markdown(results).encode())
        written.append(page)
    if out is not None:
        written.append(write_selection_page(out / PAGE, results))
    if written and not as_json:
        print(f"\nwrote {', '.join(map(str, written))}")
