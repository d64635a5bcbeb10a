"""Outcomes: how many answers were right, wrong, undefined, unreadable, failed or missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...metrics.accuracy import row_scores
from ...result import MISSING
from ..chart.stack import Share, stack
from ..legend import signed, swatches
from ..markup import Child, Html, tag, text
from ..number import count, percent, several
from ..originals import told
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 20

LOOKS = (
    ("right", "right"),
    ("partly", "part-3"),
    ("wrong", "wrong"),
    ("undefined", "part-1"),
    ("unreadable", "part-2"),
    ("failed", "part-4"),
    ("missing", "part-5"),
    ("no picture", "part-3"),
)
SAID = {
    "partly": "some of the annotators gave this answer, which earns a part",
    "undefined": "the program has no answer on the scene",
    "unreadable": "a reply came, but no answer could be read in it",
    "failed": "no reply came",
    "missing": "never asked, or not in the file of predictions",
    "no picture": "asked without its picture, which is missing; in no accuracy",
}


def section(study: Study) -> Section | None:
    home = study.home()
    away = len(home.runs) < len(study.runs)
    counts = {run: sum(map(outcomes, run.each), Counter[str]()) for run in study.runs}
    seen = [name for name, _ in LOOKS if any(c[name] for c in counts.values()) or name in ("right", "wrong")]
    groups: dict[str, list[Run]] = {name: [] for name in home.contenders}
    for run in study.runs:
        groups.setdefault(run.contender if run.home or not away else run.model, []).append(run)
    totals = [(name, "", sum((counts[r] for r in runs), Counter())) for name, runs in groups.items()]
    parts: list[Child] = [
        swatches([(name, look) for name, look in LOOKS if name in seen]),
        _table(home, totals, seen),
    ]
    if len(study.runs) > len(groups):
        each = [(name, _asked(r), counts[r]) for name, runs in groups.items() for r in runs]
        parts.append(
            tag("details", tag("summary", f"Each of {several(len(each), 'run')}"), _table(home, each, seen))
        )
    notes = [f"{name.capitalize()}: {SAID[name]}." for name in seen if name in SAID]
    lead = "A question that got no answer is not right, and is counted apart. "
    if told(study):
        notes.append("Variants of questions are counted as questions.")
    return Section("What became of each question", text(parts), lead + " ".join(notes))


def outcomes(run: Run) -> Counter[str]:
    """How many questions ended in each way; those to be asked but without a row are missing."""
    records = run.records
    values, answered = row_scores(records).values, records.status.equals("answered")
    found = Counter(
        right=int((answered & (values >= 1)).sum()),
        partly=int((answered & (values > 0) & (values < 1)).sum()),
        wrong=int((answered & (values <= 0)).sum()),
    )
    for status in ("undefined", "unreadable", "failed", MISSING):
        found[status] = int(records.status.equals(status).sum())
    found["no picture"] = run.log.missing_images
    return found


def _asked(run: Run) -> str:
    return f"{run.test}, trained on {run.trained}" if run.trained else run.test


def _table(study: Study, rows: Sequence[tuple[str, str, Counter[str]]], seen: Sequence[str]) -> Html:
    tests = any(test for _, test, _ in rows)
    heads = [
        Head("Model"),
        *([Head("Test")] if tests else []),
        Head("Of all questions", sortable=False),
        *(Head(name.capitalize(), numeric=True, title=SAID.get(name, "")) for name in seen),
    ]
    made = [
        [
            Cell(signed(study, name), name),
            *([Cell(test)] if tests else []),
            Cell(_bar(name, counts), class_="pick"),
            *(Cell(count(counts[outcome]), float(counts[outcome])) for outcome in seen),
        ]
        for name, test, counts in rows
    ]
    return table(heads, [made], caption="What became of each question")


def _bar(name: str, counts: Counter[str]) -> Html:
    total = counts.total() or 1
    shares = [Share(n, counts[n] / total, f"{percent(counts[n] / total)}%", look) for n, look in LOOKS]
    said = ", ".join(f"{s.name} {s.figure}" for s in shares if s.value)
    return stack(f"{name}: {said}", shares, width=300)
