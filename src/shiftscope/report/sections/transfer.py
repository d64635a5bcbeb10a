"""Transfer matrix: every training of every model against every test, one heat map per factor."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ...metrics.relative_degrade import VARIANTS, find_level
from ...metrics.transfer_matrix import TransferMatrix
from ...model import DEFAULTS
from ...result import Score
from ...suites.study import Contender, FactorGrid
from ..drops import load_factors
from ..markup import Child, Html, render_note, tag
from ..measure import drop_variants, measure_weighted_accuracy, reweight_question_types
from ..number_format import describe_score, format_percent, format_points
from ..page import Section
from ..runs import ReportRun, ReportRuns, read_role
from ..score_table import score_cell
from ..study_page import DIGITS, describe_caveats, format_figure, select_grids, select_reported
from ..table import HeatTile, Row, Table, TableHead, numeric, render_heat_map

PLACES = {"report": 30, "study": 30}
TESTS_ONLY = {"distribution": ("head", "tail", "oppo")}  # variants that nothing is trained on
OTHER_VARIANTS = "Other variants"
LEAD = (
    "Rows are what a model was trained on, columns what it was tested on. Outlined entries are the test of its "
    "own training; the figure below another entry is its difference from that, in points."
)

TransferKey = tuple[str, str, str]  # model, trained on, tested on


@dataclass(frozen=True, slots=True)
class TransferGrid:
    """The accuracies of some models over the variants of a factor."""

    title: str
    rows: Sequence[tuple[str, str]]  # model, trained on
    columns: Sequence[str]
    scores: Mapping[TransferKey, Score | None]


def section(records: ReportRuns | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        return _build_study(records)
    grids = list(_build_grids([r for r in drop_variants(records).runs if r.trained and not read_role(r.spec)]))
    floor = _find_floor(grids)
    lead = (
        f"{LEAD} All entries of a map are over the question types that all of its tests have, weighted alike. "
        f"Colours run from {format_percent(floor, 0)} to 100%."
    )
    return Section("Transfer matrix", [_render_maps(grids, floor), *map(_build_table, grids)], lead) if grids else None


def _build_table(grid: TransferGrid) -> Table:
    """The same as figures with their intervals."""
    heads = [TableHead("Model"), TableHead("Trained on"), *(numeric(f"on {column}") for column in grid.columns)]
    rows: list[Row] = [
        [*row, *(score_cell(grid.scores.get((*row, column))) for column in grid.columns)] for row in grid.rows
    ]
    return Table(f"{grid.title}, with intervals", heads, rows, folded=True)


def _build_study(matrix: TransferMatrix) -> Section | None:
    """Nothing where a study has one training and one test set, whose results have a table of their own."""
    if len(matrix.study.pairs) == 1:
        return None
    parts: list[Child] = []
    study, used = matrix.study, select_grids(matrix)
    for group in study.question_groups:
        grids = []
        for grid in used:
            trained, tested = dict(grid.trained), dict(grid.tested)
            keys = [(m, row, at) for m in study.models for row in trained for at in tested]
            scores = {(m, row, at): matrix.find_score(m, trained[row], tested[at], group) for m, row, at in keys}
            rows = [row for row in dict.fromkeys(key[:2] for key in keys) if any(scores[*row, at] for at in tested)]
            if rows:
                grids.append(TransferGrid(grid.title.capitalize(), rows, [*tested], scores))
        if grids:
            parts += [tag("h3", f"{group} questions".capitalize()), _render_maps(grids, _find_floor(grids))]
    parts += map(render_note, describe_caveats(used))
    tables = [accuracy_table(one, grid) for one in (matrix, matrix.validation) if one for grid in used]
    for positions in study.positions[1:]:
        shown = {Contender(model, positions).label for model in study.models} & {key[0] for key in matrix.entries}
        tables += [accuracy_table(matrix, grid, positions) for grid in used if shown]
    lead = f"Table 1. {LEAD} A dash is an entry that is not finished, or a test without such questions."
    return Section("Transfer matrix", [*parts, *tables], lead)


def accuracy_table(matrix: TransferMatrix, grid: FactorGrid, positions: str = DEFAULTS.positions) -> Table:
    """Every training of a factor beside every test, all from the same positions; reported figures below measured ones.

    Each test has a column for each group of questions. A model that is planned and not measured is a row of dashes.
    """
    study, groups = matrix.study, matrix.study.question_groups
    usual = positions == DEFAULTS.positions
    rows: list[tuple[str, ...]] = []
    for model in study.planned if usual else study.list_positioned(positions):
        for name, trained in grid.trained:
            label = Contender(model, positions).label
            scores = (matrix.find_score(label, trained, at, group) for _, at in grid.tested for group in groups)
            rows.append((model, name, *map(format_figure, scores)))
        reported = select_reported(matrix, groups[0])
        if (paper_name := reported.find_model(model)) and usual:
            for name, _ in grid.trained:
                shares = [reported.find("accuracy", paper_name, grid.factor, name, test) for test, _ in grid.tested]
                cells = [
                    cell for share in shares for cell in (format_percent(share, DIGITS), *("" for _ in groups[1:]))
                ]
                rows.append((f"{paper_name}, reported", name, *cells))
    heads = [f"on {name}{'' if group == groups[0] else f', {group}s'}" for name, _ in grid.tested for group in groups]
    title = ", ".join(
        [
            f"Table 1, {grid.title}",
            *([] if usual else [f"{positions} positions"]),
            *([] if matrix.split == "test" else ["validation split"]),
        ]
    )
    notes = [*grid.notes.values(), grid.caveat]
    return Table(title, ("model", "trained on", *heads), tuple(rows), " ".join(filter(None, notes)), folded=True)


def _find_floor(grids: Iterable[TransferGrid]) -> float:
    """Where the colours begin: the lowest accuracy, rounded down to a ten."""
    values = [s.value for grid in grids for s in grid.scores.values() if s and s.value is not None]
    return min(int(min(values, default=0.0) * 10) / 10, 0.9)


def _build_grids(runs: Sequence[ReportRun]) -> Iterator[TransferGrid]:
    """One per factor whose variants were run, and one for what belongs to none."""
    placed: set[int] = set()
    models = tuple(dict.fromkeys(r.model for r in runs))
    for factor, variants in sorted(VARIANTS.items(), key=lambda item: item[0] in TESTS_ONLY):  # widest last
        tests = (*variants, *TESTS_ONLY.get(factor, ()))
        entries = {(r.model, find_level(r.trained, factor), find_level(r.test, factor)): r for r in runs}
        inside = {at: r for at, r in entries.items() if at[1] in variants and at[2] in tests}
        several = [m for m in models if any(len({at[k] for at in inside if at[0] == m}) > 1 for k in (1, 2))]
        inside = {at: r for at, r in inside.items() if at[0] in several}
        if inside:
            placed |= {id(r) for r in inside.values()}
            yield _build_grid(load_factors()[factor].title, models, variants, tests, inside)
    rest = {(r.model, r.trained, r.test): r for r in runs if id(r) not in placed}
    if any(sum(at[0] == model for at in rest) > 1 for model in models):
        rows, columns = (tuple(dict.fromkeys(at[k] for at in rest)) for k in (1, 2))
        yield _build_grid(OTHER_VARIANTS, models, rows, columns, rest)


def _build_grid(
    title: str,
    models: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
    entries: dict[TransferKey, ReportRun],
) -> TransferGrid:
    """Over the question types that all tests have."""
    ordered = sorted(entries, key=lambda at: (models.index(at[0]), rows.index(at[1]), columns.index(at[2])))
    each = [one for at in ordered for one in entries[at].each]
    mixture = reweight_question_types([one.records for one in each])
    weights = {id(one): w for one, w in zip(each, mixture.weights, strict=True)}
    weights |= {id(run): weights[id(run.each[0])] for run in entries.values()}
    scores = {at: measure_weighted_accuracy(entries[at], weights) for at in ordered}
    note = "" if mixture.shared == mixture.types else f", {mixture.shared} of {mixture.types} question types"
    there = {column for _, _, column in entries}
    return TransferGrid(
        title + note, list(dict.fromkeys(at[:2] for at in ordered)), [c for c in columns if c in there], scores
    )


def _render_maps(grids: Sequence[TransferGrid], floor: float) -> Html:
    def build_tile(scores: Mapping[TransferKey, Score | None], row: tuple[str, str], column: str) -> HeatTile | None:
        score = scores.get((*row, column))
        if score is None or score.value is None:
            return None
        own = scores.get((*row, row[1])) if column != row[1] else None
        lacking = "" if score.complete else f"; {format_percent(score.response_rate, 0)}% answered"
        return HeatTile(
            format_percent(score.value),
            (score.value - floor) / (1 - floor),
            format_points(score.value - own.value) if own and own.value is not None else "",
            describe_score(f"{row[0]} trained on {row[1]}, tested on {column}", score, lacking),
            marked=row[1] == column,
        )

    corner = "trained on, below; tested on, right"
    maps = [render_heat_map(g.title, g.rows, g.columns, partial(build_tile, g.scores), corner) for g in grids]
    return tag("div", maps, class_="heats")
