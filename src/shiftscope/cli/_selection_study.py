"""`shiftscope study NAME` for studies of model selection."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UserError, warn
from ._console import shard_bar
from ._study_console import (
    CELLS,
    PAGE,
    find_records,
    parse_names,
    parse_seeds,
    print_line,
    print_merged,
    print_study_tables,
    print_written,
    require_folder,
)

PARTS = "whole,changing_priors,proportion"
SMALL = "small"  # the scale where none is named


def command(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of the world, weights, records and report.html.")] = None,
    data: Annotated[Path | None, typer.Option(help="A world made before, with --shortcut; else one is made.")] = None,
    audit: Annotated[
        Path | None, typer.Option(help="An audit of VQA files: question-only methods learn from it, without images.")
    ] = None,
    methods: Annotated[str, typer.Option(help="Which methods, separated by commas; else all.")] = "",
    parts: Annotated[
        str, typer.Option(help="whole (Tables 2–4, Figure 6), changing_priors, proportion (Figure 7), by commas.")
    ] = PARTS,
    seeds: Annotated[
        str, typer.Option(help="Separated by commas; else the study's. The last two parts take one.")
    ] = "",
    scale: Annotated[
        str,
        typer.Option(help="small (240 images, a trial; the default) or paper (6,000, for a GPU); --data has its own."),
    ] = "",
    images: Annotated[
        int | None, typer.Option(min=12, help="Number of images over train, val and test; --data has its own.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cuda or cpu.")] = "auto",
    cells: Annotated[Path | None, typer.Option(help="Folder or FILE.jsonl of records; else OUT/cells.")] = None,
    minutes: Annotated[float | None, typer.Option(help="End a piece by then; the same command resumes.")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one per core.")] = 0,
    together: Annotated[
        int, typer.Option(min=1, help="Trainings that run at once on the device, each in a process of its own.")
    ] = 1,
    keep_epochs: Annotated[
        bool, typer.Option("--keep-epochs", help="Keep the weights of the epochs that a strategy chose, as models.")
    ] = False,
    tables: Annotated[bool, typer.Option("--tables", help="Train nothing: print tables of stored records.")] = False,
    page: Annotated[Path | None, typer.Option(help="With --tables: write them to this file, as Markdown.")] = None,
    merge: Annotated[list[Path] | None, typer.Option(help="Add the records of these files to the records.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Train every method on a biased world and choose its epoch on IID val, OOD val and OOD test; resumes."""
    name = str(context.info_name)
    kept = find_records(cells, out, page, tables)
    if minutes is not None and minutes <= 0:
        raise UserError(f"{minutes:g} minutes are too few; give more, or omit --minutes")
    if merge:
        from ..run.selection_study.selection_study import SelectionStore
        from ..run.study.entry_store import merge_records

        print_merged(merge_records(merge, kept, SelectionStore), kept, as_json)
        return
    if not tables:
        from ..registry import STUDIES
        from ..run.selection_study.selection_study import (
            PICTURES,
            WEIGHTS,
            WORLD,
            SelectionStudySpec,
            open_world,
            run_selection_study,
        )

        study = STUDIES.load(name).STUDY
        if audit is not None and (data is not None or images is not None):
            raise UserError("--audit is instead of a world; omit --data and --images")
        if audit is not None:
            chosen = study.build_language_scale()
        elif data is not None:
            chosen = study.choose_scale(scale, images, open_world(study, data)[1])
        else:
            chosen = study.find_scale(scale or SMALL, images)
        spec = SelectionStudySpec(
            study=study,
            out=require_folder(out, (CELLS, PAGE, PICTURES, WEIGHTS, WORLD)),
            cells=kept,
            scale=chosen,
            parts=parse_names(parts),
            methods=parse_names(methods),
            seeds=parse_seeds(seeds),
            data=data,
            audit=audit,
            device=device,
            workers=workers or os.cpu_count() or 1,
            together=together,
            minutes=minutes,
            keep_epochs=keep_epochs,
            command=shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        for record in run_selection_study(spec, tell=warn, bar=shard_bar, make_bar=shard_bar):
            _print_record(record, as_json)
    _print_tables(name, kept, page, out, as_json)


def _print_record(record: Any, as_json: bool) -> None:
    """A record in a few words: what was trained, and the best of its epochs on IID val."""
    line: dict[str, Any] = {"kind": record.KIND}
    if record.KIND == "run":
        line |= {"method": record.method, "training": record.training, "seed": record.seed}
        line |= {"epochs": len(record.right["val"]), "seconds": record.seconds["training"]}
    else:
        line |= {"data": record.data, "questions": record.questions}
    print_line(line, as_json)


def _print_tables(name: str, cells: Path, page: Path | None, out: Path | None, as_json: bool) -> None:
    from ..files import write_whole
    from ..metrics.model_selection import build_selection_results
    from ..registry import STUDIES
    from ..report.selection_page import (
        describe_world,
        list_selection_tables,
        render_selection_markdown,
        write_selection_page,
    )
    from ..run.selection_study.selection_study import SelectionStore

    records = SelectionStore(cells).read_records()
    if not records and page is None:
        raise UserError(f"{cells}: no records there yet; make some with shiftscope study {name} --out DIR")
    results = build_selection_results(STUDIES.load(name).STUDY, records)
    if not as_json:
        print("\n".join(describe_world(results)))
    print_study_tables(list_selection_tables(results), as_json)
    written = []
    if page is not None:
        write_whole(page, render_selection_markdown(results).encode())
        written.append(page)
    if out is not None:
        written.append(write_selection_page(out / PAGE, results))
    print_written(written, as_json)
