"""Splits: what was held out of training, how the model does on it, and its generalization score."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...errors import UserError
from ...metrics.generalization_score import measure_runs
from ...result import Score
from ..chart.bars import draw_interval
from ..markup import Child, Html, render_note
from ..measure import measure_accuracy
from ..number_format import DASH
from ..page import Section
from ..runs import ALL, TEXT, UPPER, ReportRun, ReportRuns, read_role
from ..score_table import score_cell
from ..table import Table, TableCell, TableHead, count_cell, numeric
from .tests import read_results

PLACES = {"report": 24}
TEST = "compositional"
SplitRow = tuple[str, str, dict[str, Score | None]]  # split, model, and its scores by the names of COLUMNS
COLUMNS = (
    ("text", "Text only", "a model that sees no image, on the held-out questions"),
    ("held", "Held out", "the model, on the questions with the property that training held out"),
    ("score", "Gen. score", "how much of the gap from text only to iid-size the model closes"),
    ("upper", "iid-size", "the upper bound: trained on as many questions, drawn from all"),
    ("rest", "In domain", "the model, on the test questions without the property"),
    ("gap", "Gap", "in domain less held out, in points"),
)
HELD_OUT_SCORES = {  # a column, and what a test's result calls its score
    "held": "accuracy",
    "text": "text_only",
    "upper": "iid_size",
    "score": "generalization_score",
    "gap": "gap",
}


def section(report: ReportRuns) -> Section | None:
    tests = [one for one in read_results(report) if one.test == TEST]
    rows: list[SplitRow] = []
    for one in tests:
        by_set = {dict(row.of).get("questions"): row for row in one.rows}
        held, rest = by_set.get("held out"), by_set.get("in domain")
        if held is not None:
            of_held = {name: held.scores.get(key) for name, key in HELD_OUT_SCORES.items()}
            in_domain = rest.scores["accuracy"] if rest else None
            rows.append((dict(held.of).get("split", ""), one.model_label, of_held | {"rest": in_domain}))
    rows += _rows_of_runs(report, {run for one in tests for run in one.runs})
    if not rows:
        return None
    lead = (
        "Each split holds a property of questions out of training and tests on questions that have it. The "
        "generalization score is (model − text only) / (iid-size − text only): 0 is no better than without "
        "the image, 100 as good as with the property in training. It is not clipped, and has no figure "
        "where iid-size is no better than text only."
    )
    parts: list[Child] = [_build_table(rows)]
    beyond = [
        f"{model} on {split}"
        for split, model, scores in rows
        if (score := scores.get("score")) and score.value is not None and not 0 <= score.value <= 1
    ]
    if beyond:
        parts.append(render_note(f"Beyond the ends of the scale: {', '.join(beyond)}."))
    return Section("Compositional splits", parts, lead)


def _rows_of_runs(report: ReportRuns, shown: set[ReportRun]) -> Iterator[SplitRow]:
    """Runs over the same questions of which one is the text-only model and one the upper bound."""
    for test in report.tests:
        runs = [r for r in report.runs if r.test == test and shown.isdisjoint(r.each)]
        text_only = [r for r in runs if _is_text_only(r)]
        upper = [r for r in runs if read_role(r.spec) == UPPER]
        for run in runs if text_only and upper else ():
            role = read_role(run.spec)
            if _is_text_only(run) or role in (UPPER, ALL) or (run.is_reference and not role):
                continue
            three = (run, _pick_same_model(run, text_only), _pick_same_model(run, upper))
            score = None
            with suppress(UserError):  # no question in common: no figure rather than no page
                score = measure_runs(*(r.records for r in three))
            held, text, high = map(measure_accuracy, three)
            yield test, run.contender, {"held": held, "text": text, "upper": high, "score": score}


def _is_text_only(run: ReportRun) -> bool:
    return read_role(run.spec) == TEXT or (run.model == "question_only" and not read_role(run.spec))


def _pick_same_model(run: ReportRun, runs: Sequence[ReportRun]) -> ReportRun:
    """That of the same model, else the first."""
    return next((r for r in runs if r.model == run.model), runs[0])


def _build_table(rows: Sequence[SplitRow]) -> Table:
    shown = [column for column in COLUMNS if any(scores.get(column[0]) for _, _, scores in rows)]
    heads = [TableHead("Split"), TableHead("Model")]
    for name, heading, title in shown:
        heads += [TableHead("0 to 100", sortable=False)] if name == "score" else []
        heads.append(numeric(heading, title))
    heads.append(numeric("Questions", "held-out questions with a response"))
    listed = []
    for split, model, scores in rows:
        cells: list[TableCell | str] = [split, model]
        for name, _, _ in shown:
            score = scores.get(name)
            cells += [TableCell(_draw_score(score), class_="pick")] if name == "score" else []
            cells.append(score_cell(score))
        held = scores["held"]
        listed.append([*cells, count_cell(held.n if held else 0)])
    return Table("Accuracy and generalization score by split, %", heads, listed)


def _draw_score(score: Score | None) -> Html | str:
    """The score on its scale; what is beyond an end stands at it."""
    if score is None or score.value is None:
        return DASH
    value, low, high = (None if e is None else min(1.0, max(0.0, e)) for e in (score.value, score.low, score.high))
    return draw_interval(value or 0.0, low, high, 0, width=84)
