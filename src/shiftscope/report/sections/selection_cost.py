"""What the trainings of a study of model selection cost: throughput and seconds, by method."""

import numpy as np

from ...metrics.model_selection import WHOLE, SelectionResults, SelectionRun
from ..number_format import format_count, format_percent
from ..page import Section
from ..table import Table

PLACES = {"selection_study": 80}
BUDGET = 100_000  # questions learned from per second, on an H200 with features on the device


def section(results: SelectionResults) -> Section | None:
    """A row for each method, and one more for each number of trainings that shared a device."""
    rows, branches = [], []
    for method in results.study.methods:
        known = [run for run in results.list_runs(method.label, WHOLE) if run.throughput]
        for stage in dict.fromkeys(stage for run in known for stage in run.earlier_stages):
            reached = [run.earlier_stages[stage] for run in known if stage in run.earlier_stages]
            branches.append(f"{method.label}, {stage.replace('_', ' ')}: {', '.join(map(format_percent, reached))}")
        for together in sorted({_count_company(run) for run in known}):
            runs = [run for run in known if _count_company(run) == together]
            usual = [np.median([run.seconds[name] for run in runs]) for name in ("training", "answering")]
            speeds = [run.shared_throughput if together > 1 else run.throughput for run in runs]
            speed, own = float(np.median(speeds)), format_count(round(np.median([run.throughput for run in runs])))
            label = method.label if together == 1 else f"{method.label}, {together} at once ({own} by itself)"
            devices = ", ".join(sorted({run.device for run in runs}))
            met = "yes" if speed >= BUDGET else "no"
            spread = " to ".join(dict.fromkeys(format_count(round(end)) for end in (min(speeds), max(speeds))))
            times = [f"{seconds:.1f}" for seconds in usual]
            rows.append((label, format_count(round(speed)), spread, met, *times, devices))
    note = (
        "Questions learned from per second in a training's best epoch: the median over trainings, which the budget "
        f"of {format_count(BUDGET)} on an H200 is for, and from the slowest to the fastest. "
        "Seconds are medians over the seeds: training with validation and files, and the answers of all epochs to all "
        "sets."
    )
    if any(_count_company(run) > 1 for method in results.study.methods for run in results.list_runs(method.label)):
        note += (
            " Where trainings of any methods ran at once on the device (`--together`), questions/s is the sum over "
            "them while this method was trained, with its own part in brackets, and seconds are those of one training "
            "beside the others."
        )
    if branches:
        note += f" Accuracy on IID val of what was trained before, by seed, per cent: {'; '.join(branches)}."
    note += f" {extra}" if (extra := results.study.notes.get("throughput")) else ""
    heads = ("", "questions/s", "by training", "in budget", "training, s", "answering, s", "device")
    return Section("Cost", [Table("Throughput", heads, rows, note)]) if rows else None


def _count_company(run: SelectionRun) -> int:
    """With how many it shared the device while its throughput was taken; its last part may have run alone."""
    return run.together if run.shared_throughput > run.throughput else 1
