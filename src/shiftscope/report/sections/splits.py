"""Splits: what was held out of training, how the model does on it, and its generalization score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...errors import UserError
from ...metrics.generalization_score import measure_runs
from ...result import Score
from ..chart.interval import interval
from ..figure import figure
from ..markup import Html, tag, text
from ..measure import accuracy
from ..number import NONE, count
from ..outcome import Outcome, outcomes
from ..roles import ALL, TEXT, UPPER, role_of
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 24
TEST = "compositional"


@dataclass(frozen=True, slots=True)
class Row:
    """A model on one split; what is not known is None."""

    split: str
    model: str
    held: Score  # accuracy on the questions with the property
    text: Score | None = None
    upper: Score | None = None
    score: Score | None = None
    rest: Score | None = None  # accuracy on the questions without it
    gap: Score | None = None


COLUMNS = (
    ("text", "Text only", "a model that sees no image, on the held-out questions"),
    ("held", "Held out", "the model, on the questions with the property that training held out"),
    ("score", "Gen. score", "how much of the gap from text only to iid-size the model closes"),
    ("upper", "iid-size", "the upper bound: trained on as many questions, drawn from all"),
    ("rest", "In domain", "the model, on the test questions without the property"),
    ("gap", "Gap", "in domain less held out, in points"),
)


def section(study: Study) -> Section | None:
    tests = [one for one in outcomes(study) if one.test == TEST]
    rows = [row for one in tests for row in _tested(one)]
    rows += _compared(study, {run for one in tests for run in one.runs})
    if not rows:
        return None
    lead = (
        "Each split holds a property of questions out of training and tests on questions that have it. The "
        "generalization score is (model − text only) / (iid-size − text only): 0 is no better than without "
        "the image, 100 as good as with the property in training. It is not clipped, and has no figure "
        "where iid-size is no better than text only."
    )
    return Section("Split by split", text([_table(rows), _note(rows)]), lead)


def _tested(one: Outcome) -> Iterator[Row]:
    """The rows of a compositional test."""
    found = {dict(row.of).get("questions"): row for row in one.rows}
    held, rest = found.get("held out"), found.get("in domain")
    if held is None:
        return
    s = held.scores
    yield Row(
        dict(held.of).get("split", ""),
        one.shown,
        s["accuracy"],
        s.get("text_only"),
        s.get("iid_size"),
        s.get("generalization_score"),
        rest.scores["accuracy"] if rest else None,
        s.get("gap"),
    )


def _compared(study: Study, told: set[Run]) -> Iterator[Row]:
    """Runs over the same questions of which one is the text-only model and one the upper bound."""
    for test in study.tests:
        runs = [r for r in study.runs if r.test == test and told.isdisjoint(r.each)]
        text_only = [r for r in runs if _is_text(r)]
        upper = [r for r in runs if role_of(r.spec) == UPPER]
        for run in runs if text_only and upper else ():
            role = role_of(run.spec)
            if _is_text(run) or role in (UPPER, ALL) or (run.reference and not role):
                continue
            low, high = _own(run, text_only), _own(run, upper)
            yield Row(
                test, run.contender, accuracy(run), accuracy(low), accuracy(high), _score(run, low, high)
            )


def _is_text(run: Run) -> bool:
    return role_of(run.spec) == TEXT or (run.model == "question_only" and not role_of(run.spec))


def _own(run: Run, runs: Sequence[Run]) -> Run:
    """That of the same model, else the first."""
    return next((r for r in runs if r.model == run.model), runs[0])


def _score(run: Run, low: Run, high: Run) -> Score | None:
    try:
        return measure_runs(run.records, low.records, high.records)
    except UserError:  # no question in common: no figure rather than no page
        return None


def _table(rows: Sequence[Row]) -> Html:
    shown = [column for column in COLUMNS if any(getattr(row, column[0]) for row in rows)]
    heads = [Head("Split"), Head("Model")]
    for name, said, title in shown:
        heads += [Head("0 to 100", sortable=False)] if name == "score" else []
        heads.append(Head(said, numeric=True, title=title))
    heads.append(Head("Questions", numeric=True, title="held-out questions that were replied to"))
    made = []
    for row in rows:
        cells = [Cell(row.split), Cell(row.model)]
        for name, _, _ in shown:
            score = getattr(row, name)
            cells += [Cell(_drawn(score), class_="pick")] if name == "score" else []
            cells.append(figure(score))
        made.append([*cells, Cell(count(row.held.n), float(row.held.n))])
    return table(heads, [made], caption="Accuracy and generalization score by split, %")


def _drawn(score: Score | None) -> Html | str:
    """The score on its scale; what is beyond an end stands at it."""
    if score is None or score.value is None:
        return NONE
    value, low, high = (
        None if e is None else min(1.0, max(0.0, e)) for e in (score.value, score.low, score.high)
    )
    return interval(value or 0.0, low, high, 0, width=84)


def _note(rows: Sequence[Row]) -> Html | None:
    beyond = [r for r in rows if r.score and r.score.value is not None and not 0 <= r.score.value <= 1]
    if not beyond:
        return None
    listed = ", ".join(f"{r.model} on {r.split}" for r in beyond)
    return tag("p", f"Beyond the ends of the scale: {listed}.", class_="note")
