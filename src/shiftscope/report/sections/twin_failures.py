"""Failing twins: an example that was right and its variant that was not, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...lang.exec.exact import execute
from ...lang.program import ProgramError
from ...lang.world import World
from ...store.dataset import Example
from ..card import pictures, program, said
from ..library import examples, has_data
from ..markup import Html, tag, text
from ..number import count
from ..parting import Parting, first_difference
from ..section import Section
from ..study import Run, Study, judged
from ..twins import TwinRuns, twin_runs
from .failures import reply

PLACE = 72
MOST = 12  # pairs

Place = tuple[TwinRuns, int, int]  # the runs, and the rows of base and twin in them


def section(study: Study) -> Section | None:
    asked = set(judged(study.runs))
    found = [t for t in twin_runs(study) if t.shifted in asked and _seen(t.base) and _seen(t.shifted)]
    total = 0
    places: list[Place] = []
    for twins in found:
        bad = twins.failing()
        total += len(bad)
        rows = [(int(twins.base_rows[k]), int(twins.shifted_rows[k])) for k in bad.tolist()]
        share = -(-MOST // len(found))
        places += [
            (twins, *row) for row in rows[:: max(len(rows) // share, 1)][:share]
        ]  # spread over the run
    books = _books(places)
    cards = []
    for twins, base, shifted in places[:MOST]:
        one = books.get((twins.base.data, str(twins.base.records.question[base])))
        other = books.get((twins.shifted.data, str(twins.shifted.records.question[shifted])))
        if one and other:
            cards.append(_pair(study, twins, (base, one), (shifted, other)))
    if not cards:
        return None
    lead = (
        f"{len(cards)} of {count(total)} pairs in which the model is right about the original and wrong "
        "about its twin. Where both programs have the same steps, the first with another value is marked."
    )
    return Section("Twins that part", text([tag("div", cards, class_="cards twins")]), lead)


def _seen(run: Run) -> bool:
    return run.data is not None and has_data(run.data)


def _books(places: list[Place]) -> Mapping[tuple[Path | None, str], Example]:
    """The examples of all rows, each dataset read once."""
    wanted: dict[Path | None, list[str]] = {}
    for twins, base, shifted in places:
        for run, row in ((twins.base, base), (twins.shifted, shifted)):
            wanted.setdefault(run.data, []).append(str(run.records.question[row]))
    return {
        (folder, name): example
        for folder, names in wanted.items()
        if folder
        for name, example in examples(folder, names).items()
    }


def _pair(study: Study, twins: TwinRuns, base: tuple[int, Example], shifted: tuple[int, Example]) -> Html:
    node = _parting(base[1], shifted[1])
    marked = [Parting(node, "differs from the original")] if node is not None else []
    sides = [
        _side(study, twins.base, *base, f"{twins.base.test}: original", []),
        _side(study, twins.shifted, *shifted, f"{twins.shifted.test}: twin", marked),
    ]
    return tag("article", sides, class_="card pair")


def _side(study: Study, run: Run, row: int, example: Example, heading: str, marked: list[Parting]) -> Html:
    question = example.question
    replies = [reply(study, run, row)]
    return tag(
        "div",
        pictures(example),
        tag(
            "div",
            tag("p", heading, class_="facts"),
            tag("p", f"{question.action} " if question.action else "", question.text, class_="asked"),
            said(question.answer, replies),
            program(example, replies, marked),
            class_="words",
        ),
        class_="side",
    )


def _parting(one: Example, other: Example) -> int | None:
    """The first step at which the two examples differ, where their programs have the same shape."""
    a, b = one.question.program, other.question.program
    if a is None or b is None or [(n.op, n.inputs) for n in a.nodes] != [(n.op, n.inputs) for n in b.nodes]:
        return None
    try:
        traces = [
            execute(program, World(tuple(i.scene for i in example.images))).values
            for program, example in ((a, one), (b, other))
        ]
    except ProgramError:
        return None
    return first_difference(*traces)
