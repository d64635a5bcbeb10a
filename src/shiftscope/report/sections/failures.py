"""Failures: examples that went wrong, with picture, answers and the step where they may part."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from zlib import crc32

from ...result import Prediction
from ...store.dataset import Example
from ..examples import ModelAnswer, has_images, read_examples, read_predictions, render_card
from ..markup import Html, tag
from ..measure import spell_fact
from ..number_format import format_count
from ..page import Section
from ..runs import ReportRun, ReportRuns, select_ranked

PLACES = {"report": 70}
MOST = 24  # cards


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that went wrong, and the row each run has for it."""

    question: str
    scene: str
    kind: str
    rows: tuple[tuple[ReportRun, int], ...]
    wrong: tuple[ReportRun, ...]


def section(report: ReportRuns) -> Section | None:
    report = report.select_in_domain()
    shown: list[tuple[Failure, Example]] = []
    total = 0
    folders = {r.test: r.data for r in reversed(report.runs) if r.data and has_images(r)}
    tests = [t for t in report.tests if t in folders]
    for test in tests:
        runs = select_ranked([r for r in report.runs if r.test == test])
        failures = find_failures(runs)
        total += len(failures)
        picked = pick_failures(failures, -(-MOST // len(tests)))
        known = read_examples(folders[test], [f.question for f in picked], str(runs[0].spec.get("split") or "") or None)
        shown += [(f, known[f.question]) for f in picked if f.question in known]
    shown = shown[:MOST]
    if not shown:
        return None
    kinds = sorted({f.kind for f, _ in shown if f.kind})
    names = list(dict.fromkeys(r.contender for f, _ in shown for r in f.wrong))
    wanted: dict[ReportRun, list[str]] = defaultdict(list)
    for failure, _ in shown:
        for run, _ in failure.rows:
            wanted[run].append(failure.question)
    predictions = {run: read_predictions(run, questions) for run, questions in wanted.items()}
    cards = []
    for failure, example in shown:
        answers = [build_answer(report, run, row, predictions[run].get(failure.question)) for run, row in failure.rows]
        run, row = failure.rows[0]
        facts = {name: column[row] for name, column in run.records.facts if column[row] is not None}
        wrong = " ".join(str(report.series_of(run.contender)) for run in failure.wrong)
        kind = str(kinds.index(failure.kind)) if failure.kind else ""
        cards.append(render_card(example, answers, facts, data_wrong=wrong, data_kind=kind))
    wide = sum(len(example.images) > 2 for _, example in shown)
    look = "cards many" if 2 * wide > len(cards) else "cards"
    parts = [_build_filters(report, names, kinds), tag("div", cards, class_=look, id="failure-cards")]
    lead = (
        f"{len(cards)} of {format_count(total)} questions that some model got wrong, taken in turn from every type, "
        "those that most models got wrong first. A marked step of the program is one that, left out alone, "
        "gives just the wrong answer: a hint, not a proof of what the model did."
    )
    return Section("Failures", parts, lead)


def find_failures(runs: Sequence[ReportRun]) -> list[Failure]:
    """Every question that one of the runs got wrong; one without a known answer cannot be."""
    rows: dict[str, list[tuple[ReportRun, int]]] = defaultdict(list)
    wrong: dict[str, list[ReportRun]] = defaultdict(list)
    for run in runs:
        bad = (run.records.truth.codes >= 0) & ~run.records.right
        for row, (question, failed) in enumerate(zip(run.records.question.to_list(), bad.tolist(), strict=True)):
            rows[question].append((run, row))
            if failed:
                wrong[question].append(run)
    failures = []
    for question, failing in wrong.items():
        run, row = rows[question][0]
        kinds = dict(run.records.facts).get("kind")
        kind = str(kinds[row] or "") if kinds is not None else ""
        failures.append(Failure(question, str(run.records.cluster[row]), kind, tuple(rows[question]), tuple(failing)))
    return failures


def pick_failures(failures: Iterable[Failure], most: int) -> list[Failure]:
    """A few of them: each kind in turn, the commonest failures first, one a scene while there are others.

    Among equals a checksum of the name decides, so that the choice is mixed and always the same.
    """
    by_kind: dict[str, list[Failure]] = defaultdict(list)
    for failure in sorted(failures, key=lambda f: (-len(f.wrong), crc32(f.question.encode()))):
        by_kind[failure.kind].append(failure)
    in_turn = [f for turn in zip_longest(*(by_kind[k] for k in sorted(by_kind))) for f in turn if f is not None]
    scenes: set[str] = set()
    first: list[Failure] = []
    later: list[Failure] = []
    for failure in in_turn:
        (later if failure.scene in scenes else first).append(failure)
        scenes.add(failure.scene)
    return [*first, *later][:most]


def build_answer(report: ReportRuns, run: ReportRun, row: int, prediction: Prediction | None = None) -> ModelAnswer:
    """What a run has in a row; `prediction` is the same in full, where that was read."""
    records = run.records
    answer = records.answer[row]
    astray = prediction is not None and records.program_right[row] == 0
    return ModelAnswer(
        run.contender,
        report.series_of(run.contender),
        None if answer is None else str(answer),
        str(records.status[row]),
        bool(records.right[row]),
        str(records.reason[row] or ""),
        prediction.raw if prediction and answer is None else "",
        prediction.program if prediction and astray else "",
        prediction.trace if prediction else "",
    )


def _build_filters(report: ReportRuns, names: Sequence[str], kinds: Sequence[str]) -> Html:
    """Menus that a script shows and serves; without one they stay hidden and all cards are shown."""
    chosen = [
        ("wrong", "Wrong for", [(report.series_of(n), n) for n in names]),
        ("kind", "Question type", list(enumerate(map(spell_fact, kinds)))),
    ]
    menus = [
        tag(
            "label",
            f"{label} ",
            tag("select", tag("option", "any", value=""), [tag("option", n, value=v) for v, n in of], name=name),
        )
        for name, label, of in chosen
        if len(of) > 1
    ]
    return tag("div", menus, tag("output"), class_="filters", hidden=True, data_for="failure-cards")
