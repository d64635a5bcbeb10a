"""Failing twins: an example that was right and its variant that was not, side by side."""

from pathlib import Path

from ...lang.exec.exact import execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import ProgramError
from ...store.dataset import Example
from ..drops import TwinRuns, find_twin_runs
from ..examples import has_images, read_examples, render_images, render_words
from ..markup import Html, render_charts, tag
from ..number_format import format_count
from ..page import Section
from ..runs import ReportRuns, select_ranked
from .failures import build_answer

PLACES = {"report": 72}
MOST = 12  # pairs


def section(report: ReportRuns) -> Section | None:
    ranked = set(select_ranked(report.runs))
    pairs = [t for t in find_twin_runs(report) if t.shifted in ranked and all(map(has_images, (t.base, t.shifted)))]
    total = 0
    places: list[tuple[TwinRuns, int, int]] = []  # the runs, and the rows of base and twin in them
    for twins in pairs:
        bad = twins.find_failing()
        total += len(bad)
        rows = [(int(twins.base_rows[k]), int(twins.shifted_rows[k])) for k in bad.tolist()]
        share = -(-MOST // len(pairs))
        places += [(twins, *row) for row in rows[:: max(len(rows) // share, 1)][:share]]  # spread over the run
    wanted: dict[Path, list[str]] = {}  # each dataset is read once
    for twins, base, shifted in places:
        for run, row in ((twins.base, base), (twins.shifted, shifted)):
            if run.data:
                wanted.setdefault(run.data, []).append(str(run.records.question[row]))
    examples = {folder: read_examples(folder, names) for folder, names in wanted.items()}
    cards = []
    for twins, base, shifted in places[:MOST]:
        one, other = (
            examples[run.data].get(str(run.records.question[row])) if run.data else None
            for run, row in ((twins.base, base), (twins.shifted, shifted))
        )
        if one and other:
            cards.append(_build_pair(report, twins, (base, one), (shifted, other)))
    if not cards:
        return None
    lead = (
        f"{len(cards)} of {format_count(total)} pairs in which the model is right about the original and wrong "
        "about its twin. Where both programs have the same steps, the first with another value is marked."
    )
    return Section("Failing twins", [render_charts(cards, "cards twins")], lead)


def _build_pair(report: ReportRuns, twins: TwinRuns, base: tuple[int, Example], shifted: tuple[int, Example]) -> Html:
    node = _find_differing_step(base[1], shifted[1])
    notes = {node: "differs from the original"} if node is not None else {}
    sides = []
    for run, (row, example), role in ((twins.base, base, "original"), (twins.shifted, shifted, "twin")):
        heading = tag("p", f"{run.test}: {role}", class_="facts")
        answers = [build_answer(report, run, row)]
        words = render_words(example, answers, notes if role == "twin" else {}, above=heading)
        sides.append(tag("div", render_images(example), words, class_="side"))
    return tag("article", sides, class_="card pair")


def _find_differing_step(one: Example, other: Example) -> int | None:
    """The first step at which the two examples differ, where their programs have the same shape."""
    a, b = one.question.program, other.question.program
    if a is None or b is None or [(n.op, n.inputs) for n in a.nodes] != [(n.op, n.inputs) for n in b.nodes]:
        return None
    try:
        traces = [
            execute(program, ExecutionWorld(tuple(i.scene for i in example.images))).values
            for program, example in ((a, one), (b, other))
        ]
    except ProgramError:
        return None
    return next((k for k, (x, y) in enumerate(zip(*traces, strict=False)) if x != y), None)
