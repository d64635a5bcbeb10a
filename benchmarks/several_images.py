"""Models over several images, trained and tested on COVR questions about rendered images of our world.

`--suite covr` is the study of held-out splits, `--suite gendiff` that of generalization tests with neuro-symbolic
models besides.
`python -m benchmarks.several_images --out build/covr --results "$OUT" --minutes 8`. Makes the data, trains in the
study's order (in-domain, then every named split) and keeps each finished entry in RESULTS/SUITE.jsonl at once; the
same command again, on the same --out, resumes where it paused. On a fresh machine --known FILE.jsonl names the
entries that are there already. --scale small --device cpu is a rehearsal. The tables come last.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path

from benchmarks.end_to_end import ProgressLines
from benchmarks.table import table
from shiftscope.metrics.held_out_records import HeldOutEntry
from shiftscope.report.held_out_page import find_matrix, format_figure, list_held_out_tables
from shiftscope.run.held_out_study.held_out_study import HeldOutStore, HeldOutStudySpec, study_held_out
from shiftscope.suites.held_out_study import load_held_out_study

THROUGHPUT = 8_000  # questions per second of a training, from cached features


def main() -> None:
    given = list_options()
    study, cells = load_held_out_study(given.suite), given.out / f"{given.suite}.jsonl"
    began = time.monotonic()
    spec = HeldOutStudySpec(
        given.suite,
        given.out,
        cells,
        given.scale,
        tuple(given.model or ()),
        tuple(given.split or ()),
        tuple(given.seed or (0,)),
        given.known,
        tuple((name, value) for name, _, value in (one.partition("=") for one in given.set)),
        given.epochs,
        given.device,
        given.workers,
        given.minutes,
        f"python -m benchmarks.several_images --suite {given.suite} --scale {given.scale}",
        tuple(given.shots or ()),
    )

    def tell(sentence: str) -> None:
        print(f"[{time.monotonic() - began:6.1f} s] {sentence}", flush=True)

    for record in study_held_out(spec, tell=tell, bar=ProgressLines):
        if given.results is not None:
            given.results.mkdir(parents=True, exist_ok=True)
            shutil.copy(cells, given.results)
        if isinstance(record, HeldOutEntry):
            tell(f"{record.training.label}: val {record.val}, {record.speed:,.0f} questions/s")
    records = HeldOutStore(cells).read_records()
    if given.known is not None:
        records += HeldOutStore(given.known).read_records()
    _, matrix = find_matrix(records, study, given.scale, spec.settings)
    for one in list_held_out_tables(study, matrix)[: None if given.all_tables else 3]:
        columns, *rows = one.list_text()
        table(one.title, columns, rows)
    if matrix is None:
        return
    shown = [
        (
            training.label,
            format_figure(matrix.measure_accuracy(training)),
            f"{entry.learned:,}",
            f"{entry.speed:,.0f}",
            f"{entry.seconds.get('all', 0):,.0f}",
            entry.epoch,
        )
        for training, entry in sorted(matrix.list_entries().items())
    ]
    heads = ("training", "test accuracy", "questions learned", f"questions/s (aim {THROUGHPUT:,})", "seconds", "epoch")
    table(f"Measured by now, {time.monotonic() - began:.0f} s in all", heads, shown)


def list_options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--suite", default="covr", help="covr or gendiff")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--results", type=Path)
    options.add_argument("--known", type=Path, help="records of earlier pieces, FILE.jsonl or a folder")
    options.add_argument("--scale", default="paper")
    options.add_argument("--model", action="append")
    options.add_argument("--split", action="append", help="iid, easy or a named split; all if not given")
    options.add_argument("--shots", action="append", type=int, help="K of K-shot trainings; all if not given")
    options.add_argument("--seed", action="append", type=int)
    options.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options.add_argument("--epochs", type=int)
    options.add_argument("--minutes", type=float)
    options.add_argument("--device", default="auto")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--all-tables", action="store_true")
    return options.parse_args()


if __name__ == "__main__":
    main()
