"""What the commands of all kinds of studies share: names by commas, merged records, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ._console import print_json, print_table

if TYPE_CHECKING:
    from ..run.study.entry_store import MergeCounts

CELLS, PAGE, DATA = "cells", "report.html", "data"  # of a study's folder


def parse_names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def parse_seeds(text: str) -> tuple[int, ...]:
    seeds = parse_numbers(text, "--seeds")
    if negative := [seed for seed in seeds if seed < 0]:
        raise UserError(f"--seeds takes whole numbers from 0 on, not {negative[0]}")
    return seeds


def parse_numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, parse_names(text)))
    except ValueError:
        raise UserError(f"{option} takes whole numbers by commas, as in 0,1,2, not {text!r}") from None


def find_records(cells: Path | None, out: Path | None, page: Path | None, tables: bool) -> Path:
    """Where records are kept; a UserError where neither folder is named, or a page is asked for without its tables."""
    if cells is None and out is None:
        raise UserError("name the study's folder with --out, or where entries are stored with --cells")
    if page is not None and not tables:
        raise UserError("--page writes the tables of stored entries; add --tables")
    return cells or (out or Path()) / CELLS


def require_folder(out: Path | None, own: Sequence[str]) -> Path:
    """The study's folder; nothing is written into one of something else."""
    from ..folder import list_contents

    if out is None:
        raise UserError("a study needs a folder for its weights: --out DIR")
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    if out.is_dir() and list_contents(out) and not any((out / name).exists() for name in own):
        raise UserError(f"{out} is not empty and holds no study; name another folder with --out")
    return out


def print_merged(made: MergeCounts, into: Path, as_json: bool) -> None:
    if as_json:
        print_json({"cells": str(into), **made._asdict()})
        return
    replaced = f"; {made.replaced:,} took the place of others of the same" if made.replaced else ""
    print(f"{into}: {made.new:,} of {made.records:,} records were new{replaced}")
    for name in made.cut_short:
        print(f"{name}: its last line is cut short and was left out")


def print_line(line: dict[str, Any], as_json: bool) -> None:
    """A record in a few words."""
    if as_json:
        print_json(line)
    else:
        print("  ".join(f"{v:.2f}" if isinstance(v, float) else str(v) for v in line.values()), flush=True)


def print_study_tables(tables: Iterable[Any], as_json: bool) -> None:
    for one in tables:
        columns, *rows = one.list_text()
        if as_json:
            print_json({"table": one.title, "columns": columns, "rows": rows, "note": str(one.note)})
            continue
        print()
        print_table(columns, rows, one.title)
        if one.note:
            print(one.note)


def print_written(paths: Sequence[Path], as_json: bool) -> None:
    if paths and not as_json:
        print(f"\nwrote {', '.join(map(str, paths))}")
