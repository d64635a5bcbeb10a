"""Collection: the datasets, audits and runs that were opened, and how they belong together.

Runs and audits are joined to the questions they are about by the content of the dataset, never by name alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..columns import Column
from ..errors import UserError
from ..files import resolve_links
from ..report.runs import ReportRun, arrange_runs
from ..result import MISSING, Prediction
from ..run.question_source import VqaFiles
from ..shortcuts.audit_folder import check_audit, has_audit_traces, read_audited_dataset, read_shortcut_marks
from ..store.dataset import data_id, refuse_study
from ..store.manifest import MANIFEST_FILE
from ..store.run_log import PLACES_FIELD, RUN_FILE, read_rows, read_run, read_spec
from ..url_path import parse_path
from .question_index import TWIN, DatasetQuestions, QuestionIndex, VqaQuestions

RIGHT, WRONG, UNANSWERED, NOT_RUN = "right", "wrong", "unanswered", "not run"
OUTCOMES = (RIGHT, WRONG, UNANSWERED, NOT_RUN)  # `wrong` is a wrong answer; without any a row is unanswered


@dataclass(frozen=True, eq=False)
class RunView:
    """A run over the rows of one index."""

    run: ReportRun
    name: str  # the model, with its folder where several runs are of one
    places: npt.NDArray[np.int64]  # [row of the index] the row of the run's records, -1 where it has none
    outcome: Column  # [row of the index] one of OUTCOMES

    @cached_property
    def _predictions(self) -> dict[str, Prediction]:
        assert self.run.folder is not None
        return {p.question: p for _, p in read_rows(self.run.folder) if p.condition == self._condition}

    @property
    def _condition(self) -> str:
        return str(self.run.records.condition[0]) if len(self.run.records) else ""

    def read_prediction(self, question: str) -> Prediction | None:
        """The whole response, with its raw text; all of the run's are read with the first."""
        return self._predictions.get(question)

    def get_answer(self, row: int) -> str | None:
        at = int(self.places[row])
        return None if at < 0 else self.run.records.answer[at]

    def get_facts(self, row: int) -> dict[str, Any]:
        at = int(self.places[row])
        return {} if at < 0 else {n: c[at] for n, c in self.run.records.facts if c[at] is not None}

    def fact_column(self, name: str) -> Column | None:
        """A fact of the run's in the rows of the index."""
        column = dict(self.run.records.facts).get(name)
        return None if column is None else spread_column(column, self.places)


@dataclass(frozen=True, eq=False)
class ShortcutMarks:
    """An audit's marks over the rows of one index: which group each is in, and whether its answer is frequent there."""

    folder: Path
    groups: dict[str, Column]  # shortcut → concept
    parts: dict[str, Column]  # shortcut → head or tail; nothing where answers are balanced


@dataclass(frozen=True, eq=False)
class OpenedData:
    """A dataset or an audit, with the runs and the marks that are about its questions."""

    number: int
    name: str
    folder: Path
    index: QuestionIndex
    runs: tuple[RunView, ...] = ()
    marks: ShortcutMarks | None = None

    @cached_property
    def fact_names(self) -> tuple[str, ...]:
        """What rows can be filtered by: the questions' own facts, then those that only runs know."""
        known = self.index.fact_names
        more = dict.fromkeys(n for v in self.runs for n, _ in v.run.records.facts if n not in known)
        return (*known, *more)

    def column(self, name: str) -> Column:
        if name in self.index.fact_names:
            return self.index.column(name)
        for view in self.runs:
            if (column := view.fact_column(name)) is not None:
                return column
        raise UserError(f"{self.name} has no fact {name!r}")


@dataclass(frozen=True, eq=False)
class Collection:
    """All that was opened."""

    data: tuple[OpenedData, ...]

    def get(self, number: int) -> OpenedData:
        if not 0 <= number < len(self.data):
            raise UserError(f"there is no dataset {number} here")
        return self.data[number]

    def find_twins(self, data: OpenedData, question: Any, row: int) -> list[tuple[str, OpenedData, int]]:
        """The examples that are variants of this one, or that it is a variant of: what they are, and their rows."""
        found: list[tuple[str, OpenedData, int]] = []
        original = str(question.note(TWIN) or "")
        names = {"original": original, "pair": str(question.note("pair") or "")}
        for other in self.data:
            for what, name in names.items():
                at = other.index.find(name) if name else None
                if at is not None and (other is not data or at != row):
                    found.append((what, other, at))
            twins = find_variants(other, question.id, original)
            found += [("variant", other, at) for at in twins if other is not data or at != row]
        return list(dict.fromkeys(found))


def find_variants(data: OpenedData, question: str, original: str) -> list[int]:
    """The rows that are variants of a question, or of the same original as it."""
    if TWIN not in data.index.note_names:
        return []
    column = data.index.column(TWIN)
    wanted = [k for k, v in enumerate(column.values) if str(v) in (question, original) and v]
    rows: list[int] = np.flatnonzero(np.isin(column.codes, wanted)).tolist() if wanted else []
    return rows[:MOST_TWINS]


MOST_TWINS = 12


def spread_column(column: Column, places: npt.NDArray[np.int64]) -> Column:
    """A column of a run's or audit's rows in the rows of an index."""
    return Column(column.values, np.append(column.codes, np.int32(-1))[places].astype(np.int32))


def open_collection(folders: Sequence[Path], data: Path | None = None, images: Path | None = None) -> Collection:
    """Open datasets, audits and runs; a run brings the dataset that it is about, unless that was named."""
    places: list[Path] = [data] if data is not None else []
    runs: list[Path] = []
    for folder in folders:
        if (folder / RUN_FILE).is_file():
            runs.append(folder)
        elif (folder / MANIFEST_FILE).is_file() or has_audit_traces(folder):
            places.append(folder)
        elif not folder.exists():
            raise UserError(f"{folder}: no such folder")
        else:
            refuse_study(folder)
            raise UserError(f"{folder} is no dataset, run or audit; make one with shiftscope make, run or audit")
    pictures = {resolve_links(f): images for f in places}
    for run in runs:
        spec = read_spec(run)
        place = parse_path(str(spec.get("data") or ""))
        if not data and spec.get("data") and place.is_dir() and resolve_links(place) not in map(resolve_links, places):
            places.append(place)
            own = (spec.get(PLACES_FIELD) or {}).get("images")
            pictures.setdefault(resolve_links(place), images or (Path(own) if own else None))
    audits = [p for p in places if not (p / MANIFEST_FILE).is_file()]
    if images is not None and not audits:
        raise UserError("--images is for the pictures of an audit's VQA files; a dataset has its own: omit it")
    opened = _open_all(list(dict.fromkeys(map(resolve_links, places))), pictures)
    if not opened:
        raise UserError(f"the dataset of {runs[0]} is not where it was; name it with --data DIR")
    return Collection(_join_runs(_join_marks(opened), runs))


def _open_all(places: Sequence[Path], pictures: dict[Path, Path | None]) -> list[OpenedData]:
    datasets = {folder: DatasetQuestions(folder) for folder in places if (folder / MANIFEST_FILE).is_file()}
    opened = []
    for number, folder in enumerate(places):
        index: QuestionIndex
        if folder in datasets:
            index = datasets[folder]
        else:
            index = _open_audit(folder, pictures.get(folder), list(datasets.values()))
        opened.append(OpenedData(number, folder.name or str(folder), folder, index))
    return opened


def _open_audit(folder: Path, images: Path | None, datasets: Sequence[DatasetQuestions]) -> VqaQuestions:
    """An audit, with the dataset that it is of: one that was opened too, or the one where it was audited."""
    check_audit(folder)
    files, recorded = VqaFiles(folder, images), read_audited_dataset(folder)
    if recorded is None or images is not None:
        return VqaQuestions(files)
    place, wanted = recorded
    source = next((one for one in datasets if data_id(one.dataset) == wanted), None)
    if source is not None:
        return VqaQuestions(files, source)
    lost = f"The audit is of {place}, which {{}}; to see its pictures, open the dataset too: explore {folder} DIR"
    if not (place / MANIFEST_FILE).is_file():
        return VqaQuestions(files, lost=lost.format("is no longer there"))
    source = DatasetQuestions(place)
    if data_id(source.dataset) != wanted:
        return VqaQuestions(files, lost=lost.format("has changed since"))
    return VqaQuestions(files, source)


def _join_marks(opened: Sequence[OpenedData]) -> list[OpenedData]:
    """Audits are marks over their own questions, and over those of datasets whose questions they have."""
    audits = [one for one in opened if isinstance(one.index, VqaQuestions)]
    joined = []
    for one in opened:
        marks = next((found for a in audits if (found := _read_marks(a.folder, one.index, own=a is one))), None)
        joined.append(replace(one, marks=marks))
    return joined


def _read_marks(folder: Path, index: QuestionIndex, *, own: bool) -> ShortcutMarks | None:
    ids, groups, parts = read_shortcut_marks(folder)
    rows = index.find_rows(ids)
    if not own and not (len(rows) == len(index) and (rows >= 0).all()):
        return None  # an audit of other questions
    places = np.full(len(index), -1, np.int64)
    places[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    spread = ({name: spread_column(c, places) for name, c in columns.items()} for columns in (groups, parts))
    return ShortcutMarks(folder, *spread)


def _join_runs(opened: Sequence[OpenedData], folders: Sequence[Path]) -> tuple[OpenedData, ...]:
    if not folders:
        return tuple(opened)
    report = arrange_runs([(read_run(folder), folder) for folder in folders])
    views: dict[int, list[RunView]] = {}
    for run in report.each:
        home = next((one for one in opened if _is_about(run, one)), None)
        if home is None:
            place = run.spec.get("data") or "its dataset"
            raise UserError(f"{run.folder} is not about what was opened; open {place} too, or name it with --data DIR")
        twice = sum(one.contender == run.contender for one in report.each) > 1
        name = f"{run.contender} ({run.folder.name})" if twice and run.folder else run.contender
        views.setdefault(home.number, []).append(_build_view(run, name, home.index))
    return tuple(replace(one, runs=tuple(views.get(one.number, ()))) for one in opened)


def _is_about(run: ReportRun, one: OpenedData) -> bool:
    wanted = run.spec.get("data_id")
    if isinstance(one.index, DatasetQuestions):
        return not wanted or data_id(one.index.dataset) == wanted
    return not wanted or one.index.files.data_id() == wanted


def _build_view(run: ReportRun, name: str, index: QuestionIndex) -> RunView:
    records = run.records
    rows = np.append(index.find_rows(records.question.values), -1)[records.question.codes]
    places = np.full(len(index), -1, np.int64)
    places[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    codes = np.where(records.right, 0, np.where(records.answer.codes >= 0, 1, 2))
    codes = np.where(records.status.equals(MISSING), 3, codes).astype(np.int32)
    outcome = np.append(codes, np.int32(3))[places].astype(np.int32)
    return RunView(run, name, places, Column(OUTCOMES, outcome))
