"""Transfer: every training beside every test, one heat map a model and factor."""

from __future__ import annotations

from collections.abc import Sequence

from ...metrics.relative_degrade import VARIANTS
from ..heat import Tile, heat_map
from ..markup import Child, Html, tag, text
from ..measure import accuracy
from ..number import count, percent, points, spread
from ..roles import role_of
from ..section import Section
from ..study import Run, Study

PLACE = 30
TESTS_ONLY = {"distribution": ("head", "tail", "oppo")}  # variants that nothing is trained on
OTHER = "Other variants"


def section(study: Study) -> Section | None:
    trained = [r for r in study.runs if r.trained and not role_of(r.spec)]
    floor = _floor(trained)
    parts: list[Child] = []
    for model in dict.fromkeys(r.model for r in trained):
        maps = _maps([r for r in trained if r.model == model], floor)
        if maps:
            parts += [tag("h3", model), tag("div", maps, class_="heats")]
    if not parts:
        return None
    lead = (
        "Rows are what a model was trained on, columns what it was asked about. Outlined cells are the test "
        "of its own training; the figure below another cell is its difference from that, in points. "
        f"Colours run from {percent(floor, 0)} to 100%."
    )
    return Section("Trained here, asked there", text(parts), lead)


def _floor(runs: Sequence[Run]) -> float:
    """Where the colours begin: the lowest accuracy, rounded down to a ten."""
    lowest = min((value for r in runs if (value := accuracy(r).value) is not None), default=0.0)
    return min(int(lowest * 10) / 10, 0.9)


def _maps(runs: Sequence[Run], floor: float) -> list[Html]:
    """The maps of one model: one a factor whose variants were run, and one for what belongs to none."""
    made = []
    cells = {(r.trained, r.test): r for r in runs}
    placed: set[tuple[str, str]] = set()
    for factor, variants in sorted(VARIANTS.items(), key=lambda item: item[0] in TESTS_ONLY):  # widest last
        tests = (*variants, *TESTS_ONLY.get(factor, ()))
        inside = {cell for cell in cells if cell[0] in variants and cell[1] in tests}
        if len({t for t, _ in inside}) > 1 or len({t for _, t in inside}) > 1:
            placed |= inside
            made.append(_map(factor.capitalize(), variants, tests, {c: cells[c] for c in inside}, floor))
    rest = {c: r for c, r in cells.items() if c not in placed}
    if len(rest) > 1:
        rows, columns = ([*dict.fromkeys(c[k] for c in rest)] for k in (0, 1))
        made.append(_map(OTHER, rows, columns, rest, floor))
    return made


def _map(
    caption: str, rows: Sequence[str], columns: Sequence[str], cells: dict[tuple[str, str], Run], floor: float
) -> Html:
    def tile(row: str, column: str) -> Tile | None:
        run = cells.get((row, column))
        score = accuracy(run) if run else None
        if score is None or score.value is None:
            return None
        own = cells.get((row, row))
        home = accuracy(own).value if own and column != row else None
        interval = spread(score.value, score.low, score.high)
        return Tile(
            percent(score.value),
            (score.value - floor) / (1 - floor),
            points(score.value - home) if home is not None else "",
            f"trained on {row}, asked {column}: {percent(score.value)} {interval} (n = {count(score.n)})",
            marked=row == column,
        )

    there = {r for r, _ in cells}, {c for _, c in cells}
    return heat_map(
        caption,
        [r for r in rows if r in there[0]],
        [c for c in columns if c in there[1]],
        tile,
        corner="trained on, below; asked about, right",
    )
