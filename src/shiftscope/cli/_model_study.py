"""`shiftscope study NAME` for studies that compare models on one dataset."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import warn
from ._console import shard_bar
from ._study_console import (
    CELLS,
    DATA,
    PAGE,
    find_records,
    parse_names,
    print_line,
    print_merged,
    print_study_tables,
    print_written,
    require_folder,
)

if TYPE_CHECKING:
    from ..suites.model_study import ModelStudy


def command(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of the dataset, weights, runs and records.")] = None,
    models: Annotated[str, typer.Option(help="Which models, separated by commas; else all.")] = "",
    tests: Annotated[str, typer.Option(help="Only these test sets, separated by commas.")] = "",
    scale: Annotated[str, typer.Option(help="small (a trial) or paper (for a GPU).")] = "small",
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
    """Train every model on the suite's data and ask it every test set; resumes where it stopped."""
    from ..run.study.entry_store import merge_records
    from ..run.study.model_records import ModelRecordStore
    from ..suites.model_study import load_model_study

    kept = find_records(cells, out, page, tables)
    if merge:
        print_merged(merge_records(merge, kept, ModelRecordStore), kept, as_json)
        return
    study = load_model_study(str(context.info_name))
    chosen = study.find_scale(scale, images)
    if not tables:
        from ..run.study.model_study import ModelStudySpec, run_model_study
        from ..run.study.study import MODELS_FOLDER, RUNS, WEIGHTS

        spec = ModelStudySpec(
            study,
            require_folder(out, (CELLS, PAGE, DATA, MODELS_FOLDER, RUNS, WEIGHTS)),
            kept,
            chosen,
            models=parse_names(models),
            tests=parse_names(tests),
            device=device,
            workers=workers or os.cpu_count() or 1,
            minutes=minutes,
            command=shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        for record in run_model_study(spec, tell=warn, bar=shard_bar):
            line: dict[str, Any] = {"kind": record.KIND, "of": record.label}
            found = getattr(record, "figures", {}).get("accuracy", {}).get("")
            line |= {"accuracy": round(100 * found[0], 2), "asked": found[3]} if found and found[0] is not None else {}
            print_line(line, as_json)
    _print_tables(study, kept, None if tables and images is None else chosen, page, as_json)


def _print_tables(study: ModelStudy, cells: Path, asked: Any, page: Path | None, as_json: bool) -> None:
    from ..files import write_whole
    from ..report.model_study_page import describe_trial, list_model_tables, render_model_study
    from ..run.study.model_study import read_results

    results = read_results(study, cells, asked)
    if not as_json and (trial := describe_trial(results)):
        print(trial)
    print_study_tables(list_model_tables(study, results), as_json)
    if page is not None:
        write_whole(page, render_model_study(study, results, str(cells)).encode())
        print_written([page], as_json)
