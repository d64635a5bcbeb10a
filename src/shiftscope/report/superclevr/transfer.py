"""Transfer: every training beside every test, one heat map a model and factor, and a sort of questions."""

from __future__ import annotations

from ...run.study.board import Board
from ...run.study.cell import SORTS
from ...run.study.matrix import MODELS, Grid
from ..heat import Tile, heat_map
from ..markup import Child, Html, tag, text
from ..number import count, percent, points, spread
from ..section import Section
from .tables import NOT_BLIND, shown_grids


def section(board: Board) -> Section | None:
    parts: list[Child] = []
    for sort in SORTS:
        floor = _floor(board, sort)
        for model in MODELS:
            maps = [_map(board, one, model, sort, floor) for one in shown_grids(board)]
            there = [made for made in maps if made]
            if there:
                parts += [tag("h3", f"{model}, {sort} questions"), tag("div", there, class_="heats")]
    if not parts:
        return None
    lead = (
        "Table 1. Rows are what a model was trained on, columns what it was asked about. Outlined cells are "
        "the test of its own training; the figure below another is its difference from that, in points. A "
        "dash is a cell that is not finished, or a test without such questions."
    )
    if any(one.factor == "redundancy" for one in shown_grids(board)):
        parts.append(tag("p", f"Redundancy: {NOT_BLIND[0].lower()}{NOT_BLIND[1:]}", class_="note"))
    return Section("Trained here, asked there", text(parts), lead)


def _floor(board: Board, sort: str) -> float:
    """Where the colours begin: the lowest accuracy, rounded down to a ten."""
    found = [s.value for key in board.cells if (s := board.score(*key, sort)) and s.value is not None]
    return min(int(min(found, default=0.0) * 10) / 10, 0.9)


def _map(board: Board, one: Grid, model: str, sort: str, floor: float) -> Html | None:
    trained, tested = dict(one.trained), dict(one.tested)
    if not any(board.score(model, t, at, sort) for t in trained.values() for at in tested.values()):
        return None

    def tile(row: str, column: str) -> Tile | None:
        score = board.score(model, trained[row], tested[column], sort)
        if score is None or score.value is None:
            return None
        own = board.score(model, trained[row], tested[row], sort) if column != row else None
        interval = spread(score.value, score.low, score.high)
        return Tile(
            percent(score.value),
            (score.value - floor) / (1 - floor),
            points(score.value - own.value) if own and own.value is not None else "",
            f"trained on {row}, asked {column}: {percent(score.value)} {interval} (n = {count(score.n)})",
            marked=row == column,
        )

    corner = "trained on, below; asked about, right"
    return heat_map(one.title.capitalize(), list(trained), list(tested), tile, corner=corner)
