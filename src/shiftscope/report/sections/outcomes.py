"""Outcomes: how many responses were right, wrong, undefined, unparseable, truncated, failed or missing."""

from collections import Counter
from collections.abc import Sequence

from ...metrics.accuracy import score_rows
from ...result import MISSING
from ..chart.bars import StackedShare, draw_stacked_bar
from ..markup import Child, render_details, render_swatches
from ..measure import describe_dropped_variants
from ..number_format import count_noun, format_percent
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import model_cell
from ..table import Row, Table, TableCell, TableHead, count_cell, numeric

PLACES = {"report": 20}
OUTCOMES = {  # an outcome's look in the bar, and what it means
    "right": ("right", ""),
    "partly": ("part-3", "some of the annotators gave this answer, which earns partial credit"),
    "wrong": ("wrong", ""),
    "undefined": ("part-1", "the program has no answer on the scene"),
    "unparseable": ("part-2", "a response came, but it could not be parsed as an answer"),
    "truncated": ("part-6", "the response was cut at max_tokens, and is not right"),
    "failed": ("part-4", "no response came"),
    "missing": ("part-5", "not run yet, or not in the file of predictions"),
    "no image": ("part-3", "run without its image, which is missing; in no accuracy"),
}
STATUSES = {"undefined": "undefined", "unparseable": "unreadable", "failed": "failed", "missing": MISSING}


def section(report: ReportRuns) -> Section | None:
    home = report.select_in_domain()
    away = len(home.runs) < len(report.runs)
    counts = {run: sum(map(count_outcomes, run.each), Counter[str]()) for run in report.runs}
    used = [name for name in OUTCOMES if any(c[name] for c in counts.values()) or name in ("right", "wrong")]
    groups: dict[str, list[ReportRun]] = {name: [] for name in home.contenders}
    for run in report.runs:
        groups.setdefault(run.contender if run.home or not away else run.model, []).append(run)
    totals = [(name, "", sum((counts[r] for r in runs), Counter())) for name, runs in groups.items()]
    parts: list[Child] = [render_swatches((name, OUTCOMES[name][0]) for name in used), _build_table(home, totals, used)]
    if len(report.runs) > len(groups):
        each = [
            (name, f"{r.test}, trained on {r.trained}" if r.trained else r.test, counts[r])
            for name, runs in groups.items()
            for r in runs
        ]
        parts.append(render_details(f"Each of {count_noun(len(each), 'run')}", _build_table(home, each, used)))
    notes = [f"{name.capitalize()}: {OUTCOMES[name][1]}." for name in used if OUTCOMES[name][1]]
    if describe_dropped_variants(report):
        notes.append("Variants of questions are counted as questions.")
    lead = "A question without an answer is not right, and is counted apart. "
    return Section("Outcomes", parts, lead + " ".join(notes))


def count_outcomes(run: ReportRun) -> Counter[str]:
    """How many questions ended in each way; those without a row are missing."""
    records = run.records
    cut = records.truncated
    values, answered = score_rows(records).values, records.status.equals("answered") & ~cut
    counts = Counter(
        right=int((answered & (values >= 1)).sum()),
        partly=int((answered & (values > 0) & (values < 1)).sum()),
        wrong=int((answered & (values <= 0)).sum()),
        truncated=int(cut.sum()),
    )
    counts.update({name: int((records.status.equals(status) & ~cut).sum()) for name, status in STATUSES.items()})
    counts["no image"] = run.log.missing_images
    return counts


def _build_table(report: ReportRuns, rows: Sequence[tuple[str, str, Counter[str]]], used: Sequence[str]) -> Table:
    tests = any(test for _, test, _ in rows)
    heads = [
        TableHead("Model"),
        *([TableHead("Test")] if tests else []),
        TableHead("Of all questions", sortable=False),
        *(numeric(name.capitalize(), OUTCOMES[name][1]) for name in used),
    ]
    listed: list[Row] = []
    for name, test, counts in rows:
        total = counts.total() or 1
        values = [(n, counts[n] / total, look) for n, (look, _) in OUTCOMES.items()]
        shares = [StackedShare(n, value, f"{format_percent(value)}%", look) for n, value, look in values]
        said = ", ".join(f"{s.name} {s.figure}" for s in shares if s.value)
        bar = TableCell(draw_stacked_bar(f"{name}: {said}", shares, width=300), class_="pick")
        cells = (count_cell(counts[outcome]) for outcome in used)
        listed.append([model_cell(report, name), *([test] if tests else []), bar, *cells])
    return Table("Outcomes", heads, listed)
