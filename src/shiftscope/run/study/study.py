"""Study: train every row of a matrix, ask it everything, and keep each cell as soon as it is done.

The same call again goes on with the next cell that is not there. On a GPU, data are made in the background
while a row is trained or asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ... import __version__
from ...canonical import content_id
from ...errors import UserError, unknown
from ...models._weights import QUESTIONS, SCENE, write_joined
from ...models._weights import Trained as Weights
from ...models.p_nsvqa_exact import ATTUNED, ATTUNING
from ...store.lock import locked, locked_name
from ..train.device import accelerator_for, device_name
from ..train.train import Bar, need_torch, no_bar
from .ahead import Ahead, working_ahead
from .board import Board, board_of, train_order
from .cell import Cell, Diagnosis, Origin, Record, Training
from .diagnose import diagnose
from .exam import Exam, Exams
from .matrix import EXACT, FACTORS, MODELS, Domain, Row, Trained, plan, scene_parsers
from .pipeline import Clock, Eyes, Reader, ask, look, stage_of
from .runs import write_runs
from .scale import SCALES, Scale
from .shelf import Shelf
from .weights import Parser, finished, prepare, recipe_id, shipped, train_parser

FOLDER = re.compile(r"(?<= )/\S*/")  # of this machine: who runs a command again has another
WEIGHTS, JOINED, RUNS = "weights", "models", "runs"  # folders of a study: parsers, models of two, answers
SPARE = 1.1  # a training is begun if there is time for one that takes so much longer than the longest


@dataclass(frozen=True, slots=True)
class Order:
    """What to study, and where it goes."""

    out: Path
    cells: Path  # a folder, or FILE.jsonl
    known: Path | None = None  # cells of earlier studies, which are not made again
    models: tuple[str, ...] = MODELS
    factors: tuple[str, ...] = FACTORS
    visual: str = "mid"
    scale: Scale = SCALES["small"]
    seeds: tuple[int, ...] = (0,)
    only: tuple[str, ...] = ()  # trainings, as their factors call them
    device: str = "auto"
    workers: int = 1
    minutes: float | None = None
    runs: bool = False  # write each cell as a run too
    command: str = ""
    apart: bool | None = None  # make data in the background; None: if there is a GPU

    def __post_init__(self) -> None:
        for model in self.models:
            if model not in MODELS:
                raise unknown("model", model, MODELS, "a study")
        if not self.models or not self.factors:
            raise UserError("a study needs at least one model and one factor")
        if self.minutes is not None and self.minutes <= 0:
            raise UserError(f"{self.minutes:g} minutes are too few; give more, or leave out --minutes")
        self.rows()  # refuses what is not in the matrix

    def rows(self) -> list[Row]:
        return plan(self.factors, self.visual, seeds=self.seeds, only=self.only)

    @property
    def writes_runs(self) -> bool:
        """At any scale but the paper's, whose runs are large, always."""
        return self.runs or self.scale.name != "paper"


Tell = Callable[[str], None]


def study(order: Order, *, tell: Tell = lambda sentence: None, bar: Bar = no_bar) -> Iterator[Record]:
    """Each record as it is kept; ends early, between rows, when the minutes are over."""
    need_torch("nsvqa")
    return _Study(order, tell, bar).run()


class _Made(NamedTuple):
    """What rows of one scene parser are asked with."""

    weights: dict[Parser, Weights]
    eyes: Eyes
    readers: dict[Parser, Reader]


class _Study:
    """One study under way."""

    def __init__(self, order: Order, tell: Tell, bar: Bar) -> None:
        self.order, self.tell, self.bar = order, tell, bar
        self.began = time.monotonic()
        self.shelf = Shelf(order.cells)
        accelerator = accelerator_for(order.device)
        self.device = "cpu" if accelerator.device.type == "cpu" else str(accelerator.device)
        self.device_name = device_name(accelerator.device)
        self.exams = Exams(order.scale, device=self.device, workers=order.workers, whole=order.writes_runs)
        self.folder = order.out / WEIGHTS
        self.apart = self.device != "cpu" if order.apart is None else order.apart
        self.longest_training = self.longest_asking = 0.0
        self.readers: dict[Parser, Reader] = {}

    def run(self) -> Iterator[Record]:
        lines = locked_name(self.shelf.path) if self.shelf.is_lines else nullcontext()
        with locked(self.order.out), lines:
            yield from self._records()

    def _records(self) -> Iterator[Record]:
        stored = self.shelf.records()
        if self.order.known is not None:
            stored += Shelf(self.order.known).records()
        board = board_of(stored, self.order.scale)
        self.done = {key: _rests_on(key[0], cell.origin) for key, cell in board.cells.items()}
        self.kept = {one.trained: one.origin.weights for one in board.trainings.values()}
        self.rests = _rests(board)
        self.diagnosed = {(d.trained, d.tested): d for d in board.diagnoses}
        groups = [rows for _, _, rows in scene_parsers(self.order.rows())]
        left = [rows for rows in groups if not self._finished(rows)]
        if len(left) < len(groups):
            self.tell(
                f"{len(groups) - len(left)} of {len(groups)} scene parsers have all their cells already"
            )
        self.tests = {row.trained: self._tests(row) for rows in left for row in rows}
        to_learn = self._makers(parser for rows in left for parser in self._parsers(rows))
        to_ask = [
            partial(self.exams.get, at) for rows in left for row in rows for at in self.tests[row.trained]
        ]
        # Each holds images: of lessons there is one more in memory, of exams two.
        with (
            working_ahead(to_learn, 1 if self.apart else 0) as lessons,
            working_ahead(to_ask, 2 if self.apart else 0) as exams,
        ):
            for rows in left:
                if not self._time_for_another():
                    self.tell("the minutes are over; the same command goes on from here")
                    break
                yield from self._asked(rows, self._learned(rows, lessons), exams)

    def _finished(self, rows: Sequence[Row]) -> bool:
        """Whether all cells of these rows are there, so that nothing is to be trained or asked."""
        wanted = [(m, row.trained, at) for row in rows for m in self.order.models for at in row.tests]
        home = [row.trained for row in rows if row.trained == Trained()]
        told = all(self._tells_of_all(self.diagnosed.get((one, Domain()))) for one in home)
        return told and all(key in self.done for key in wanted) and not any(map(self._is_outdated, rows))

    def _is_outdated(self, row: Row) -> bool:
        """Whether exact inference was asked with these very weights, but rests on something else today."""
        seeing, reading = map(self._found, self._parsers([row]))
        if seeing is None or reading is None or EXACT not in self.order.models:
            return False
        weights, learned = _rests_on(EXACT, self._origin(row.trained, seeing, reading))
        before = [self.done[EXACT, row.trained, at] for at in row.tests]
        return any(old == weights and other != learned for old, other in before)

    def _time_for_another(self) -> bool:
        if self.order.minutes is None:
            return True
        longest = self.longest_training + self.longest_asking
        return time.monotonic() + SPARE * longest < self.began + 60 * self.order.minutes

    def _tests(self, row: Row) -> tuple[Domain, ...]:
        """What a row is still to be asked: all of its tests, where its parsers are yet to be trained."""
        seeing, reading = map(self._found, self._parsers([row]))
        if seeing is None or reading is None:
            return row.tests
        origin = self._origin(row.trained, seeing, reading)

        def left(tested: Domain) -> bool:
            home = row.trained == Trained() and tested == Domain()
            return (home and not self._is_diagnosed(origin, tested)) or bool(self._left(origin, tested))

        return tuple(filter(left, row.tests))

    def _left(self, origin: Origin, tested: Domain) -> list[str]:
        """The models whose cell is still to be made."""
        models, trained = self.order.models, origin.trained
        return [m for m in models if self.done.get((m, trained, tested)) != _rests_on(m, origin)]

    def _is_diagnosed(self, origin: Origin, tested: Domain) -> bool:
        there = self.diagnosed.get((origin.trained, tested))
        return (
            there is not None
            and self._tells_of_all(there)
            and _rests_on(EXACT, there.origin) == _rests_on(EXACT, origin)
        )

    def _tells_of_all(self, diagnosis: Diagnosis | None) -> bool:
        return diagnosis is not None and set(self.order.models) <= set(diagnosis.models)

    # --- training: the scene parser that some rows share, and their question parsers -------------------

    def _parsers(self, rows: Sequence[Row]) -> list[Parser]:
        """The scene parser of the rows, then the question parser of each of their levels."""
        trained, scale = rows[0].trained, self.order.scale
        levels = dict.fromkeys(row.trained.questions for row in rows)
        return [
            Parser(SCENE, trained.scenes, trained.seed, scale),
            *(Parser(QUESTIONS, Domain.of(level), trained.seed, scale) for level in levels),
        ]

    def _makers(self, parsers: Iterable[Parser]) -> Iterator[Callable[[], Any]]:
        """Of lessons; a parser that several groups of rows need learns with the first of them."""
        seen: set[Parser] = set()
        for parser in parsers:
            yield (lambda: None) if parser in seen else partial(self._lessons, parser)
            seen.add(parser)

    def _lessons(self, parser: Parser) -> Any:
        """What a parser learns from; nothing where it is trained already."""
        if self._found(parser) is not None:
            return None
        return prepare(parser, device=self.device, workers=self.order.workers)

    def _learned(self, rows: Sequence[Row], ahead: Ahead) -> _Made:
        """The parsers, built to be asked."""
        start = time.monotonic()
        weights = {parser: self._trained(parser, ahead.next()) for parser in self._parsers(rows)}
        self.longest_training = max(self.longest_training, time.monotonic() - start)
        scenes, *levels = weights
        for level in levels:
            if level not in self.readers:
                self.readers[level] = Reader(weights[level], self.device)
        return _Made(weights, Eyes(weights[scenes], self.device), {k: self.readers[k] for k in levels})

    def _trained(self, parser: Parser, lessons: Any) -> Weights:
        found = self._found(parser)
        if found is not None:
            return found
        self.tell(f"training {parser.name}")
        if parser.part == QUESTIONS and self._known_hash(parser):
            self.tell(
                f"stored cells rest on another training of {parser.name}, which is not in {self.folder}: "
                "only those of the training with more cells will be shown"
            )
        return train_parser(
            parser,
            lessons,
            self.folder,
            device=self.order.device,
            command=self.order.command,
            bar=self.bar,
        )

    def _found(self, parser: Parser) -> Weights | None:
        """The parser as it was trained before: here, or as it is shipped where stored cells rest on that."""
        return finished(parser, self.folder) or shipped(parser.part, self._known_hash(parser))

    def _known_hash(self, parser: Parser) -> str | None:
        return self.rests.get((parser.part, parser.domain, parser.seed))

    # --- asking: the rows of a scene parser, and their cells -------------------------------------------

    def _asked(self, rows: Sequence[Row], made: _Made, ahead: Ahead) -> Iterator[Record]:
        """The cells of rows, test by test."""
        start = time.monotonic()
        eyes = made.eyes
        for row in rows:
            scenes, questions = self._parsers([row])
            seeing, reading, reader = made.weights[scenes], made.weights[questions], made.readers[questions]
            origin = self._origin(row.trained, seeing, reading)
            name = row.trained.label.replace("@", "-").replace(" ", "-")
            write_joined(self.order.out / JOINED / name, seeing, reading)  # as a model to be used
            yield from self._training(origin, seeing, reading)
            for tested in self.tests[row.trained]:
                exam = ahead.next()
                yield from self._cells(origin, exam, eyes, reader)
                if row.trained == Trained() and tested == Domain():
                    yield from self._diagnosis(origin, exam, eyes, reader)
        self.longest_asking = max(self.longest_asking, time.monotonic() - start)

    def _origin(self, trained: Trained, seeing: Weights, reading: Weights) -> Origin:
        return Origin(
            self.order.scale,
            trained,
            _hashes(seeing, reading),
            train_order(trained, self.order.scale),
            recipe_id(seeing, reading),
            self.device_name,
            __version__,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            content_id([*(seeing.about.get(key) for key in ("calibration", "spatial")), ATTUNED, ATTUNING]),
        )

    def _training(self, origin: Origin, seeing: Weights, reading: Weights) -> Iterator[Record]:
        if self.kept.get(origin.trained) == origin.weights:
            return
        seconds = {f"scenes, {k}": v for k, v in seeing.about["seconds"].items()}
        seconds |= {f"questions, {k}": v for k, v in reading.about["seconds"].items()}
        found = {**seeing.about[SCENE]["val"], "program": reading.about[QUESTIONS]["val"]["exact"]}
        commands = (seeing.about[SCENE].get("command"), reading.about[QUESTIONS].get("command"))
        record = Training(
            origin,
            tuple((k, float(v)) for k, v in seconds.items()),
            tuple((k, float(v)) for k, v in found.items()),
            FOLDER.sub("", "; ".join(dict.fromkeys(filter(None, commands)))),
        )
        self.shelf.add(record)
        yield record

    def _cells(self, origin: Origin, exam: Exam, eyes: Eyes, reader: Reader) -> Iterator[Record]:
        tested = exam.asked.tested
        left = self._left(origin, tested)
        if not left:
            return
        clock = Clock()
        seen = look(left, exam.pixels, eyes, clock)
        said = ask(exam, seen, reader, eyes, clock)
        for model in left:
            taken = clock.seconds
            seconds = (
                ("make", exam.seconds),
                ("see", taken[stage_of(model)]),
                ("read", taken["read"]),
                ("execute", taken[model]),
            )
            outcomes = tuple((s, said[model][s].outcome(sheet)) for s, sheet in exam.sheets.items())
            rounded = tuple((name, round(value, 3)) for name, value in seconds)
            learned = _rests_on(model, origin)[1]
            own = replace(origin, learned=learned)
            cell = Cell(model, own, exam.asked, outcomes, rounded, seen[model].attuned)
            if self.order.writes_runs:
                write_runs(self.order.out / RUNS, model, origin, exam, said[model], self.order.visual)
            self.shelf.add(cell)
            yield cell

    def _diagnosis(self, origin: Origin, exam: Exam, eyes: Eyes, reader: Reader) -> Iterator[Record]:
        if self._is_diagnosed(origin, exam.asked.tested):
            return
        seen = look(self.order.models, exam.pixels, eyes, Clock())
        record = diagnose(exam, seen, reader, eyes, origin)
        self.shelf.add(record)
        yield record


def _hashes(seeing: Weights, reading: Weights) -> tuple[tuple[str, str], ...]:
    return (SCENE, seeing.about[SCENE]["blake2b"]), (QUESTIONS, reading.about[QUESTIONS]["blake2b"])


def _rests_on(model: str, origin: Origin) -> tuple[tuple[tuple[str, str], ...], str | None]:
    """What a model's answers depend on: weights, and only exact inference on what was learned besides."""
    return origin.weights, origin.learned if model == EXACT else None


def _rests(board: Board) -> dict[tuple[str, Domain, int], str]:
    """The hashes of the parsers that stored cells rest on: by part, what it learned from, and seed."""
    found: dict[tuple[str, Domain, int], str] = {}
    for cell in board.cells.values():
        trained = cell.trained
        found[SCENE, trained.scenes, trained.seed] = cell.origin.hash_of(SCENE)
        found[QUESTIONS, Domain.of(trained.questions), trained.seed] = cell.origin.hash_of(QUESTIONS)
    return found
