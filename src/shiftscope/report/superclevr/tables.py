"""Tables: what the stored cells of a study say, in rows of text; an unfinished cell is a dash."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ...metrics._statistics import across_seeds
from ...metrics.relative_degrade import FORMS
from ...result import Score
from ...run.study.board import Board
from ...run.study.cell import SORTS
from ...run.study.findings import Finding, pairs, paper_findings, targets
from ...run.study.matrix import EXACT, MODELS, SEEDS, Domain, Grid, Trained, every_grid
from ...suites import _reported_superclevr as paper
from ..number import NONE, percent
from .costs import speed, trainings
from .diagnosis import diagnosis
from .figures import DIGITS, TINY, between, figure, gain_text, paired_text
from .text_table import Table
from .world import REPORTED, differences

READS = (
    "p_nsvqa_exact's scene parser is attuned to the first images of a test, without labels: to their look "
    "where that makes it surer, chosen with validation images of hard in view, and with the tests head, tail "
    "and oppo, which were answered worse without asking whether it does (docs/decisions/020); and to how "
    "often they seem to show each value, which was added after the distribution's targets were missed "
    "(021). It also reads the places on the ground that the parser learned to tell (015). nsvqa and p_nsvqa "
    "see boxes, each image by itself."
)
OTHER_SPEEDS = (
    "Speeds that no study measures, programs run on a GPU and questions answered on a processor, are in "
    "docs/results/speed.md."
)
LESS = re.compile(r"(?<!\w)-(?=\d)")  # a minus before a figure, but for that of an exponent
NOT_BLIND = (
    "Not a blind test: in training, half of the question parser's questions get more adjectives and "
    "relations, and a quarter lose some, so that neither rd+ nor rd- is news to it (docs/decisions/016)."
)
WHICH_FORM = (
    "Printed is the paper's appendix D, footnote its section 5.2 and tabulated what most of its Table 2 "
    "holds (the two drops added, not averaged): these are the three forms; absolute, the fourth, counts a "
    "gain as a loss too, gives all of its Table 2, and stands beside what is reported (docs/decisions/008)."
)


def every_table(board: Board) -> Iterator[Table]:
    """All that there is something to say of, in the order of the page."""
    yield findings_table("Targets", tuple(targets(board)), OTHER_SPEEDS)
    yield findings_table("The paper's findings", tuple(paper_findings(board)))
    yield differences(board)
    yield in_domain(board)
    for sort in SORTS:
        yield from (table_1(board, one, sort) for one in shown_grids(board))
        yield table_2(board, sort)
    yield by_cell(board)
    yield from diagnosis(board)
    if board.trainings:
        yield from trainings(board)
    yield speed(board)
    if board.left_out:
        yield Table("Left out", ("record", "why"), board.left_out)


def shown_grids(board: Board) -> list[Grid]:
    """Those that the cells are of; one cell alone may be another factor's, that of the default at home."""
    there = {(t, at) for _, t, at in board.cells}
    found = [g for g in every_grid() if sum((t, at) in there for _, t in g.trained for _, at in g.tested) > 1]
    return found or every_grid()[:1]


def findings_table(title: str, found: Sequence[Finding], note: str = "") -> Table:
    rows = tuple((f.says, f.rule, f.verdict, LESS.sub("−", f.figures)) for f in found)
    return Table(title, ("", "rule", "verdict", "measured"), rows, note)


def in_domain(board: Board) -> Table:
    """The default in its own domain, seed by seed, with the paper's figures beside."""
    rows = []
    for sort in SORTS:
        for model in MODELS:
            scores = [board.score(model, Trained(seed=s), Domain(), sort) for s in SEEDS]
            there = [s for s in scores if s is not None and s.value is not None]
            rows.append(
                (
                    f"{model}, {sort} questions",
                    *map(figure, scores),
                    *_over_seeds(there),
                    _reported_home(model) if sort == "object" else NONE,
                )
            )
    test = board.compare("p_nsvqa", "nsvqa", Trained(), Domain(), "object")
    note = "Seeds: the mean with Student's interval, and the standard deviation in points. Reported: of the "
    note += "validation split. " + (
        f"p_nsvqa less nsvqa on the same object questions, seed 0: {paired_text(test)}." if test else ""
    )
    heads = (
        "default, %",
        *(f"seed {s}" for s in SEEDS),
        "mean of seeds",
        "deviation",
        "reported",
    )
    return Table("Default, asked in its own domain", heads, tuple(rows), note.strip())


def _over_seeds(scores: Sequence[Score]) -> tuple[str, str]:
    if len(scores) < 2:
        return NONE, NONE
    deviation = float(np.std([s.value or 0.0 for s in scores], ddof=1))
    return figure(across_seeds(scores)), f"{100 * deviation:.{DIGITS}f}"


def _reported_home(model: str) -> str:
    said = REPORTED.get(model)
    return percent(paper.accuracies(said, "visual")["mid", "mid"], DIGITS) if said else NONE


def table_1(board: Board, one: Grid, sort: str) -> Table:
    """Every training of a factor beside every test, with the paper's figures below those of its models."""
    rows: list[tuple[str, ...]] = []
    for model in MODELS:
        for name, trained in one.trained:
            scores = (board.score(model, trained, tested, sort) for _, tested in one.tested)
            rows.append((model, name, *map(figure, scores)))
        said = REPORTED.get(model)
        if said and sort == "object":
            given = paper.accuracies(said, one.factor)
            for name, _ in one.trained:
                cells = (given.get((name, test)) for test, _ in one.tested)
                rows.append((f"{said}, reported", name, *(percent(c, DIGITS) for c in cells)))
    title = f"Table 1, {one.title}, {sort} questions"
    note = NOT_BLIND if one.factor == "redundancy" and sort == "object" else ""
    if one.factor == "redundancy" and sort == "part":
        note = "Redundancy is varied in object questions only: the part questions of the three are the same."
    if one.factor == "distribution" and sort == "object":
        note = "The paper ran this factor on hard: its reported figures stand beside both."
    return Table(title, ("model", "trained on", *(f"on {name}" for name, _ in one.tested)), tuple(rows), note)


def table_2(board: Board, sort: str) -> Table:
    """Relative Degrade of each factor in all its forms."""
    grids = shown_grids(board)
    rows: list[tuple[str, ...]] = []
    for model in MODELS:
        for form in FORMS:
            found = [board.degrade(model, one, form, sort) for one in grids]
            cells = [NONE if d is None else between(d.value, d.low, d.high) for d in found]
            rows.append((model, form, *cells))
        said = REPORTED.get(model)
        if said and sort == "object":
            given = (percent(paper.relative_degrade(said, one.factor), DIGITS) for one in grids)
            rows.append((f"{said}, reported", "absolute", *given))
    heads = ("model", "form", *(one.title for one in grids))
    notes = [WHICH_FORM]
    if sort == "object" and any(one.factor == "redundancy" for one in grids):
        notes.append(f"Redundancy: {NOT_BLIND[0].lower()}{NOT_BLIND[1:]}")
    title = f"Table 2, Relative Degrade, {sort} questions, %"
    return Table(title, heads, tuple(rows), " ".join(notes))


def by_cell(board: Board) -> Table:
    """The three models cell by cell, and what the later gain over the earlier on the same questions."""
    rows = []
    for trained, tested in pairs(board):
        scores = (board.score(m, trained, tested, "object") for m in MODELS)
        soft = board.compare("p_nsvqa", "nsvqa", trained, tested, "object")
        ours = board.compare("p_nsvqa_exact", "p_nsvqa", trained, tested, "object")
        shown = (percent(s.value if s else None, DIGITS) for s in scores)
        cell = board.cells.get((EXACT, trained, tested))
        attuned = "" if cell is None or cell.attuned is None else "yes" if cell.attuned else "no"
        rows.append((trained.label, tested.label, *shown, attuned, gain_text(soft), gain_text(ours)))
    heads = (
        "trained on",
        "asked about",
        *MODELS,
        "look attuned",
        "p_nsvqa − nsvqa",
        "p_nsvqa_exact − p_nsvqa",
    )
    note = (
        "Differences on the same questions, ± the longer side of an interval by scene; p < "
        f"{TINY} where none is given, not corrected for many cells. {READS}"
    )
    return Table("Model against model, object questions, % and points", heads, tuple(rows), note)
