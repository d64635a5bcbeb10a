"""Study how models lose accuracy to each factor of a suite's shifts; other studies have their own files."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import UserError, warn
from ..executor import ONE_PROCESS, open_executor
from . import _console as shared
from . import _held_out_study, _model_study, _selection_study
from ._console import shard_bar
from ._plain_options import read_plainly
from ._study_console import (
    CELLS,
    DATA,
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

if TYPE_CHECKING:
    from ..run.study.entries import StudyRecord


class StudyGroup(TyperGroup):
    """The suites that have a study; what a suite is takes long to import, and is asked when a study is."""

    @property
    def commands(self) -> dict[str, Any]:
        return _build_commands()

    @commands.setter
    def commands(self, known: object) -> None:
        """The registry alone knows them."""


group = typer.Typer(
    cls=StudyGroup,
    help="Train models on variants of a suite and evaluate each on all: tables with intervals.",
    no_args_is_help=True,
)
ALL = "all"


def command(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of weights, runs, entries and report.html.")] = None,
    models: Annotated[str, typer.Option(help="Which models, separated by commas; else all.")] = "",
    factors: Annotated[str, typer.Option(help="Which factors, separated by commas; else all.")] = "",
    scale: Annotated[
        str, typer.Option(help="small (480 images, a trial) or paper (some 30,000, for a GPU).")
    ] = "small",
    images: Annotated[int | None, typer.Option(min=12, help="Number of images over train, val and test.")] = None,
    visual: Annotated[str, typer.Option(help="mid or hard: how variants of other factors are rendered.")] = "mid",
    train: Annotated[str, typer.Option(help="Only these trainings, separated by commas.")] = "",
    tests: Annotated[str, typer.Option(help="Only these test sets, separated by commas.")] = "",
    seeds: Annotated[str, typer.Option(help="Seeds of each training, separated by commas: 0,1,2.")] = "0",
    positions: Annotated[str, typer.Option(help="boxes, fitted, predicted, by commas; all for every one.")] = "boxes",
    adapt: Annotated[str, typer.Option(help="none, norm, prior, both, by commas; all for every one.")] = "none",
    splits: Annotated[str, typer.Option(help="test, val, or both by commas.")] = "test",
    device: Annotated[str, typer.Option(help="auto, cuda or cpu.")] = "auto",
    cells: Annotated[Path | None, typer.Option(help="Folder or FILE.jsonl of entries; else OUT/cells.")] = None,
    known: Annotated[
        Path | None, typer.Option(help="Entries of earlier studies, not made again; another suite's stand beside.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="End a piece by then; the same command resumes.")] = None,
    runs: Annotated[bool, typer.Option("--runs", help="Write every entry as a run; scale small always does.")] = False,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one per core.")] = 0,
    cluster: shared.Cluster = "",
    tables: Annotated[bool, typer.Option("--tables", help="Train nothing: print tables of stored entries.")] = False,
    page: Annotated[Path | None, typer.Option(help="With --tables: write them to this file, as Markdown.")] = None,
    data_version: Annotated[
        int | None, typer.Option(help="With --tables: entries of this version of the suite's data, not of today's.")
    ] = None,
    merge: Annotated[list[Path] | None, typer.Option(help="Add the records of these files to the entries.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Train and test every variant of the suite's factors, entry by entry; resumes where it stopped."""
    suite = str(context.info_name)
    kept = find_records(cells, out, page, tables)
    if data_version is not None and not tables:
        raise UserError("--data-version chooses among stored entries; add --tables")
    if merge:
        from ..run.study.entry_store import merge_records

        print_merged(merge_records(merge, kept), kept, as_json)
        return
    if not tables:
        from ..run.study.study import MODELS_FOLDER, RUNS, WEIGHTS
        from ..run.study.study import study as run_study
        from ..run.study.study_spec import StudySpec
        from ..suites.study import load_study

        study = load_study(suite)
        spec = StudySpec(
            suite=suite,
            out=require_folder(out, (CELLS, PAGE, DATA, MODELS_FOLDER, RUNS, WEIGHTS)),
            cells=kept,
            scale=study.find_scale(scale, images),
            models=parse_names(models) or study.models,
            factors=parse_names(factors) or study.factors,
            visual=visual,
            known=known,
            seeds=parse_seeds(seeds),
            only=parse_names(train),
            tests=parse_names(tests),
            positions=study.positions if positions == ALL else parse_names(positions),
            adapts=study.adaptations if adapt == ALL else parse_names(adapt),
            splits=parse_names(splits),
            device=device,
            workers=workers or os.cpu_count() or 1,
            executor=open_executor(cluster=cluster) if cluster else ONE_PROCESS,
            minutes=minutes,
            runs=runs,
            command=shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        for record in run_study(spec, tell=warn, bar=shard_bar):
            _print_record(record, as_json)
    _print_tables(suite, kept, known, page, out, data_version, as_json, ran=not tables)


@cache
def _build_commands() -> dict[str, Any]:
    from ..suites.study import HELD_OUT, OF_MODELS, SELECTION, TRANSFER, list_studies

    kinds: dict[str, Callable[..., None]] = {
        TRANSFER: command,
        OF_MODELS: _model_study.command,
        HELD_OUT: _held_out_study.command,
        SELECTION: _selection_study.command,
    }
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.callback()(lambda: None)  # a group, however many studies there are
    for kind, study in kinds.items():
        for suite in list_studies(kind):
            alone.command(suite)(study)
    return dict(read_plainly(typer.main.get_command(alone)).commands)


def _print_record(record: StudyRecord, as_json: bool) -> None:
    """A record in a few words."""
    from ..run.study.entries import TransferEntry

    line: dict[str, Any] = {"kind": record.KIND, "trained_on": record.trained.label}
    if isinstance(record, TransferEntry):
        line |= {"asked_about": record.tested.label, "model": record.model}
        for group_name, outcome in record.outcomes:
            if outcome.asked:
                line[group_name] = round(100 * outcome.right / outcome.asked, 2)
    print_line(line, as_json)


def _print_tables(
    suite: str,
    cells: Path,
    known: Path | None,
    page: Path | None,
    out: Path | None,
    data_version: int | None,
    as_json: bool,
    ran: bool,
) -> None:
    """The tables of what is stored, on the terminal and in files; none where a run paused before its first entry."""
    from ..files import write_whole
    from ..report.study_page import (
        describe_data,
        describe_scale,
        list_tables,
        read_matrix,
        render_markdown,
        write_study_page,
    )
    from ..run.study.entry_store import EntryStore
    from ..suites.study import load_study

    records, scale = EntryStore(cells).read_records(), load_study(suite).find_scale("paper")
    if not (page or any(record.origin.suite == suite for record in records)):
        if ran:
            return
        raise UserError(f"{cells}: no entries there yet; make some with shiftscope study {suite} --out DIR")
    if known is not None:  # of this suite they stand for what is not made again, and are shown where they are kept
        records += [record for record in EntryStore(known).read_records() if record.origin.suite != suite]
    matrix = read_matrix(records, data_version, scale)
    if not as_json:
        for text in filter(None, (describe_scale(matrix), describe_data(matrix))):
            print(text.strip("*"))
    print_study_tables(list_tables(matrix), as_json)
    written = []
    if page is not None:
        write_whole(page, render_markdown(records, data_version, scale).encode())
        written.append(page)
    if out is not None:
        written.append(write_study_page(out / PAGE, records, data_version, scale))
    print_written(written, as_json)
