"""`shiftscope study NAME` for studies of held-out splits."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UserError, warn
from ._console import shard_bar
from ._study_console import (
    CELLS,
    find_records,
    parse_names,
    parse_numbers,
    parse_seeds,
    print_line,
    print_merged,
    print_study_tables,
    print_written,
    require_folder,
)


def command(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of data, weights and entries.")] = None,
    models: Annotated[str, typer.Option(help="Which models, separated by commas; else all, and baselines.")] = "",
    splits: Annotated[str, typer.Option(help="Named splits, iid and others, separated by commas; else all.")] = "",
    shots: Annotated[str, typer.Option(help="K of K-shot trainings, where a study has some: 0,1,5; else all.")] = "",
    scale: Annotated[str, typer.Option(help="small (a trial) or paper (for a GPU).")] = "small",
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas; others than 0 of a few splits.")] = "0",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a size of the networks, their batch or lr.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=0, help="Of each training; 0 for the default.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cuda or cpu.")] = "auto",
    cells: Annotated[Path | None, typer.Option(help="Folder or FILE.jsonl of entries; else OUT/cells.")] = None,
    known: Annotated[Path | None, typer.Option(help="Entries of earlier studies: shown, and not made again.")] = None,
    minutes: Annotated[float | None, typer.Option(help="End a piece by then; the same command resumes.")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one per core.")] = 0,
    tables: Annotated[bool, typer.Option("--tables", help="Train nothing: print tables of stored entries.")] = False,
    page: Annotated[Path | None, typer.Option(help="With --tables: write them to this file, as Markdown.")] = None,
    merge: Annotated[
        list[Path] | None, typer.Option(help="Records of these files are added, or replace older ones.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Train on all questions and on what named splits leave, test on the same ones; resumes where it stopped."""
    from ..run.held_out_study.held_out_study import HeldOutStore
    from ..run.study.entry_store import merge_records

    suite = str(context.info_name)
    given = tuple(_parse_setting(one) for one in settings or ())
    kept = find_records(cells, out, page, tables)
    if merge:
        print_merged(merge_records(merge, kept, HeldOutStore), kept, as_json)
        return
    if not tables:
        from ..run.held_out_study.held_out_study import DATA, MODELS, HeldOutStudySpec, study_held_out

        spec = HeldOutStudySpec(
            suite,
            require_folder(out, (CELLS, DATA, MODELS)),
            kept,
            scale,
            parse_names(models),
            parse_names(splits),
            parse_seeds(seeds),
            known,
            given,
            epochs or None,
            device,
            workers or os.cpu_count() or 1,
            minutes,
            shlex.join(["shiftscope", *sys.argv[1:]]),
            parse_numbers(shots, "--shots"),
        )
        for record in study_held_out(spec, tell=warn, bar=shard_bar):
            _print_record(record, as_json)
    records = HeldOutStore(known).read_records() if known is not None else []
    _print_tables(suite, [*records, *HeldOutStore(kept).read_records()], given, page, as_json)


def _parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UserError(f"--set {text}: write NAME=VALUE, such as --set width=128")
    return name, value


def _print_record(record: Any, as_json: bool) -> None:
    """A record in a few words."""
    from ..metrics.held_out_records import HeldOutEntry

    line: dict[str, Any] = {"kind": record.KIND, "data": record.data[:8]}
    if isinstance(record, HeldOutEntry):
        line |= {"training": record.training.label, "learned": record.learned, "seconds": record.seconds.get("all", 0)}
        line |= {"questions_per_second": round(record.speed), "test_set": record.test_set or "test"}
    else:
        line |= {"test_questions": record.count, "test_set": record.test_set or "test"}
    print_line(line, as_json)


def _print_tables(
    suite: str, records: list[Any], settings: Sequence[tuple[str, str]], page: Path | None, as_json: bool
) -> None:
    from ..files import write_whole
    from ..report.held_out_page import find_matrix, list_held_out_tables, render_held_out_markdown
    from ..suites.held_out_study import load_held_out_study

    study = load_held_out_study(suite)
    matrix = find_matrix(records, study, settings=settings)[1]
    if matrix is not None and matrix.planned_otherwise:
        warn(f"entries of trainings that are planned otherwise today, left out: {matrix.planned_otherwise}")
    print_study_tables(list_held_out_tables(study, matrix), as_json)
    if page is not None:
        write_whole(page, render_held_out_markdown(suite, records).encode())
        print_written([page], as_json)
