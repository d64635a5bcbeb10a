"""The report of runs: which models and tests it compares, and the few figures above its sections."""

from collections.abc import Iterable
from pathlib import Path

from ..folder import lock_path
from ..store.dataset import Dataset
from .export import FORMATS
from .figures import write_figures
from .markup import tag
from .measure import describe_metric, measure_accuracy
from .number_format import count_noun, format_count, format_percent, format_spread
from .page import Page, Render, Tile, WrittenPage, refuse_folder, write_page
from .runs import ReportRuns, read_runs, select_ranked
from .score_table import has_few_scenes


def report(
    runs: Iterable[Path],
    out: Path,
    data: Path | None = None,
    render: Render = FORMATS["html"],
    figures: Path | None = None,
) -> WrittenPage:
    """Write the page of these runs; `data` is where their dataset is now, if it has moved.

    `render` makes it in another format than HTML; with `figures` its charts are written to that folder, too.
    """
    refuse_folder(out)
    if data is not None:
        Dataset.open(data)
    with lock_path(out):
        made = write_page(build_report(read_runs(runs, data)), out, render)
    if figures is not None:
        write_figures(made.built, figures)
    return made


def build_report(report: ReportRuns) -> Page:
    """The page of these runs, before its sections are made."""
    home = report.select_in_domain()
    names = [c for c in home.contenders if c not in home.references] or list(home.contenders)
    shown = ", ".join(names) if len(names) < 4 else count_noun(len(names), "model")
    title = f"{shown} on {home.tests[0] if len(home.tests) == 1 else count_noun(len(home.tests), 'test')}"
    questions = sum(run.log.questions or len(run.records) for run in report.each)
    lead = f"{count_noun(len(report.each), 'run')}, {count_noun(questions, 'question')}."
    tiles: list[Tile] = []
    scores = [(run, measure_accuracy(run)) for run in select_ranked(home.runs)]
    scored = sorted((s.value, k) for k, (_, s) in enumerate(scores) if s.complete and s.value is not None)
    ends = [("Highest", scored[-1]), ("Lowest", scored[0])][: len(scored)] if scored else []
    metric = describe_metric(home).replace("Accuracy", "accuracy")
    for name, (value, k) in ends:
        run, score = scores[k]
        on = f" on {run.test}" if len(home.tests) > 1 else ""
        spread = "too few scenes" if has_few_scenes(score) else format_spread(value, score.low, score.high)
        about = f"{run.contender}{on}, {spread}".removesuffix(", ")
        tiles.append((f"{name} {metric}", f"{format_percent(value)}%", about))
    total = sum(len(run.records) for run in report.each)
    about = f"{count_noun(len(home.contenders), 'model')}, {count_noun(len(report.tests), 'test')}"
    tiles.append(("Questions", format_count(total), about))
    lost = total - sum(int(run.records.status.equals("answered").sum()) for run in report.each)
    share = format_percent(lost / total if total else 0.0)
    without = f"{share}% undefined, unparseable, failed or missing"
    tiles.append(("Without an answer", format_count(lost), without))
    return Page("report", report, title, [tag("p", lead, class_="lead")], tiles)
