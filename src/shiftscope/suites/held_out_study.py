"""What a suite's `held_out_study.py` defines as STUDY: trainings that lack what some tests ask, and their tables.

All trainings learn from one dataset, or from a part of its training questions, and are tested on the same questions.
The runner, the stored records and the page know no suite and no model by name: they ask the `HeldOutStudy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import UserError, unknown
from ..metrics.held_out_matrix import HeldOutMatrix
from ..metrics.held_out_records import EASY, IID, K_SHOT, HeldOutTraining
from ..model import get_traits
from ..records import content_id
from ..registry import STUDIES
from ..result import Score
from ..shift.held_out import find_draw_rule
from ..trainable import Trainable, TrainStage
from .study import Finding

Settings = Sequence[tuple[str, str]]  # name and value
SHOT_RULE = ""  # to be named once K-shot examples are drawn otherwise, so that entries of both are never mixed


class FigureCell(NamedTuple):
    """A figure as measured, and as its paper reports it; either may be missing. A note says what a mark stands for."""

    measured: Score | None
    reported: float | None = None
    mark: str = ""


BLIND, NO_GAP = "†", "‡"
MARKS = {  # of figures, and what they mean
    BLIND: "stands where a training, or one of the draws of a mean, hardly came to see (What the images add): the "
    "figure tells nothing of what it learned from, and no score or finding goes by it.",
    NO_GAP: "stands where the in-domain training is not surely above the text-only one on these questions: there is "
    "hardly anything to lose.",
}


def mark_blind(matrix: HeldOutMatrix | None, training: HeldOutTraining) -> str:
    """The mark of a figure of a training that hardly came to see."""
    return BLIND if matrix is not None and matrix.is_blind(training) else ""


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A table in the paper's layout; a cell is a figure, or words."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[FigureCell | str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class StudyModel:
    """What stands behind the name of a model in a study's tables: one of the registry, with settings."""

    model: str
    settings: tuple[tuple[str, str], ...] = ()
    takes: tuple[str, ...] = ()  # other settings that it knows, besides the sizes that its stage tells
    shipped: bool = False  # asked with the weights that come with the package, and not trained here


@dataclass(frozen=True, slots=True)
class DerivedTestPlan:
    """A test set besides the test split: what a generalization test makes of it, or another dataset's test split."""

    name: str
    test: str = ""  # in `run/generalization/`, with `pair_questions`; none: the questions as they are
    data: str = ""  # the kind of data, as `build_spec` takes it; none: the usual ones
    options: tuple[tuple[str, Any], ...] = ()  # of the test
    limit: int | None = None  # questions of the test split that it is made from, the first; else all


class HeldOutStudy:
    """A suite's study of held-out splits; a suite's own fills in the methods."""

    suite: str
    title: str
    models: tuple[str, ...]  # that are trained, in the order of the tables; the first sees images
    baselines: tuple[str, ...]  # that learn from answers alone, in no time
    splits: tuple[str, ...]  # named splits whose properties are marked
    scales: tuple[str, ...]
    data_suite: str = ""  # another, whose study has the same data, so that its entries count here too
    differences: tuple[tuple[str, str, str], ...] = ()  # what differs from the paper: of what, there, and here
    data_kinds: tuple[str, ...] = (EASY,)  # kinds of training that have data of their own
    test_sets: tuple[DerivedTestPlan, ...] = ()  # besides the test split
    shots: tuple[int, ...] = ()  # K of K-shot trainings, if it has any
    shots_from: str = ""  # the test set whose variants these learn from

    @property
    def all_splits(self) -> tuple[str, ...]:
        """What `--splits` takes: the named splits, and what is in-domain."""
        return IID, EASY, *self.splits

    def find_model(self, name: str) -> StudyModel:
        """What a model of the tables is; usually one of the registry by the same name."""
        return StudyModel(name)

    def list_settings(self, model: str, given: Settings = ()) -> Settings:
        """The study's own, and of the given ones those that the model knows: a text-only one cuts no patches."""
        known = self._find_settings(model)
        return tuple((dict(self.find_model(model).settings) | {n: v for n, v in given if n in known}).items())

    def check_settings(self, given: Settings, models: Iterable[str]) -> None:
        """Refuse a setting that no model of the study knows, which would change nothing, and one that these refuse."""
        if not given:
            return
        known = {name for model in filter(self._is_trained, self.models) for name in self._find_settings(model)}
        for name, _ in given:
            if name not in known:
                raise unknown("setting", name, sorted(known))
        for model in filter(self._is_trained, models):
            self._list_stages(model, given)

    def _find_settings(self, model: str) -> set[str]:
        """What a model that is trained here can be given."""
        chosen = self.find_model(model)
        trainable = _get_trainable(chosen)
        return {*chosen.takes, *trainable.settings, *trainable.stages[-1].list_settings()}

    def _list_stages(self, model: str, given: Settings) -> tuple[TrainStage, ...]:
        settings, trainable = self.list_settings(model, given), _get_trainable(self.find_model(model))
        try:
            return (trainable.configure(dict(settings)) if settings else trainable).stages
        except UserError as error:
            raise UserError(f"{model}: {error}") from None

    def _is_trained(self, model: str) -> bool:
        chosen = self.find_model(model)
        return not chosen.shipped and get_traits(chosen.model).trainable is not None

    def identify_training(self, training: HeldOutTraining, given: Settings = ()) -> str:
        """Names how its model is trained: settings, sizes and recipe, but not how long, which tables tell.

        Entries of a training that is planned otherwise today are not shown. Nothing for what is not trained here.
        """
        if not self._is_trained(training.model):
            return ""
        *before, stage = self._list_stages(training.model, given)
        recipe = {name: value for name, value in stage.recipe.to_json().items() if name != "epochs"}
        # How it begins, by what rule a grammar is learned, and what it lacks.
        others = [getattr(stage, "start", ""), getattr(stage, "rule", ""), find_draw_rule(training.split)]
        others += [SHOT_RULE] if training.kind == K_SHOT else []
        others += [[one.name, one.identify()] for one in before]
        settings = sorted(self.list_settings(training.model, given))
        plan = [self.find_model(training.model).model, settings, dict(getattr(stage, "sizes", {})), recipe]
        return content_id([*plan, *filter(None, others)])

    def is_planned(self, training: HeldOutTraining, plan: str, given: Settings = ()) -> bool:
        """Whether an entry of that plan is of this study, and trained as it is planned today."""
        if training.model not in (*self.baselines, *self.models):
            return False
        try:
            return plan == self.identify_training(training, given)
        except UserError:  # no training of this model is planned with such settings
            return False

    def list_test_sets(self, training: HeldOutTraining) -> tuple[str, ...]:
        """The test sets that a training is asked; the test split has no name."""
        return ("",)

    def find_own_test_set(self, training: HeldOutTraining) -> str:
        """The one whose questions are like those it learned from: of its kind of data, else the test split."""
        return next((one.name for one in self.test_sets if one.data == training.kind and not one.test), "")

    def find_scale(self, name: str) -> Any:
        raise NotImplementedError

    def list_sizes(self, scale: Any) -> Settings:
        """Sizes of networks at a scale, if it has its own; settings that are given besides count more."""
        return tuple(getattr(scale, "settings", ()))

    def build_spec(self, scale: Any, kind: str) -> Any:
        """The suite's spec of the data that a training of that kind learns from."""
        raise NotImplementedError

    def list_trainings(
        self,
        models: Sequence[str],
        splits: Sequence[str],
        seeds: Sequence[int],
        *,
        shots: Sequence[int] = (),
        scale: Any = None,
    ) -> list[HeldOutTraining]:
        """What is trained, the most telling first; without a scale, at the largest."""
        raise NotImplementedError

    def check_choice(self, models: Sequence[str], splits: Sequence[str], seeds: Sequence[int]) -> None:
        """Refuse models and splits that the study has not."""
        for name in models:
            if name not in (*self.baselines, *self.models):
                raise unknown("model", name, (*self.baselines, *self.models), "this study")
        for name in splits:
            if name not in self.all_splits:
                raise unknown("split", name, self.all_splits, "this study")
        if not models or not seeds:
            raise UserError("a study needs at least one model and one seed")

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


def _get_trainable(chosen: StudyModel) -> Trainable:
    found = get_traits(chosen.model).trainable
    assert found is not None
    return found


@lru_cache(maxsize=8)
def load_held_out_study(suite: str) -> HeldOutStudy:
    study: HeldOutStudy = STUDIES.load(suite).STUDY
    return study
