"""What the trainings of a study of model selection cost: throughput and seconds, by method."""

import numpy as np

from ...metrics.model_selection import WHOLE, SelectionResults
from ..number_format import format_count
from ..page import Section
from ..table import Table

PLACES = {"selection_study": 80}
BUDGET = 100_000  # questions learned from per second, on an H200 with features on the device


def section(results: SelectionResults) -> Section | None:
    rows = []
    for method in results.study.methods:
        runs = [run for run in results.list_runs(method.label, WHOLE) if run.throughput]
        if runs:
            means = [np.mean([run.seconds[name] for run in runs]) for name in ("training", "answering")]
            speed = max(run.throughput for run in runs)
            devices = ", ".join(sorted({run.device for run in runs}))
            rows.append((method.label, format_count(round(speed)), *(f"{mean:.1f}" for mean in means), devices))
    note = (
        f"Questions learned from per second, in the best epoch; the budget is {format_count(BUDGET)} on an H200. "
        "Seconds are means over the seeds: training with validation and files, and the answers of all epochs to all "
        "sets."
    )
    heads = ("", "questions/s", "training, s", "answering, s", "device")
    return Section("Cost", [Table("Throughput", heads, rows, note)]) if rows else None
