"""Board: the stored cells that belong together, and the figures they give, each with its interval.

All tests of a scale show the same scenes in the same order, so scenes are resampled together in all cells:
differences and ratios between cells are paired ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

import numpy as np

from ...canonical import content_id
from ...errors import UserError
from ...metrics._interval import Scenes
from ...metrics._resample import Resampling, interval
from ...metrics._shares import known
from ...metrics._statistics import Paired, paired
from ...metrics.relative_degrade import relative_degrade
from ...result import Floats, Score
from ...suites._superclevr_variants import RD
from .cell import Cell, Diagnosis, Record, Training
from .matrix import EXACT, Domain, Grid, Trained
from .outcome import Outcome
from .scale import Scale

Key = tuple[str, Trained, Domain]  # model, training, test
R = TypeVar("R", Cell, Training, Diagnosis)


@lru_cache(maxsize=256)
def asked_order(tested: Domain, scale: Scale) -> str:
    """Names the data that today's code makes for a test."""
    return content_id(tested.order(scale).spec())


@lru_cache(maxsize=256)
def train_order(trained: Trained, scale: Scale) -> str:
    """Names the data that today's code trains on: scenes, and questions of their level."""
    questions = Domain.of(trained.questions).order(scale).spec()
    return content_id([trained.scenes.order(scale).spec(), questions])


@dataclass(frozen=True, slots=True, eq=False)
class Degrade:
    """A Relative Degrade with its replicates, for differences and ratios."""

    value: float
    low: float | None
    high: float | None
    replicates: Floats
    scenes: int

    def against(self, other: Degrade) -> tuple[float, float | None, float | None]:
        """This less the other, with a paired interval."""
        value = self.value - other.value
        return value, *_ends(self.replicates - other.replicates, value, self.scenes)

    def over(self, other: Degrade) -> tuple[float, float | None, float | None]:
        """This as a multiple of the other, with a paired interval."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = self.replicates / other.replicates
        value = self.value / other.value if other.value else float("nan")
        return value, *_ends(ratios, value, self.scenes)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """The cells of one scale that fit together; what was left out, and why."""

    scale: Scale
    cells: dict[Key, Cell]
    trainings: dict[Trained, Training]
    diagnoses: tuple[Diagnosis, ...]
    left_out: tuple[tuple[str, str], ...]  # file, reason
    _sheets: dict[str, _Sheet] = field(default_factory=dict)

    def mixed(self, field: str) -> dict[str, list[Trained]]:
        """The rows shown by their recipe, version or device: more than one of these is worth a word."""
        found: dict[str, list[Trained]] = {}
        for cell in self.cells.values():
            rows = found.setdefault(getattr(cell.origin, field), [])
            if cell.trained not in rows:
                rows.append(cell.trained)
        return found

    def outcome(self, model: str, trained: Trained, tested: Domain, sort: str) -> Outcome | None:
        cell = self.cells.get((model, trained, tested))
        found = cell.outcome(sort) if cell else None
        return found if found and found.asked else None

    def score(self, model: str, trained: Trained, tested: Domain, sort: str) -> Score | None:
        """Accuracy; None where the cell is not finished or its test has no such questions."""
        return self._sheet(sort).scores.get((model, trained, tested))

    def degrade(self, model: str, grid: Grid, form: str, sort: str) -> Degrade | None:
        """Relative Degrade of a factor; None unless all the cells that the form needs are finished."""
        sheet = self._sheet(sort)
        keys = {(row, column): (model, t, at) for row, t in grid.trained for column, at in grid.tested}
        there = {cell: key for cell, key in keys.items() if key in sheet.scores}
        values = {cell: sheet.scores[key].value or 0.0 for cell, key in there.items()}
        replicates = {cell: sheet.replicates(key) for cell, key in there.items()}
        try:
            value = relative_degrade(values, grid.factor, form)
        except UserError:  # a cell is missing, or nothing is right: no figure rather than half of one
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = relative_degrade(replicates, grid.factor, form)
        scenes = self.scale.tested
        return Degrade(value, *_ends(drawn, value, scenes), drawn, scenes)

    def compare(self, first: str, second: str, trained: Trained, tested: Domain, sort: str) -> Paired | None:
        """Two models of one training on the same questions: the first less the second."""
        a, b = (self.outcome(model, trained, tested, sort) for model in (first, second))
        return paired(a.hits(), b.hits(), Scenes(a.clusters())) if a and b else None

    def _sheet(self, sort: str) -> _Sheet:
        if sort not in self._sheets:
            self._sheets[sort] = _Sheet(self, sort)
        return self._sheets[sort]


class _Sheet:
    """Accuracies of one sort of question in all cells, resampled together."""

    def __init__(self, board: Board, sort: str) -> None:
        there = [(key, out) for key in board.cells if (out := board.outcome(*key, sort))]
        self.place = {key: k for k, (key, _) in enumerate(there)}
        self.scores: dict[Key, Score] = {}
        if not there:
            return
        images = board.scale.tested
        hits, asked = np.zeros((2, len(there), images))
        for k, (_, outcome) in enumerate(there):
            clusters = outcome.clusters()
            asked[k] = np.bincount(clusters, minlength=images)
            hits[k] = np.bincount(clusters, outcome.hits(), minlength=images)
        scene = np.tile(np.arange(images), len(there))
        at = np.repeat(np.arange(len(there)), images)
        made = Scenes(scene).shares(hits.ravel(), asked.ravel(), at, len(there))
        drawn = Resampling(scene)
        self._right = drawn.sums(hits.ravel(), at, len(there))
        self._asked = drawn.sums(asked.ravel(), at, len(there))
        for k, (key, outcome) in enumerate(there):
            self.scores[key] = Score(
                "accuracy",
                float(made.value[k]),
                outcome.asked,
                known(made.low[k]),
                known(made.high[k]),
                undefined=outcome.undefined,
                scenes=int(made.scenes[k]),
            )

    def replicates(self, key: Key) -> Floats:
        k = self.place[key]
        with np.errstate(invalid="ignore", divide="ignore"):
            made: Floats = self._right[:, k] / self._asked[:, k]
        return made


def board_of(records: Iterable[Record], scale: Scale) -> Board:
    """The records of a scale that fit together.

    Left out are cells of data that today's code would make otherwise, and, where a test was asked in several
    forms, or a row or a question parser was trained several times, all but the form or training with the
    most cells (the latest, where these are as many). Rows of redundancy must have the default's scene parser;
    all rows of a level and seed one question parser; and a row's cells, where they tell, one calibration.
    """
    own = [r for r in records if r.origin.scale == scale]
    left: list[tuple[str, str]] = []

    def sift(rows: Sequence[R], good: Callable[[R], bool], reason: str) -> list[R]:
        left.extend((r.name, reason) for r in rows if not good(r))
        return [r for r in rows if good(r)]

    cells = [r for r in own if isinstance(r, Cell)]
    cells = sift(cells, lambda c: c.origin.train_order == train_order(c.trained, scale), OLD_TRAINING)
    cells = sift(cells, lambda c: c.asked.order == asked_order(c.tested, scale), OLD_TEST)
    forms = _chosen(cells, lambda c: c.tested, lambda c: c.asked.questions)
    cells = sift(cells, lambda c: c.asked.questions == forms[c.tested], OTHER_TEST)
    readers = _chosen(cells, _reader, lambda c: c.origin.hash_of("question_parser"))
    cells = sift(cells, lambda c: c.origin.hash_of("question_parser") == readers[_reader(c)], OTHER_READER)
    main = [c for c in cells if c.trained.questions == RD]
    rows = _chosen(main, lambda c: c.trained, lambda c: c.origin.weights)
    shared = {trained: dict(weights)["scene_parser"] for trained, weights in rows.items()}

    def shares(cell: Cell) -> bool:
        base = shared.get(Trained(cell.trained.scenes, RD, cell.trained.seed))
        return base is None or cell.origin.hash_of("scene_parser") == base

    cells = sift(cells, lambda c: c.trained.questions == RD or shares(c), OTHER_SCENES)
    rows = _chosen(cells, lambda c: c.trained, lambda c: c.origin.weights)
    cells = sift(cells, lambda c: c.origin.weights == rows[c.trained], OTHER_WEIGHTS)
    telling = [c for c in cells if c.model == EXACT and c.origin.learned is not None]
    learned = _chosen(telling, lambda c: c.trained, lambda c: c.origin.learned)

    def told(cell: Cell) -> bool:
        return cell.model != EXACT or cell.origin.learned in (None, learned.get(cell.trained))

    cells = sift(cells, told, OTHER_LEARNED)
    latest: dict[Key, Cell] = {}
    for cell in sorted(cells, key=lambda c: (c.origin.made, c.name)):
        key = (cell.model, cell.trained, cell.tested)
        if key in latest:
            left.append((latest[key].name, AGAIN))
        latest[key] = cell
    trainings = {
        r.trained: r
        for r in sorted((r for r in own if isinstance(r, Training)), key=lambda r: (r.origin.made, r.name))
        if r.origin.weights == rows.get(r.trained)
    }
    diagnoses: dict[tuple[Trained, Domain], Diagnosis] = {}
    for one in sorted((r for r in own if isinstance(r, Diagnosis)), key=lambda r: (r.origin.made, r.name)):
        if one.origin.weights == rows.get(one.trained) and one.asked.questions == forms.get(one.tested):
            older = diagnoses.get((one.trained, one.tested))
            diagnoses[one.trained, one.tested] = one.beside(older) if older else one
    return Board(
        scale, dict(sorted(latest.items())), trainings, tuple(diagnoses.values()), tuple(sorted(left))
    )


OLD_TRAINING = "it was trained on data that would be made otherwise today"
OLD_TEST = "its test would be made otherwise today"
OTHER_TEST = "its test had other questions than those of most cells"
OTHER_SCENES = "its scene parser is not the default's"
OTHER_READER = "its question parser is not that of most cells of its level and seed"
OTHER_LEARNED = "its calibration, relations or attuning are not those of most cells of its row"
OTHER_WEIGHTS = "its row was trained again, or has more cells of another training"
AGAIN = "the same cell was made again later"


def scales_of(records: Iterable[Record]) -> list[Scale]:
    """The scales that there are records of, the largest first."""
    return sorted({r.origin.scale for r in records}, key=lambda s: (-s.images, s.name))


def _reader(cell: Cell) -> tuple[str, int]:
    """What a question parser learned from, and its seed."""
    return cell.trained.questions, cell.trained.seed


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Hashable)


def _chosen(cells: Sequence[Cell], group: Callable[[Cell], K], by: Callable[[Cell], V]) -> dict[K, V]:
    """For each group the value that most cells have, each place counted once; the latest where as many."""
    places: dict[K, dict[V, set[Key]]] = {}
    latest: dict[tuple[K, V], str] = {}
    for cell in cells:
        k, v = group(cell), by(cell)
        places.setdefault(k, {}).setdefault(v, set()).add((cell.model, cell.trained, cell.tested))
        latest[k, v] = max(latest.get((k, v), ""), cell.origin.made)
    return {
        k: max(values, key=lambda v: (len(values[v]), latest[k, v], str(v))) for k, values in places.items()
    }


def _ends(replicates: Floats, value: float, scenes: int) -> tuple[float | None, float | None]:
    low, high = interval(replicates[:, None], value, scenes)
    return known(low[0]), known(high[0])
