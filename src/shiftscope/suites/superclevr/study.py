"""Super-CLEVR's study: which models are trained on what, and what they are tested on, factor by factor.

A training is a scene parser (of a variant, at a visual level, from a seed) and a question parser (of a level
of redundancy). The default stands for mid, rd, bal and co-0, so that it is trained and tested once for all
factors. The question parser learns from the default's questions at its level; the variants of redundancy
share the default's scene parser. A scale says how much data; figures of different scales are never mixed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import UserError, unknown
from ...metrics.relative_degrade import VARIANTS
from ...model import get_traits
from ...models.nsvqa import trained_model as _trained
from ...models.nsvqa.training import PLAIN
from ...question import Question
from ...records import JsonRecord
from ...registry import MODELS as _MODELS
from ...schemas.superclevr import SCHEMA
from ...trainable import ANSWERS, IMAGES, PROGRAMS, TrainStage
from ...trained_folder import MODEL_FILE
from ..study import FactorGrid, Finding, Study, StudyRow, find_family
from .suite import SuperclevrSpec
from .variants import DEFAULT, MID, RD, find_variant

if TYPE_CHECKING:
    from ...metrics.transfer_matrix import TransferMatrix

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # what it says besides figures
MODELS = tuple(name for name in TEXTS["models"] if name in _MODELS.names())  # of those planned, what there is
OBJECT, PART = "object", "part"  # questions about whole vehicles, and about their parts
REDUNDANCY_LEVELS = VARIANTS["redundancy"]
JOINT = frozenset((IMAGES, ANSWERS))
SHIPPED_BACKBONE = "shipped"  # what a stage names whose backbone is a scene parser
BACKBONE = "backbone"  # the setting, and the attribute of a stage, that names what sees images
FAMILY = _trained.TrainedModel.KIND  # of the models whose question parser can be plain
VISUAL_LEVELS = (MID, "hard")  # at which the variants of a factor but visual complexity can be seen
TEST_VARIANTS = {**VARIANTS, "distribution": ("bal", "slt", "long", "head", "tail", "oppo")}


@dataclass(frozen=True, slots=True)
class StudyScale(JsonRecord):
    """A size of study. `images` are over train, val and test (4 : 1 : 1)."""

    suite: ClassVar[str] = "superclevr"
    name: str
    images: int
    size: tuple[int, int]
    questions: int = 10  # per image, about whole vehicles
    part_questions: int = 10
    shard: int = 250  # images whose questions are balanced together
    epochs: int | None = None  # of every part; else as many as its recipe says

    @property
    def test_images(self) -> int:
        return self.images // 6


SCALES = {
    "small": StudyScale("small", 480, (168, 112), shard=40, epochs=4),
    "paper": StudyScale("paper", 30_000, (480, 320)),
}


@dataclass(frozen=True, slots=True, order=True)
class StudyDomain(JsonRecord):
    """Data to train or test on: a variant, and the visual level it is rendered at."""

    variant: str = DEFAULT
    visual: str = MID

    @property
    def label(self) -> str:
        plain = self.visual == MID or self.variant == self.visual or self.variant == "easy"
        return self.variant if plain else f"{self.variant}@{self.visual}"

    def build_spec(self, scale: StudyScale) -> SuperclevrSpec:
        names = ("images", "size", "questions", "part_questions", "shard")
        return SuperclevrSpec(self.variant, self.visual, **{name: getattr(scale, name) for name in names})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StudyDomain:
        return cls.from_name(data["variant"], data["visual"])

    @classmethod
    def from_name(cls, name: str, visual: str = MID) -> StudyDomain:
        """A variant as a factor names it: bal at the visual level hard is the variant hard."""
        spec = SuperclevrSpec.from_variant(name, visual if find_variant(name).factor != "visual" else "")
        return cls(spec.variant, spec.visual)


@dataclass(frozen=True, slots=True, order=True)
class TrainingSetup:
    """What the two parsers of a model learned from."""

    scenes: StudyDomain = StudyDomain()
    questions: str = RD
    seed: int = 0
    plain: bool = False  # the question parser learned without enriched and stripped questions

    @property
    def label(self) -> str:
        level = "" if self.questions == RD else f" {self.questions}"
        level += " plain" if self.plain else ""
        return f"{self.scenes.label}{level}{f' seed {self.seed}' if self.seed else ''}"

    def to_json(self) -> dict[str, Any]:
        told = {**self.scenes.to_json(), "questions": self.questions, "seed": self.seed}
        return told | ({"plain": True} if self.plain else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingSetup:
        if data["questions"] not in REDUNDANCY_LEVELS:
            raise unknown("level of redundancy", data["questions"], REDUNDANCY_LEVELS)
        return cls(StudyDomain.from_json(data), data["questions"], int(data["seed"]), bool(data.get("plain")))

    @classmethod
    def from_name(cls, name: str, visual: str = MID) -> TrainingSetup:
        """A training as a factor names it: rd- is the default's scenes with rd- questions."""
        if name in REDUNDANCY_LEVELS:
            return cls(StudyDomain.from_name(DEFAULT, visual), name)
        return cls(StudyDomain.from_name(name, visual))


@dataclass(frozen=True, slots=True)
class PartTraining:
    """What a study trains at once: one stage of a model, or all of them."""

    model: str  # whose Trainable it is; models of one family share it
    stages: tuple[str, ...]
    only: str  # as `train --only` calls it; nothing for all stages
    domain: StudyDomain  # what it learns from
    seed: int
    scale: StudyScale
    settings: tuple[tuple[str, str], ...] = ()  # as `train --set` gives them
    base: tuple[PartTraining, ...] = ()  # the row's parsers that it stands on, trained before

    @property
    def name(self) -> str:
        """Of its folder."""
        label = "-".join([self.domain.label.replace("@", "-"), *(value for _, value in self.settings)])
        what = self.model if self.base else self.only or self.model
        return f"{self.scale.name}-{what}-{label}-{self.seed}"

    def use_base(self, folder: Path) -> dict[str, Any]:
        """What a TrainSpec says of the base: other parts of the model are taken from there, or it is the backbone."""
        return {"other": folder} if self.only else {"settings": (*self.settings, (BACKBONE, str(folder)))}

    @property
    def epochs(self) -> int | None:
        return self.scale.epochs


def factor_grid(factor: str, visual: str = MID) -> FactorGrid:
    """The grid of a factor; visual complexity has one only."""
    if factor not in VARIANTS:
        raise unknown("factor", factor, VARIANTS)
    if visual not in VISUAL_LEVELS:
        raise unknown("visual level of a study", visual, VISUAL_LEVELS)
    if factor == "visual":
        visual = MID
    trained = tuple((name, TrainingSetup.from_name(name, visual)) for name in VARIANTS[factor])
    tested = tuple((name, StudyDomain.from_name(name, visual)) for name in TEST_VARIANTS[factor])
    return FactorGrid(
        factor,
        visual,
        factor if visual == MID else f"{factor}@{visual}",
        trained,
        tested,
        farthest=(trained[1 if factor == "visual" else 0][1], tested[-1][1]),
        caveat=TEXTS["caveats"].get(factor, ""),
        notes=TEXTS["grid_notes"].get(factor, {}),
    )


def _build_plain_grid() -> FactorGrid:
    """Redundancy once more, with question parsers that never saw an enriched or stripped question."""
    grid = factor_grid("redundancy")
    trained = tuple((name, replace(setup, plain=True)) for name, setup in grid.trained)
    return replace(grid, title="redundancy, plain", trained=trained, extra=True, caveat="", farthest=grid.pairs[-1])


PLAIN_GRID = _build_plain_grid()


@lru_cache(maxsize=1)
def _list_part_templates() -> frozenset[str]:
    from ...questions.clevr.template_sets import builtin_part_templates

    return frozenset(t.file for t in builtin_part_templates(SCHEMA).templates)


class SuperclevrStudy(Study):
    """Every model over the four factors; NSVQA's ways to answer share one training."""

    suite = "superclevr"
    title = "Models on Super-CLEVR"
    scale_type, training_type, domain_type = StudyScale, TrainingSetup, StudyDomain
    models = MODELS
    planned = tuple(TEXTS["models"])
    comparisons = (("p_nsvqa", "nsvqa"), ("p_nsvqa", "p_nsvqa_referent"), ("p_nsvqa_exact", "p_nsvqa"))
    question_groups = (OBJECT, PART)
    factors = tuple(VARIANTS)
    grids = (*map(factor_grid, VARIANTS), factor_grid("distribution", "hard"), PLAIN_GRID)
    default = (TrainingSetup(), StudyDomain())
    seeds = (0, 1, 2)  # all else is of the first
    measures: Mapping[str, str] = TEXTS["measures"]
    terms: Mapping[str, str] = TEXTS["terms"]
    notes: Mapping[str, str] = TEXTS["notes"]

    def find_scale(self, name: str, images: int | None = None) -> StudyScale:
        """One of the two scales; with another number of images it gets a name of its own."""
        if name not in SCALES:
            raise unknown("scale", name, SCALES)
        scale = SCALES[name]
        if images is None or images == scale.images:
            return scale
        if images < 12:
            raise UserError(f"{images} images are too few for a study: at least 12, of which one in 6 is tested")
        return replace(scale, name=f"{name}-{images}", images=images)

    def plan_rows(
        self,
        factors: Sequence[str] = factors,
        visual: str = MID,
        *,
        seeds: Sequence[int] = (0,),
        only: Collection[str] = (),
        tests: Collection[str] = (),
    ) -> list[StudyRow]:
        """The trainings of these factors, of these seeds, with their tests; the default first, shared scenes together.

        `only` and `tests` name the trainings and test sets wanted, as their factors do.
        """
        tested_on: dict[TrainingSetup, dict[StudyDomain, None]] = {}
        domains: dict[str, StudyDomain] = {}
        names: dict[str, TrainingSetup] = {}
        for factor in factors:
            grid = factor_grid(factor, visual)
            for name, trained in grid.trained:
                names[name] = trained
                tested_on.setdefault(trained, {}).update((tested, None) for _, tested in grid.tested)
            domains |= {**dict(grid.tested), **{at.variant: at for _, at in grid.tested}}
        for level, trained in PLAIN_GRID.trained:  # these by name alone
            if (name := f"{level} plain") in only:
                names[name] = trained
                tested_on[trained] = dict.fromkeys(at for _, at in PLAIN_GRID.tested)
        known = {*names, *(t.scenes.variant for t in tested_on)}
        for name in only:
            if name not in known:
                raise unknown("training", name, known, "the factors chosen")
        for name in tests:
            if name not in domains:
                raise unknown("test set", name, domains, "the factors chosen")
        for seed in seeds:
            if seed < 0:
                raise UserError(f"a seed is 0 or more, not {seed}")
        wanted = {names[n] for n in only if n in names}
        wanted |= {t for t in tested_on if t.scenes.variant in only and t.questions == RD and not t.plain}
        chosen = [replace(t, seed=seed) for t in tested_on if not only or t in wanted for seed in seeds]
        # The default first, and of each scene parser the usual questions first.
        chosen.sort(key=lambda t: (t.scenes != StudyDomain(), t.scenes, t.seed, t.questions != RD))
        kept = {domains[name] for name in tests}
        rows = [(t, [at for at in tested_on[replace(t, seed=0)] if not tests or at in kept]) for t in chosen]
        return [StudyRow(trained, tuple(domains)) for trained, domains in rows if domains]

    def list_parts(self, trained: TrainingSetup, scale: StudyScale, family: str) -> tuple[PartTraining, ...]:
        """Stages that learn from different things are trained apart, so that rows can share them.

        Whatever looks at images by a scene parser, or reads by a question parser, has those of its own row: what they
        learned from is what the row is trained on, and nothing else.
        """
        model = self.list_models(family)[0]
        trainable = get_traits(model).trainable
        assert trainable is not None
        stages = trainable.stages
        if family != FAMILY:
            return (self._plan_whole(model, stages, trained, scale),)
        domains = [self._find_domain(trained, stage.supervision) for stage in stages]
        plain = tuple(PLAIN.items()) if trained.plain else ()
        each = [
            (s, at, plain if s.name == _trained.QUESTION_PARSER else ()) for s, at in zip(stages, domains, strict=True)
        ]
        return tuple(PartTraining(model, (s.name,), s.option, at, trained.seed, scale, how) for s, at, how in each)

    def _plan_whole(
        self, model: str, stages: Sequence[TrainStage], trained: TrainingSetup, scale: StudyScale
    ) -> PartTraining:
        """All stages of a model at once, but those that are parsers of the row."""
        parsers = {part.stages[0]: part for part in self.list_parts(trained, scale, FAMILY)}
        taken = tuple(parsers[stage.name] for stage in stages if stage.name in parsers)
        seeing = any(getattr(stage, BACKBONE, "") == SHIPPED_BACKBONE for stage in stages)
        base = taken or ((parsers[_trained.SCENE_PARSER],) if seeing else ())
        only = ",".join(stage.option for stage in stages if stage.name not in parsers) if taken else ""
        names, domain = tuple(stage.name for stage in stages), self._find_domain(trained, JOINT)
        return PartTraining(model, names, only, domain, trained.seed, scale, base=base)

    def _find_domain(self, trained: TrainingSetup, supervision: frozenset[str]) -> StudyDomain:
        """Questions are the default's at their level; who learns from images too has both of one domain."""
        if IMAGES not in supervision:
            return StudyDomain.from_name(trained.questions)
        if not supervision & {PROGRAMS, ANSWERS} or trained.questions == RD:
            return trained.scenes
        return StudyDomain.from_name(trained.questions, trained.scenes.visual)

    def suits(self, family: str, trained: TrainingSetup) -> bool:
        return family == FAMILY or not trained.plain

    def find_group(self, question: Question) -> str:
        return PART if question.provenance.template in _list_part_templates() else OBJECT

    def list_places(self, trained: TrainingSetup, tested: StudyDomain, visual: str) -> Iterator[tuple[str, str, str]]:
        """Seeds stand by themselves."""
        if trained.seed:
            yield "seeds", trained.label.replace(" ", "-"), tested.label
            return
        grids = [*self.grids, *(factor_grid(grid.factor, visual) for grid in self.grids)]
        for grid in {grid.title: grid for grid in grids}.values():
            row = next((name for name, t in grid.trained if t == trained), None)
            column = next((name for name, at in grid.tested if at == tested), None)
            if row and column:
                yield grid.title.replace("@", "-").replace(", ", "-"), row, column

    def find_shipped(self, part: PartTraining) -> _trained.TrainedModel | None:
        folder = _trained.SHIPPED / self.suite
        if find_family(part.model) != FAMILY or part.settings or not (folder / MODEL_FILE).is_file():
            return None
        shipped, (stage,) = _trained.read_trained_model(folder), part.stages
        spec = part.domain.build_spec(part.scale)
        entry = shipped.about.get(stage, {})
        if (entry.get("seed"), entry.get("data")) != (part.seed, spec.spec() | spec.identify()):
            return None
        return _trained.TrainedModel(folder, shipped.about | {"seconds": shipped.about["seconds"][part.only]})

    def combine_parts(self, folder: Path, parts: Sequence[Any]) -> None:
        _trained.write_combined_model(folder, *parts)

    def list_validation(self, parts: Sequence[Any]) -> dict[str, float]:
        found: dict[str, float] = {}
        for trained in parts:
            for stage in trained.parts:
                entry = trained.about[stage]
                figures = entry["val"]
                found |= {"program": figures["exact"]} if stage == _trained.QUESTION_PARSER else figures
                if (
                    stage not in _trained.PARSERS and "rise" in entry
                ):  # by which it is judged whether it was trained out
                    found[f"{stage}: rise over the last quarter of its epochs"] = entry["rise"]
        return found

    def describe_scale(self, scale: StudyScale) -> str:
        width, height = scale.size
        return (
            f"Scale *{scale.name}*: {scale.images * 2 // 3:,} images to train on, {scale.test_images:,} to validate, "
            f"{scale.test_images:,} to test, {width}×{height}, {scale.questions} object and "
            f"{scale.part_questions} part questions per image."
        )

    def check_findings(self, matrix: TransferMatrix) -> Iterator[tuple[str, Sequence[Finding]]]:
        from .findings import check_paper_findings, check_targets

        yield "Targets", tuple(check_targets(matrix))
        yield "The paper's findings", tuple(check_paper_findings(matrix))

    def list_differences(self, matrix: TransferMatrix) -> list[tuple[str, str, str]]:
        from .findings import list_differences

        return list_differences(matrix)


STUDY = SuperclevrStudy()
