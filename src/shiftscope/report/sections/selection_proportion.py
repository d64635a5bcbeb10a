"""Accuracy on head and tail after training with more and more shortcut samples (Figure 7 of VQA-VS)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...metrics.model_selection import IID, OOD_TEST, PROPORTION, SelectionResults, head_of, tail_of
from ...shortcuts.concepts import SHORTCUTS
from ..chart.lines import LineSeries, draw_lines
from ..markup import render_charts, render_figure, render_swatches
from ..number_format import DASH, format_count
from ..page import Section
from ..selection_page import MARK, format_figure
from ..table import Table

PLACES = {"selection_study": 60}


def section(results: SelectionResults) -> Section | None:
    study, rows, charts = results.study, [], []
    method, shares = study.proportion_method, study.proportions
    for name in SHORTCUTS:
        trainings = [f"{PROPORTION}/{name}/{share}" for share in shares]
        tail = tuple(results.find_score(method, tail_of(name), OOD_TEST, how) for how in trainings)
        head = tuple(results.find_score(method, head_of(name), OOD_TEST, how) for how in trainings)
        rows += [(f"{name}, tail", *map(format_figure, tail)), (f"{name}, head", *map(format_figure, head))]
        chosen = [results.list_epochs(method, OOD_TEST, how) for how in trainings]
        rows.append((f"{name}, epoch", *(", ".join(map(str, epochs)) or DASH for epochs in chosen)))
        if any(score is not None for score in tail):
            label = f"Accuracy on head and tail of {name} against the share of shortcut samples"
            lines = [LineSeries("head", 0, head), LineSeries("tail", 1, tail)]
            drawn = draw_lines(label, [f"{share}%" for share in shares], lines, [0] * len(shares))
            charts.append(render_figure(name, "", drawn))
    note = " ".join([f"{study.notes['proportion']} {MARK}.", *_tell_trainings(results)])
    heads = (f"{method} *", *(f"{share}%" for share in shares))
    parts: list[Any] = [Table("Share of shortcut samples (Figure 7)", heads, rows, note)]
    if charts:
        looks = (("accuracy on the head", "is-head"), ("accuracy on the tail (OOD)", "is-tail"))
        parts = [render_swatches(looks), render_charts(charts, "charts"), *parts]
    return Section("Training with more shortcut samples", parts)


def _tell_trainings(results: SelectionResults) -> Iterator[str]:
    """On how many questions and on what they were trained, and which may not be at their end."""
    method = results.study.proportion_method
    runs = [run for run in results.runs.values() if run.training.startswith(f"{PROPORTION}/")]
    if not runs:
        return
    sizes = {run.training.split("/")[1]: run.examples for run in runs}
    listed = ", ".join(f"{name} {format_count(sizes[name])}" for name in SHORTCUTS if name in sizes)
    yield f"Questions of an epoch: {listed}."
    counts = Counter(run.device for run in runs)
    yield f"Trained: {', '.join(f'{n} on {device}' for device, n in sorted(counts.items()))}."
    late = [
        "{} {}%".format(*run.training.split("/")[1:])
        for run in sorted(runs, key=lambda run: (SHORTCUTS.index(run.training.split("/")[1]), run.training))
        if len(run.right[IID]) in results.list_epochs(method, OOD_TEST, run.training)
    ]
    if late:
        yield f"Chosen in the last epoch, so that more might bring more: {', '.join(late)}."
