"""Study how models lose accuracy to each factor of a suite's shifts, or how models of a task compare."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UserError, warn
from ..executor import ONE_PROCESS, open_executor
from ..registry import HELD_OUT_STUDIES, STUDIES
from . import _console as shared
from ._console import print_json, print_table, shard_bar

if TYPE_CHECKING:
    from ..run.study.entries import StudyRecord
    from ..run.study.entry_store import MergeCounts
    from ..suites.model_study import ModelStudy

group = typer.Typer(
    help="Train models on variants of a suite and evaluate each on all: tables with intervals.", no_args_is_help=True
)
CELLS, PAGE, DATA, ALL = "cells", "report.html", "data", "all"


def command(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of weights, runs, entries and report.html.")] = None,
    models: Annotated[str, typer.Option(help="Which models, separated by commas; else all.")] = "",
    factors: Annotated[str, typer.Option(help="Which factors, separated by commas; else all.")] = "",
    scale: Annotated[str, typer.Option(help="small (480 images, a trial) or paper (30,000, for a GPU).")] = "small",
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
    known: Annotated[Path | None, typer.Option(help="Entries of earlier studies, which are not made again.")] = None,
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
    if cells is None and out is None:
        raise UserError("name the study's folder with --out, or where entries are stored with --cells")
    kept = cells or (out or Path()) / CELLS
    if page is not None and not tables:
        raise UserError("--page writes the tables of stored entries; add --tables")
    if data_version is not None and not tables:
        raise UserError("--data-version chooses among stored entries; add --tables")
    from ..suites.model_study import find_model_study
    from ..suites.study import load_study

    of_models = find_model_study(suite)
    if merge:
        from ..run.study.entry_store import EntryStore, merge_records
        from ..run.study.model_records import ModelRecordStore

        _print_merged(merge_records(merge, kept, ModelRecordStore if of_models else EntryStore), kept, as_json)
        return
    if not tables and out is None:
        raise UserError("a study needs a folder for its weights: --out DIR")
    if of_models is not None:
        _refuse_unknown_options(context, suite)
        asked = None if tables and images is None else of_models.find_scale(scale, images)
        if not tables:
            assert out is not None and asked is not None
            how = {"models": _parse_names(models), "tests": _parse_names(tests), "device": device, "minutes": minutes}
            _run_model_study(of_models, out, kept, asked, workers, how, as_json)
        _print_model_tables(of_models, kept, asked, page, as_json)
        return
    study = load_study(suite)
    if not tables:
        assert out is not None
        from ..run.study.study import study as run_study
        from ..run.study.study_spec import StudySpec

        numbers = _parse_seeds(seeds)
        spec = StudySpec(
            suite=suite,
            out=out,
            cells=kept,
            scale=study.find_scale(scale, images),
            models=_parse_names(models) or study.models,
            factors=_parse_names(factors) or study.factors,
            visual=visual,
            known=known,
            seeds=numbers,
            only=_parse_names(train),
            tests=_parse_names(tests),
            positions=study.positions if positions == ALL else _parse_names(positions),
            adapts=study.adaptations if adapt == ALL else _parse_names(adapt),
            splits=_parse_names(splits),
            device=device,
            workers=workers or os.cpu_count() or 1,
            executor=open_executor(cluster=cluster) if cluster else ONE_PROCESS,
            minutes=minutes,
            runs=runs,
            command=shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        _refuse_foreign(out)
        for record in run_study(spec, tell=warn, bar=shard_bar):
            _print_record(record, as_json)
    _print_tables(suite, kept, page, out, data_version, as_json)


def study_held_out_splits(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="Folder of data, weights and entries.")] = None,
    models: Annotated[str, typer.Option(help="Which models, separated by commas; else all, and baselines.")] = "",
    splits: Annotated[str, typer.Option(help="Named splits, iid, easy, separated by commas; else all.")] = "",
    scale: Annotated[str, typer.Option(help="small (a trial) or paper (for a GPU).")] = "small",
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas; others than 0 of a few splits.")] = "0",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a size of the networks, their batch or lr.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=0, help="Of each training; 0 for the default.")] = 0,
    device: Annotated[str, typer.Option(help="auto, cuda or cpu.")] = "auto",
    cells: Annotated[Path | None, typer.Option(help="Folder or FILE.jsonl of entries; else OUT/cells.")] = None,
    known: Annotated[Path | None, typer.Option(help="Entries of earlier studies, which are not made again.")] = None,
    minutes: Annotated[float | None, typer.Option(help="End a piece by then; the same command resumes.")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one per core.")] = 0,
    tables: Annotated[bool, typer.Option("--tables", help="Train nothing: print tables of stored entries.")] = False,
    page: Annotated[Path | None, typer.Option(help="With --tables: write them to this file, as Markdown.")] = None,
    merge: Annotated[list[Path] | None, typer.Option(help="Add the records of these files to the entries.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Train on all questions and on what named splits leave, test on the same ones; resumes where it stopped."""
    from ..run.held_out_study import HeldOutStore
    from ..run.study.entry_store import merge_records

    suite = str(context.info_name)
    if cells is None and out is None:
        raise UserError("name the study's folder with --out, or where entries are stored with --cells")
    if page is not None and not tables:
        raise UserError("--page writes the tables of stored entries; add --tables")
    kept = cells or (out or Path()) / CELLS
    if merge:
        _print_merged(merge_records(merge, kept, HeldOutStore), kept, as_json)
        return
    if not tables:
        if out is None:
            raise UserError("a study needs a folder for its data and weights: --out DIR")
        from ..run.held_out_study import HeldOutStudySpec, study_held_out

        spec = HeldOutStudySpec(
            suite,
            out,
            kept,
            scale,
            _parse_names(models),
            _parse_names(splits),
            _parse_seeds(seeds),
            known,
            tuple(_parse_setting(one) for one in settings or ()),
            epochs or None,
            device,
            workers or os.cpu_count() or 1,
            minutes,
            shlex.join(["shiftscope", *sys.argv[1:]]),
        )
        for record in study_held_out(spec, tell=warn, bar=shard_bar):
            _print_held_out(record, as_json)
    _print_held_out_tables(suite, HeldOutStore(kept).read_records(), page, as_json)


for _suite in STUDIES.names():
    group.command(_suite)(command)
for _suite in HELD_OUT_STUDIES.names():
    group.command(_suite)(study_held_out_splits)


def _parse_seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, _parse_names(text)))
    except ValueError:
        raise UserError(f"--seeds takes whole numbers by commas, as in 0,1,2, not {text!r}") from None


def _parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UserError(f"--set {text}: write NAME=VALUE, such as --set width=128")
    return name, value


def _print_held_out(record: Any, as_json: bool) -> None:
    """A record in a few words."""
    from ..metrics.held_out_matrix import HeldOutEntry

    line: dict[str, Any] = {"kind": record.KIND, "data": record.data[:8]}
    if isinstance(record, HeldOutEntry):
        line |= {"training": record.training.label, "learned": record.learned, "seconds": record.seconds.get("all", 0)}
        line |= {"questions_per_second": round(record.speed)}
    else:
        line |= {"test_questions": record.count}
    if as_json:
        print_json(line)
    else:
        print("  ".join(str(value) for value in line.values()), flush=True)


def _print_held_out_tables(suite: str, records: list[Any], page: Path | None, as_json: bool) -> None:
    from ..files import write_whole
    from ..report.held_out_page import find_matrix, list_held_out_tables, render_held_out_markdown
    from ..suites.held_out_study import load_held_out_study

    study = load_held_out_study(suite)
    for one in list_held_out_tables(study, find_matrix(records, study)[1]):
        columns, *rows = one.list_text()
        if as_json:
            print_json({"table": one.title, "columns": columns, "rows": rows, "note": one.note})
            continue
        print()
        print_table(columns, rows, one.title)
        if one.note:
            print(one.note)
    if page is not None:
        write_whole(page, render_held_out_markdown(suite, records).encode())
        if not as_json:
            print(f"\nwrote {page}")


# What a study of models takes (suites/model_study.py); its rows differ in the model, so factors and the like are none.
MODEL_OPTIONS = {
    *("out", "models", "scale", "images", "tests", "device", "cells", "minutes", "workers", "tables", "page"),
    *("merge", "as_json"),
}


def _refuse_unknown_options(context: typer.Context, suite: str) -> None:
    """A study of models has no factors, seeds and conditions: an option of these is refused, not ignored."""
    for name in context.params:
        given = context.get_parameter_source(name)
        if name not in MODEL_OPTIONS and given is not None and given.name == "COMMANDLINE":
            raise UserError(f"--{name.replace('_', '-')} is no option of study {suite}, which compares models")


def _run_model_study(
    study: ModelStudy, out: Path, cells: Path, scale: Any, workers: int, how: dict[str, Any], as_json: bool
) -> None:
    from ..run.study.model_study import ModelStudySpec, run_model_study

    command_line = shlex.join(["shiftscope", *sys.argv[1:]])
    spec = ModelStudySpec(study, out, cells, scale, workers=workers or os.cpu_count() or 1, command=command_line, **how)
    _refuse_foreign(out)
    for record in run_model_study(spec, tell=warn, bar=shard_bar):
        line: dict[str, Any] = {"kind": record.KIND, "of": record.label}
        found = getattr(record, "figures", {}).get("accuracy", {}).get("")
        line |= {"accuracy": round(100 * found[0], 2), "asked": found[3]} if found and found[0] is not None else {}
        if as_json:
            print_json(line)
        else:
            print("  ".join(str(value) for value in line.values()), flush=True)


def _print_model_tables(study: ModelStudy, cells: Path, asked: Any, page: Path | None, as_json: bool) -> None:
    from ..files import write_whole
    from ..report.model_study_page import describe_trial, list_model_tables, render_model_study
    from ..run.study.model_study import read_results

    results = read_results(study, cells, asked)
    if not as_json and (trial := describe_trial(results)):
        print(trial)
    for one in list_model_tables(study, results):
        columns, *rows = one.list_text()
        if as_json:
            print_json({"table": one.title, "columns": columns, "rows": rows, "note": one.note})
            continue
        print()
        print_table(columns, rows, one.title)
        if one.note:
            print(one.note)
    if page is not None:
        write_whole(page, render_model_study(study, results, str(cells)).encode())
        if not as_json:
            print(f"\nwrote {page}")


def _refuse_foreign(out: Path) -> None:
    """Nothing is written into a folder of something else."""
    from ..folder import list_contents
    from ..run.study.study import MODELS_FOLDER, RUNS, WEIGHTS

    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    own = (CELLS, PAGE, DATA, MODELS_FOLDER, RUNS, WEIGHTS)
    if out.is_dir() and list_contents(out) and not any((out / name).exists() for name in own):
        raise UserError(f"{out} is not empty and holds no study; name another folder with --out")


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _print_merged(made: MergeCounts, into: Path, as_json: bool) -> None:
    if as_json:
        print_json({"cells": str(into), **made._asdict()})
        return
    print(f"{into}: {made.new:,} of {made.records:,} records were new")
    for name in made.cut_short:
        print(f"{name}: its last line is cut short and was left out")


def _print_record(record: StudyRecord, as_json: bool) -> None:
    """A record in a few words."""
    from ..run.study.entries import TransferEntry

    line: dict[str, Any] = {"kind": record.KIND, "trained_on": record.trained.label}
    if isinstance(record, TransferEntry):
        line |= {"asked_about": record.tested.label, "model": record.model}
        for group_name, outcome in record.outcomes:
            if outcome.asked:
                line[group_name] = round(100 * outcome.right / outcome.asked, 2)
    if as_json:
        print_json(line)
    else:
        print("  ".join(f"{v:.2f}" if isinstance(v, float) else v for v in line.values()), flush=True)


def _print_tables(
    suite: str, cells: Path, page: Path | None, out: Path | None, data_version: int | None, as_json: bool
) -> None:
    """The tables of what is stored, on the terminal and in files."""
    from ..files import write_whole
    from ..report.study_page import describe_data, describe_scale, list_tables, render_markdown, write_study_page
    from ..run.study.entry_store import EntryStore, build_transfer_matrix, list_scales
    from ..suites.study import load_study

    records = EntryStore(cells).read_records()
    scales = list_scales(records) or ([load_study(suite).find_scale("paper")] if page else [])
    if not scales:
        raise UserError(f"{cells}: no entries there yet; make some with shiftscope study {suite} --out DIR")
    matrix = build_transfer_matrix(records, scales[0], data_version)
    if not as_json:
        for text in filter(None, (describe_scale(matrix), describe_data(matrix))):
            print(text.strip("*"))
    for one in list_tables(matrix):
        columns, *rows = one.list_text()
        if as_json:
            print_json({"table": one.title, "columns": columns, "rows": rows, "note": one.note})
            continue
        print()
        print_table(columns, rows, one.title)
        if one.note:
            print(one.note)
    written = []
    if page is not None:
        write_whole(page, render_markdown(records, data_version, load_study(suite).find_scale("paper")).encode())
        written.append(page)
    if out is not None:
        written.append(write_study_page(out / PAGE, records, data_version))
    if written and not as_json:
        print(f"\nwrote {', '.join(map(str, written))}")
