"""What a suite's `held_out_study.py` defines as STUDY: trainings that lack what some tests ask, and their tables.

All trainings learn from one dataset, or from a part of its training questions, and are tested on the same questions.
The runner, the stored records and the page know no suite and no model by name: they ask the `HeldOutStudy`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ..metrics.held_out_matrix import EASY, IID, HeldOutMatrix, HeldOutTraining
from ..registry import STUDIES
from ..result import Score
from .study import Finding


class FigureCell(NamedTuple):
    """A figure as measured, and as its paper reports it; either may be missing."""

    measured: Score | None
    reported: float | None = None


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A table in the paper's layout; a cell is a figure, or words."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[FigureCell | str, ...], ...]
    note: str = ""


class HeldOutStudy:
    """A suite's study of held-out splits; a suite's own fills in the methods."""

    suite: str
    title: str
    models: tuple[str, ...]  # that are trained, in the order of the tables
    baselines: tuple[str, ...]  # that learn from answers alone, in no time
    splits: tuple[str, ...]  # named splits whose properties are marked
    scales: tuple[str, ...]
    differences: tuple[tuple[str, str, str], ...] = ()  # what differs from the paper: of what, there, and here

    @property
    def all_splits(self) -> tuple[str, ...]:
        """The named splits, and what is in-domain."""
        return IID, EASY, *self.splits

    def find_scale(self, name: str) -> Any:
        raise NotImplementedError

    def build_spec(self, scale: Any, kind: str) -> Any:
        """The suite's spec of the data that a training of that kind learns from."""
        raise NotImplementedError

    def list_trainings(
        self, models: Sequence[str], splits: Sequence[str], seeds: Sequence[int]
    ) -> list[HeldOutTraining]:
        """What is trained, the most telling first."""
        raise NotImplementedError

    def describe_scale(self, scale: Any) -> str:
        raise NotImplementedError

    def list_tables(self, matrix: HeldOutMatrix | None) -> Iterator[FigureTable]:
        """The paper's tables; without a matrix with the reported figures alone."""
        raise NotImplementedError

    def check_findings(self, matrix: HeldOutMatrix | None) -> Iterator[Finding]:
        """What the paper finds: whether it holds here."""
        raise NotImplementedError

    def write_command(self, training: HeldOutTraining) -> str:
        """The command that measures it."""
        raise NotImplementedError


@lru_cache(maxsize=8)
def load_held_out_study(suite: str) -> HeldOutStudy:
    study: HeldOutStudy = STUDIES.load(suite).STUDY
    return study
