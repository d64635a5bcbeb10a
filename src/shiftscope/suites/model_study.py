"""A study of models on one dataset: each is trained once and run on every test set; tables beside reported figures.

A suite's `study.py` may define STUDY as a `ModelStudy`, where models differ and the data do not; where data are shifted
and models are the same, it is a `Study` (study.py). Both are run by `shiftscope study SUITE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import unknown
from ..records import content_id
from ..registry import STUDIES
from .study import Finding

if TYPE_CHECKING:
    from ..store.dataset import Dataset

Figure = tuple[float | None, float | None, float | None, int]  # a share, its interval, of how many
ACCURACY, ACTION, OUTCOME = "accuracy", "action", "outcome"  # figures of a test, each by slice; "" is all of it
SEED = 0  # of all trainings


@dataclass(frozen=True, slots=True)
class ModelTraining:
    """A folder to train, in terms of those before it."""

    model: str
    world: str = ""  # a suite, or SUITE:VARIANT, whose images are drawn while training; nothing for the study's dataset
    only: str = ""  # parts, as `train --only` calls them
    other: str = ""  # the training that other parts are taken from
    folders: tuple[tuple[str, str], ...] = ()  # settings that name folders of other trainings
    settings: tuple[tuple[str, str], ...] = ()  # all others
    epochs: int | None = None  # else as many as its recipe says

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(name for name in (self.other, *(folder for _, folder in self.folders)) if name)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A row of the tables: a model, the training it uses, the condition it is run under, and the paper's name."""

    model: str
    training: str = ""
    condition: str = "as_is"
    paper: str = ""
    acts: str = ""  # the figure that what is reported by kind of action is of


@dataclass(frozen=True, slots=True)
class ModelScale:
    """How much of everything; figures of different scales are never mixed."""

    name: str
    images: int  # of the dataset, over its splits
    size: tuple[int, int]
    drawn: int = 0  # images that a training on another world draws; 0: the dataset's own are used instead
    epochs: int | None = None  # of every training; else as many as each asks for
    shard: int = 250
    limit: int | None = None  # questions of a test set that are asked; all if not given


class StudyResults:
    """The figures of a study, by row and test set; and what was trained."""

    def __init__(self, tests: Mapping[tuple[str, str], Any], trainings: Mapping[str, Any], scale: ModelScale) -> None:
        self.tests, self.trainings, self.scale = tests, trainings, scale

    def find(self, row: str, split: str, figure: str = ACCURACY, part: str = "") -> Figure | None:
        """A figure, None where it is not measured."""
        record = self.tests.get((row, split))
        found = record.figures.get(figure, {}).get(part) if record is not None else None
        return None if found is None or found[0] is None else found

    def share(self, row: str, split: str, figure: str = ACCURACY, part: str = "") -> float | None:
        found = self.find(row, split, figure, part)
        return None if found is None else found[0]


class ModelStudy:
    """What is trained, run and tabulated; the suite's folder says all of it."""

    suite: str
    title: str
    trainings: Mapping[str, ModelTraining]
    rows: Mapping[str, ModelRow]
    tests: Mapping[str, str]  # splits, and what tables call them
    slices: Sequence[tuple[str, str, tuple[str, ...], tuple[str, ...]]]  # split, column, its values, figures shown
    by: tuple[str, ...]  # columns that figures are taken by
    scales: Mapping[str, ModelScale]
    reported_tables: tuple[str, str]  # names of the tables of REPORTED: of test sets, of slices
    people: str = ""  # the paper's row for people
    terms: Mapping[str, str] = {}
    notes: Mapping[str, str] = {}

    def find_scale(self, name: str, images: int | None = None) -> ModelScale:
        if name not in self.scales:
            raise unknown("scale", name, self.scales)
        found = self.scales[name]
        return found if images is None or images == found.images else replace(found, name="custom", images=images)

    def identify_training(self, name: str) -> str:
        """Names how it is trained, and what it rests on; not how long, which tables tell."""
        plan = self.trainings[name]
        own = {key: value for key, value in asdict(plan).items() if key != "epochs"}
        return content_id([own, [self.identify_training(needed) for needed in plan.needs]])

    def build_spec(self, scale: ModelScale) -> Any:
        """The spec of the dataset."""
        raise NotImplementedError

    def measure_more(self, dataset: Dataset, split: str, run: Path) -> dict[str, dict[str, Figure]]:
        """Figures of a run that no metric of records gives."""
        return {}

    def check_findings(self, results: StudyResults) -> Iterator[tuple[str, Sequence[Finding]]]:
        """Tables of findings, each with its title."""
        return iter(())

    def list_differences(self) -> Sequence[tuple[str, str, str]]:
        """What differs from the paper: of what, there, and here."""
        return ()

    def select_rows(self, models: Sequence[str]) -> dict[str, ModelRow]:
        """The rows of these models, or all."""
        known = dict.fromkeys(row.model for row in self.rows.values())
        for model in models:
            if model not in known:
                raise unknown("model of this study", model, known)
        return {name: row for name, row in self.rows.items() if not models or row.model in models}


def load_model_study(suite: str) -> ModelStudy:
    study: ModelStudy = STUDIES.load(suite).STUDY
    return study
