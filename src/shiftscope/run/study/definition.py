"""What a suite's `study.py` defines: which trainings, test sets and models make up its transfer matrix.

A study is a grid: every training is evaluated on its test sets with every model. The module in the suite's folder
is the definition (`Study`); the runner and the records here know no suite and no model by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

from ...question import Question
from ...registry import STUDIES
from ...trained_folder import TrainedFolder


class Study(Protocol):
    """A suite's study. Scales, trainings (rows) and domains (test sets) are frozen records of the suite's own.

    Each has `to_json`; trainings and domains have a `label` and an order, domains a `visual` level, trainings a `seed`;
    a scale has a `name`, `images` and `test_images`; `domain.build_spec(scale)` is the suite's spec of the data.
    """

    SUITE: str
    MODELS: tuple[str, ...]
    ADAPTING_MODELS: frozenset[str]  # whose answers depend on more than the weights (`hash_learned`)
    FACTORS: tuple[str, ...]
    PARTS: tuple[str, ...]  # of a model, trained one by one
    STAGES: dict[str, str]  # what records of trainings call the seconds of each part
    TRAINED_AS: str  # the model whose training gives the parts
    QUESTION_GROUPS: tuple[str, ...]  # scored apart

    def find_scale(self, name: str, images: int | None = None) -> Any: ...
    def parse_scale(self, data: Any) -> Any: ...
    def parse_training(self, data: Any) -> Any: ...
    def parse_domain(self, data: Any) -> Any: ...

    def plan_rows(
        self, factors: Sequence[str], visual: str, *, seeds: Sequence[int], only: Collection[str]
    ) -> list[Any]:
        """Rows: one training (`trained`) and the domains it is tested on (`tests`)."""
        ...

    def list_parts(self, trained: Any, scale: Any) -> tuple[Any, ...]:
        """What is trained for a row, in the order of PARTS.

        Each has its `part` (a stage of the training), `name` (of its folder), `domain`, `seed`, `scale` and `epochs`.
        """
        ...

    def find_base(self, trained: Any) -> Any:
        """The training whose first part this one shares; itself for most."""
        ...

    def is_diagnosed(self, trained: Any, tested: Any) -> bool: ...
    def find_group(self, question: Question) -> str: ...
    def list_places(self, trained: Any, tested: Any, visual: str) -> Iterator[tuple[str, str, str]]: ...
    def find_shipped(self, part: str, digest: str | None) -> TrainedFolder | None: ...
    def combine_parts(self, folder: Path, parts: Sequence[TrainedFolder]) -> None: ...
    def hash_recipes(self, parts: Sequence[TrainedFolder]) -> str: ...
    def hash_learned(self, parts: Sequence[TrainedFolder]) -> str: ...
    def list_validation(self, parts: Sequence[TrainedFolder]) -> dict[str, float]: ...


@lru_cache(maxsize=1)
def list_studies() -> tuple[str, ...]:
    """The suites that define a study."""
    return STUDIES.names()


@lru_cache(maxsize=8)
def load_study(suite: str) -> Study:
    return cast(Study, STUDIES.load(suite))
