"""Transfer: every training beside every test, one heat map a model and factor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...metrics.relative_degrade import VARIANTS, level_of
from ...result import Score
from ..heat import Tile, heat_map
from ..markup import Child, Html, tag, text
from ..measure import weighted_accuracy
from ..mixture import mix
from ..number import count, percent, points, spread
from ..originals import originals
from ..roles import role_of
from ..section import Section
from ..study import Run, Study

PLACE = 30
TESTS_ONLY = {"distribution": ("head", "tail", "oppo")}  # variants that nothing is trained on
OTHER = "Other variants"

Cell = tuple[str, str]  # trained on, asked about


@dataclass(frozen=True, slots=True)
class Grid:
    """The accuracies of one model over the variants of a factor, on the kinds of question all tests have."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    scores: dict[Cell, Score]
    note: str


def section(study: Study) -> Section | None:
    trained = [r for r in originals(study).runs if r.trained and not role_of(r.spec)]
    grids = {model: list(_grids([r for r in trained if r.model == model])) for model in _models(trained)}
    floor = _floor([s for found in grids.values() for grid in found for s in grid.scores.values()])
    parts: list[Child] = []
    for model, found in grids.items():
        if found:
            maps = [_map(grid, floor) for grid in found]
            parts += [tag("h3", model), tag("div", maps, class_="heats")]
    if not parts:
        return None
    lead = (
        "Rows are what a model was trained on, columns what it was asked about. Outlined cells are the test "
        "of its own training; the figure below another cell is its difference from that, in points. All "
        "cells of a map are over the kinds of question that all of its tests have, weighed alike. "
        f"Colours run from {percent(floor, 0)} to 100%."
    )
    return Section("Trained here, asked there", text(parts), lead)


def _models(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(r.model for r in runs))


def _floor(scores: Sequence[Score]) -> float:
    """Where the colours begin: the lowest accuracy, rounded down to a ten."""
    lowest = min((s.value for s in scores if s.value is not None), default=0.0)
    return min(int(lowest * 10) / 10, 0.9)


def _grids(runs: Sequence[Run]) -> Iterator[Grid]:
    """Those of one model: one a factor whose variants were run, and one for what belongs to none."""
    placed: set[int] = set()
    for factor, variants in sorted(VARIANTS.items(), key=lambda item: item[0] in TESTS_ONLY):  # widest last
        tests = (*variants, *TESTS_ONLY.get(factor, ()))
        cells = {(level_of(r.trained, factor), level_of(r.test, factor)): r for r in runs}
        inside = {cell: r for cell, r in cells.items() if cell[0] in variants and cell[1] in tests}
        if len({t for t, _ in inside}) > 1 or len({t for _, t in inside}) > 1:
            placed |= {id(r) for r in inside.values()}
            yield _grid(factor.capitalize(), variants, tests, inside)
    rest = {(r.trained, r.test): r for r in runs if id(r) not in placed}
    if len(rest) > 1:
        rows, columns = (tuple(dict.fromkeys(c[k] for c in rest)) for k in (0, 1))
        yield _grid(OTHER, rows, columns, rest)


def _grid(title: str, rows: Sequence[str], columns: Sequence[str], cells: dict[Cell, Run]) -> Grid:
    ordered = sorted(cells, key=lambda c: (rows.index(c[0]), columns.index(c[1])))
    each = [one for cell in ordered for one in cells[cell].each]
    mixture = mix([one.records for one in each])
    weights = {id(one): w for one, w in zip(each, mixture.weights, strict=True)}
    weights |= {id(run): weights[id(run.each[0])] for run in cells.values()}
    scores = {cell: weighted_accuracy(cells[cell], weights) for cell in ordered}
    note = "" if mixture.whole else f", {mixture.shared} of {mixture.kinds} kinds of question"
    there = {r for r, _ in cells}, {c for _, c in cells}
    return Grid(
        title,
        tuple(r for r in rows if r in there[0]),
        tuple(c for c in columns if c in there[1]),
        scores,
        note,
    )


def _map(grid: Grid, floor: float) -> Html:
    def tile(row: str, column: str) -> Tile | None:
        score = grid.scores.get((row, column))
        if score is None or score.value is None:
            return None
        own = grid.scores.get((row, row)) if column != row else None
        home = own.value if own else None
        interval = spread(score.value, score.low, score.high)
        lacking = "" if score.complete else f"; {percent(score.answered, 0)}% answered"
        return Tile(
            percent(score.value),
            (score.value - floor) / (1 - floor),
            points(score.value - home) if home is not None else "",
            f"trained on {row}, asked {column}: {percent(score.value)} {interval} "
            f"(n = {count(score.n)}{lacking})",
            marked=row == column,
        )

    corner = "trained on, below; asked about, right"
    return heat_map(grid.title + grid.note, grid.rows, grid.columns, tile, corner=corner)
