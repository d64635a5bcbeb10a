"""StudySpec: which models, trainings, test sets and conditions a study goes through, and where its records go."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import UserError, unknown
from ...executor import ONE_PROCESS, Executor
from ...model import DEFAULTS, NO_ADAPTATION
from ...suites.study import Contender, StudyRow, find_family, list_contenders, load_study
from .test_sets import TEST


@dataclass(frozen=True, slots=True)
class StudySpec:
    """What to study, and where it goes."""

    suite: str
    out: Path
    cells: Path  # where entries are stored: a folder, or FILE.jsonl
    scale: Any
    models: tuple[str, ...]
    factors: tuple[str, ...]
    visual: str = "mid"
    known: Path | None = None  # entries of earlier studies, which are not made again
    seeds: tuple[int, ...] = (0,)
    only: tuple[str, ...] = ()  # trainings, as their factors call them
    tests: tuple[str, ...] = ()  # test sets, as their factors call them; else all
    positions: tuple[str, ...] = (DEFAULTS.positions,)
    adapts: tuple[str, ...] = (NO_ADAPTATION,)
    splits: tuple[str, ...] = (TEST,)
    device: str = "auto"
    workers: int = 1
    executor: Executor = ONE_PROCESS  # a cluster's trains parts at once
    minutes: float | None = None
    runs: bool = False  # write each entry as a run folder too
    command: str = ""
    background: bool | None = None  # make data in the background; None: if there is a GPU

    def __post_init__(self) -> None:
        study = load_study(self.suite)
        for noun, given, known in (
            ("model", self.models, study.models),
            ("way to tell positions", self.positions, study.positions),
            ("adaptation", self.adapts, study.adaptations),
            ("split", self.splits, ("test", "val")),
        ):
            for name in given:
                if name not in known:
                    raise unknown(noun, name, known, "a study")
        if not (self.models and self.factors and self.positions and self.adapts and self.splits):
            raise UserError("a study needs at least one model, factor, way to tell positions, adaptation and split")
        if NO_ADAPTATION not in self.adapts:
            raise UserError("a study that adapts also runs without; add none to --adapt")
        if self.minutes is not None and self.minutes <= 0:
            raise UserError(f"{self.minutes:g} minutes are too few; give more, or omit --minutes")
        self.list_rows()  # refuses what is not in the matrix

    def list_rows(self) -> list[StudyRow]:
        study = load_study(self.suite)
        return study.plan_rows(self.factors, self.visual, seeds=self.seeds, only=self.only, tests=self.tests)

    def list_contenders(self, family: str) -> list[Contender]:
        models = [model for model in self.models if find_family(model) == family]
        return list_contenders(models, self.positions, self.adapts)
