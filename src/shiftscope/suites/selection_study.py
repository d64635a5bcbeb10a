"""What a suite's `study.py` defines as STUDY where models are trained on one world and chosen by several strategies.

The suite's `__init__.py` says `STUDY_KIND = "selection"`, which is read without importing it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UserError, did_you_mean, unknown
from ..metrics.model_selection import LANGUAGE, PRIORS, PROPORTION, WHOLE
from ..shortcuts.concepts import SHORTCUTS
from .study import Finding

if TYPE_CHECKING:
    from ..metrics.model_selection import SelectionResults, SelectionRun


@dataclass(frozen=True, slots=True)
class StudyMethod:
    """A model with its settings, and what it is compared with."""

    label: str
    model: str
    settings: tuple[tuple[str, str], ...] = ()  # as `train --set` gives them
    backbone: str = ""  # the label of the model that it wraps
    against: tuple[str, ...] = ()  # the shortcuts that it is meant for


@dataclass(frozen=True, slots=True)
class SelectionScale:
    """A size of study: the world's images over train, val and test, and how long is trained."""

    name: str
    images: int
    size: tuple[int, int]
    questions: int = 10  # per image, of each sort
    shard: int = 250
    epochs: int | None = None  # else as many as a model's recipe says


@dataclass(frozen=True, slots=True, order=True)
class SelectionTraining:
    """One training of a study."""

    method: str
    training: str
    seed: int


class SelectionStudy:
    """A study of model selection under shortcuts."""

    suite: str
    title: str
    world: str  # the suite that its data are of
    shortcut: str  # as `make --shortcut` takes it
    methods: tuple[StudyMethod, ...]
    seeds: tuple[int, ...]
    scales: Mapping[str, SelectionScale]
    proportion_method: str  # whose training sets get more and more shortcut samples
    proportions: tuple[int, ...]  # per cent
    proportion_settings: tuple[tuple[str, str], ...] = ()  # of these trainings, beside the method's
    language_methods: tuple[StudyMethod, ...] = ()  # that read the question alone, for an audit of VQA files
    language_epochs: int | None = None  # else as many as a model's recipe says
    notes: Mapping[str, str] = {}

    def build_spec(self, scale: SelectionScale) -> Any:
        """The spec of the world."""
        raise NotImplementedError

    def find_method(self, label: str) -> StudyMethod:
        known = (*self.methods, *self.language_methods)
        for method in known:
            if method.label == label:
                return method
        raise self._name_methods("method", label, self.methods)

    def _name_methods(self, noun: str, label: str, methods: Sequence[StudyMethod]) -> UserError:
        """The error for a label that none of the methods has; a model's name stands for its settings here."""
        known = [method.label for method in methods]
        if variants := [method.label for method in methods if method.model == label]:
            hint = f"; did you mean {' or '.join(map(repr, variants))}?"
        else:
            hint = did_you_mean(label, known) or f"; known: {', '.join(known) or 'none'}"
        return UserError(f"no {noun} {label!r} in {self.suite}{hint}")

    def trains_alike(self, run: SelectionRun) -> bool:
        """Whether its method would be trained with the same settings today; records of others are not shown."""
        known = [m for m in (*self.methods, *self.language_methods) if m.label == run.method]
        named = [dict(self.find_settings(method, run.training)) for method in known]
        return any(run.settings == {"loss": run.settings["loss"]} | settings for settings in named)

    def find_settings(self, method: StudyMethod, training: str) -> tuple[tuple[str, str], ...]:
        """What a method is trained with; small training sets may need other settings."""
        more = self.proportion_settings if training.startswith(PROPORTION) else ()
        return tuple({**dict(method.settings), **dict(more)}.items())

    def find_scale(self, name: str, images: int | None = None) -> SelectionScale:
        if name not in self.scales:
            raise unknown("scale", name, self.scales)
        scale = self.scales[name]
        if images is None or images == scale.images:
            return scale
        if images < 12:
            raise UserError(f"{images} images are too few for a study: at least 12, of which one in 6 is tested")
        return SelectionScale(f"{name}-{images}", images, scale.size, scale.questions, scale.shard, scale.epochs)

    def choose_scale(self, name: str, images: int | None, world: Any) -> SelectionScale:
        """The scale of a world that was made before: what is not named is as the world's spec has it."""
        fitting = [one for one, scale in self.scales.items() if scale.size == world.size]
        if not name and not fitting:
            named = ", ".join(f"{one} {scale.size[0]}x{scale.size[1]}" for one, scale in self.scales.items())
            raise UserError(f"pictures of {world.size[0]}x{world.size[1]} are of no scale of {self.suite}: {named}")
        return self.find_scale(name or fitting[0], world.images if images is None else images)

    def build_language_scale(self) -> SelectionScale:
        return SelectionScale(LANGUAGE, 0, (0, 0), epochs=self.language_epochs)

    def plan_trainings(
        self, parts: Sequence[str], methods: Sequence[str], seeds: Sequence[int]
    ) -> list[SelectionTraining]:
        """What is trained, the main tables first: changing priors and proportions with the first seed alone."""
        for part in parts:
            if part not in (WHOLE, PRIORS, PROPORTION):
                raise unknown("part of the study", part, (WHOLE, PRIORS, PROPORTION))
        chosen = [self.find_method(label).label for label in methods] or [m.label for m in self.methods]
        plan: list[SelectionTraining] = []
        if WHOLE in parts:
            plan += [SelectionTraining(label, WHOLE, seed) for seed in seeds for label in chosen]
        if PRIORS in parts:
            plan += [SelectionTraining(label, PRIORS, seeds[0]) for label in chosen]
        if PROPORTION in parts and self.proportion_method in chosen:
            plan += [
                SelectionTraining(self.proportion_method, f"{PROPORTION}/{shortcut}/{share}", seeds[0])
                for shortcut in SHORTCUTS
                for share in self.proportions
            ]
        return plan

    def plan_language(self, methods: Sequence[str], seeds: Sequence[int]) -> list[SelectionTraining]:
        """What is trained on an audit of VQA files: one seed of all methods first."""
        chosen = [m.label for m in self.language_methods if not methods or m.label in methods]
        lacking = [label for label in methods if label not in chosen]
        if lacking or not chosen:
            label = "".join(lacking[:1])
            raise self._name_methods("method that reads questions alone", label, self.language_methods)
        return [SelectionTraining(label, WHOLE, seed) for seed in seeds for label in chosen]

    def check_findings(self, results: SelectionResults) -> Iterator[Finding]:
        raise NotImplementedError
