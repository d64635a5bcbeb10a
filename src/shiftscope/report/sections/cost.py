"""Latency and cost: time and price per response; training time and throughput of a study."""

from collections.abc import Iterator

import numpy as np

from ...metrics.transfer_matrix import TransferMatrix, median_throughput, sum_training_seconds
from ...store.run_log import JUDGE_FIELD
from ..number_format import DASH, format_percent, format_seconds
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import build_run_table, sort_runs
from ..study_page import DIGITS, describe_measure
from ..table import Table, TableCell, count_cell, numeric

PLACES = {"report": 75, "study": 70}
TOKENS = "as the server counts them, attempts in vain included; responses from the cache count as when they came"
THROUGHPUT = ("images parsed", "questions parsed", "programs executed", "questions answered")


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        tables = [*(training_tables(records) if records.trainings else ()), throughput_table(records)]
        return Section("Training time and throughput", tables) if any(one.rows for one in tables) else None
    timed = [r for r in records.each if np.isfinite(r.log.records.seconds).any()]
    if not timed:
        return None
    paid = any(compute_cost(r) > 0 for r in timed)
    counted = any(r.log.usage and r.log.usage.read + r.log.usage.wrote for r in timed)
    columns = [
        numeric("Responses"),
        numeric("Median"),
        numeric("95th percentile"),
        numeric("Total", "the times added up; concurrent calls overlap"),
        *([numeric("Tokens read", TOKENS), numeric("Tokens written", TOKENS)] if counted else []),
        *([numeric("Cost", "in the currency of the prices given")] if paid else []),
    ]

    def list_cells(run: ReportRun) -> list[TableCell]:
        times, use = run.log.records.seconds, run.log.usage
        known = times[np.isfinite(times)]
        figures = [float(np.median(known)), float(np.quantile(known, 0.95)), float(known.sum())]
        cells = [count_cell(len(known)), *(TableCell(format_seconds(v), v) for v in figures)]
        cells += [count_cell(use.read if use else 0), count_cell(use.wrote if use else 0)] if counted else []
        total = compute_cost(run)
        priced = total > 0 or np.isfinite(run.log.records.cost).any()
        return [*cells, *([TableCell(f"{total:.4g}" if priced else DASH, total)] if paid else [])]

    title = "Time per response, all conditions together"
    table = build_run_table(records, title, sort_runs(records, timed), columns, list_cells)
    return Section("Latency and cost", [table])


def compute_cost(run: ReportRun) -> float:
    """What a run's responses cost: each call once, where the run says what was called; a judge is in it."""
    log, judge = run.log, run.spec.get(JUDGE_FIELD) or {}
    total = float(np.nansum(log.records.cost))
    if log.usage and log.usage.calls and not log.usage.uncounted and run.spec.get("price"):
        total = log.usage.price(run.spec["price"])
    return total + (log.judge_usage.price(judge["price"]) if log.judge_usage and judge.get("price") else 0.0)


def training_tables(matrix: TransferMatrix) -> Iterator[Table]:
    """When, on what and for how long each row was trained, and what it then reached on validation data."""
    listed = [(f"{family}, {trained.label}", one) for (family, trained), one in sorted(matrix.trainings.items())]
    rows = []
    for name, one in listed:
        data, whole = (sum_training_seconds(one, what) for what in ("data", "all"))
        times = (data, None if data is None or whole is None else whole - data)
        rows.append(
            (
                name,
                one.origin.device,
                *(DASH if t is None else format_seconds(t) for t in times),
                DASH if whole is None else f"{whole / 60:.2f} min",
                " ".join(value[:8] for _, value in one.origin.weights),
                one.origin.made[:10],
            )
        )
    heads = ("models, trained on", "device", "data", "training", "total", "weights", "date")
    yield Table("Training runs", heads, tuple(rows), matrix.study.notes.get("trainings", ""))
    yield Table("Training runs: commands", ("", "of each part"), tuple((name, one.command) for name, one in listed))
    names = dict.fromkeys(name for _, one in listed for name, _ in one.validation)
    order = sorted(names, key=lambda name: name.startswith("part"))
    reached = [dict(one.validation) for _, one in listed]
    yield Table(
        "Training runs: validation results, %",
        ("", *(name for name, _ in listed)),
        tuple((describe_measure(matrix, n), *(format_percent(r.get(n), DIGITS) for r in reached)) for n in order),
    )


def throughput_table(matrix: TransferMatrix) -> Table:
    """How fast whole tests were answered: the median over entries, start-up and compilation included."""
    rows = []
    for model in matrix.study.models:
        entries = [entry for key, entry in matrix.entries.items() if key[0] == model]
        middle = median_throughput(entries)
        if middle:
            devices = {entry.origin.device for entry in entries}
            rows.append((model, *(f"{rate:,.0f}" for rate in middle), ", ".join(sorted(devices))))
    heads = ("model", *(f"{what}/s" for what in THROUGHPUT), "device")
    return Table("Throughput", heads, tuple(rows), matrix.study.notes.get("throughput", ""))
