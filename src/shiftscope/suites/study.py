"""What a suite's `study.py` defines as STUDY: the trainings, test sets and models of a transfer matrix.

A study is a grid: every training is evaluated on its test sets with every model. The runner, the stored entries and
the report know no suite and no model by name: they ask the `Study`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from ..model import DEFAULTS, NO_ADAPTATION, get_traits
from ..question import Question
from ..registry import STUDIES
from ..trained_folder import TrainedFolder

if TYPE_CHECKING:
    from ..metrics.transfer_matrix import TransferMatrix

# The kinds of studies; STUDY_KIND in a suite's `__init__.py` says which its is, if not the first.
TRANSFER, OF_MODELS, HELD_OUT, SELECTION = "transfer", "of_models", "held_out", "selection"
HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "does not hold", "undecided", "not measured"


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, the rule that decides it, what was decided and the figures it rests on."""

    says: str
    rule: str
    verdict: str  # HOLDS, FAILS, NOT_MEASURED; UNDECIDED where a rule goes by intervals, and these allow both
    figures: str = ""


@dataclass(frozen=True, slots=True)
class FactorGrid:
    """One factor's part of the matrix: trainings are rows, tests columns, each by its name there."""

    factor: str
    visual: str
    title: str
    trained: tuple[tuple[str, Any], ...]
    tested: tuple[tuple[str, Any], ...]
    farthest: tuple[Any, Any]  # training and test of the shift that is drawn where there is room for one
    extra: bool = False  # shown where there are entries, and no part of the transfer matrix
    caveat: str = ""  # a sentence to be said wherever its figures stand
    notes: Mapping[str, str] = field(default_factory=dict, hash=False)  # below its accuracies, by group of questions

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """Every training with every test."""
        return [(trained, tested) for _, trained in self.trained for _, tested in self.tested]


@dataclass(frozen=True, slots=True, order=True)
class Contender:
    """A model under conditions: where things stand, and what is adapted to unlabelled images of the test's domain."""

    model: str
    positions: str = DEFAULTS.positions
    adapt: str = NO_ADAPTATION

    @property
    def label(self) -> str:
        """The model's name, with the conditions that are not the usual ones."""
        named = ((self.positions, DEFAULTS.positions), (self.adapt, NO_ADAPTATION))
        return ", ".join([self.model, *(value for value, usual in named if value != usual)])

    @property
    def family(self) -> str:
        """Models of one family share a training, and differ in what they do with its parts."""
        return find_family(self.model)


@lru_cache(maxsize=64)
def find_family(model: str) -> str:
    trainable = get_traits(model).trainable
    if trainable is None:
        raise UserError(f"model {model!r} is not trained, so a study has no use for it")
    return trainable.folder.KIND


def list_contenders(models: Sequence[str], positions: Collection[str], adapts: Collection[str]) -> list[Contender]:
    """Every model under every condition that it knows; one that knows none stands for itself."""
    made = []
    for model in models:
        traits = get_traits(model)
        ways = [p for p in traits.positions if p in positions] if traits.positions else [DEFAULTS.positions]
        kinds = (
            [k for k in (NO_ADAPTATION, *traits.adaptations) if k in adapts] if traits.adaptations else [NO_ADAPTATION]
        )
        made += [Contender(model, way, kind) for kind in kinds for way in ways]
    return made


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One training and the domains it is tested on."""

    trained: Any
    tests: tuple[Any, ...]


class Study:
    """A suite's study. Scales, trainings (rows) and domains (test sets) are frozen records of the suite's own.

    Each has `to_json` and `from_json`; trainings and domains have a `label` and an order, domains a `visual` level,
    trainings a `seed`;
    a scale has its `suite`, `name`, `images`, `train_images` and `test_images`; `domain.build_spec(scale)` is the spec
    of the data.
    """

    suite: str
    title: str  # of its page
    dataset: str  # what its data are called
    stored: str  # folder of docs/results that holds its entries
    beside: str = ""  # another suite, on whose data its page shows the same models in domain too
    scale_type: Any
    training_type: Any
    domain_type: Any
    models: tuple[str, ...]
    planned: tuple[str, ...]  # the same and those that are yet to be written, in the order of the tables
    comparisons: tuple[tuple[str, str], ...] = ()  # models that are compared question by question
    question_groups: tuple[str, ...]  # scored apart; reported figures are of the first
    factors: tuple[str, ...]
    grids: tuple[FactorGrid, ...]  # those that its page shows
    default: tuple[Any, Any]  # the training and the domain that all others differ from
    seeds: tuple[int, ...] = (0,)  # of the default's training
    measures: Mapping[str, str] = {}  # of the parts, where the name alone does not say what is counted
    terms: Mapping[str, str] = {}  # what its page defines at the top, a paragraph each
    notes: Mapping[str, str] = {}  # what a reader of a table must know, by the name of the table

    @property
    def positions(self) -> tuple[str, ...]:
        """Every way of its models to tell where things stand, the usual one first."""
        return tuple(dict.fromkeys(p for model in self.models for p in get_traits(model).positions))

    @property
    def adaptations(self) -> tuple[str, ...]:
        """Every kind of adaptation that its models know, none first."""
        kinds = (kind for model in self.models for kind in get_traits(model).adaptations)
        return (NO_ADAPTATION, *dict.fromkeys(kinds))

    def list_positioned(self, positions: str) -> tuple[str, ...]:
        """The models that can tell where things stand in this way."""
        return tuple(model for model in self.models if positions in get_traits(model).positions)

    def list_models(self, family: str) -> tuple[str, ...]:
        return tuple(model for model in self.models if find_family(model) == family)

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """The trainings and tests of the matrix, each once."""
        return list(dict.fromkeys(pair for grid in self.grids if not grid.extra for pair in grid.pairs))

    def find_scale(self, name: str, images: int | None = None) -> Any:
        raise NotImplementedError

    def plan_rows(
        self,
        factors: Sequence[str],
        visual: str,
        *,
        seeds: Sequence[int],
        only: Collection[str],
        tests: Collection[str],
    ) -> list[StudyRow]:
        """The trainings of these factors, of these seeds, with their tests."""
        raise NotImplementedError

    def list_parts(self, trained: Any, scale: Any, family: str) -> tuple[Any, ...]:
        """What is trained for a row of a family of models; rows that share one train it once.

        Each has its `model` and `stages` (by name) with what `only` calls them, `name` (of its folder), `domain`,
        `seed`, `scale` and `epochs`; `base` are parts of another family that are trained before, and `use_base` says
        what a TrainSpec makes of their folder.
        """
        raise NotImplementedError

    def suits(self, family: str, trained: Any) -> bool:
        """Whether models of this family can be trained so."""
        return True

    def is_diagnosed(self, trained: Any, tested: Any) -> bool:
        """Whether oracles show where answers are lost: for the default in its own domain."""
        return (trained, tested) == self.default

    def find_group(self, question: Question) -> str:
        return self.question_groups[0]

    def list_places(self, trained: Any, tested: Any, visual: str) -> Iterator[tuple[str, str, str]]:
        """Where an entry stands: factor, and the names of training and test there."""
        raise NotImplementedError

    # The parts of a model once they are trained.

    def find_shipped(self, part: Any) -> TrainedFolder | None:
        """The part that comes with the package, if it was trained as this one would be."""
        return None

    def combine_parts(self, folder: Path, parts: Sequence[TrainedFolder]) -> None:
        """Write the parts as one model, which `run --model NAME:FOLDER` takes."""
        raise NotImplementedError

    def list_validation(self, parts: Sequence[TrainedFolder]) -> dict[str, float]:
        """What the parts reached on validation data."""
        raise NotImplementedError

    # What its page says besides figures.

    def describe_scale(self, scale: Any) -> str:
        """How much data, in words."""
        raise NotImplementedError

    def check_findings(self, matrix: TransferMatrix) -> Iterator[tuple[str, Sequence[Finding]]]:
        """Tables of findings, each with its title."""
        return iter(())

    def list_differences(self, matrix: TransferMatrix) -> list[tuple[str, str, str]]:
        """What differs from the paper: of what, there, and here."""
        return []


@lru_cache(maxsize=8)
def list_studies(kind: str = TRANSFER) -> tuple[str, ...]:
    """The suites that define a study of that kind; nothing is imported for it."""
    return tuple(name for name in STUDIES.names() if (STUDIES.read_constant(name, "STUDY_KIND") or TRANSFER) == kind)


@lru_cache(maxsize=8)
def load_study(suite: str) -> Study:
    study: Study = STUDIES.load(suite).STUDY
    return study
