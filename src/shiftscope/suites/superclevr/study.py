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
from ...models.nsvqa import trained_model as _trained
from ...question import Question
from ...records import JsonRecord, content_id
from ...schemas.superclevr import SCHEMA
from ...trained_folder import MODEL_FILE
from ..study import FactorGrid, Finding, Study, StudyRow
from .suite import SuperclevrSpec
from .variants import DEFAULT, MID, RD, find_variant

if TYPE_CHECKING:
    from ...metrics.transfer_matrix import TransferMatrix

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # what it says besides figures
MODELS = ("nsvqa", "p_nsvqa", "p_nsvqa_exact")
OBJECT, PART = "object", "part"  # questions about whole vehicles, and about their parts
REDUNDANCY_LEVELS = VARIANTS["redundancy"]
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
    epochs: tuple[int, int] | None = None  # of scene and question parser; else as many as their recipes say

    @property
    def test_images(self) -> int:
        return self.images // 6


SCALES = {
    "small": StudyScale("small", 480, (168, 112), shard=40, epochs=(4, 4)),
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

    @property
    def label(self) -> str:
        level = "" if self.questions == RD else f" {self.questions}"
        return f"{self.scenes.label}{level}{f' seed {self.seed}' if self.seed else ''}"

    def to_json(self) -> dict[str, Any]:
        return {**self.scenes.to_json(), "questions": self.questions, "seed": self.seed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingSetup:
        if data["questions"] not in REDUNDANCY_LEVELS:
            raise unknown("level of redundancy", data["questions"], REDUNDANCY_LEVELS)
        return cls(StudyDomain.from_json(data), data["questions"], int(data["seed"]))

    @classmethod
    def from_name(cls, name: str, visual: str = MID) -> TrainingSetup:
        """A training as a factor names it: rd- is the default's scenes with rd- questions."""
        if name in REDUNDANCY_LEVELS:
            return cls(StudyDomain.from_name(DEFAULT, visual), name)
        return cls(StudyDomain.from_name(name, visual))


@dataclass(frozen=True, slots=True)
class ParserTraining:
    """One parser that a study trains: on scenes of a domain, or on the default's questions at a level."""

    part: str  # scene or question parser
    domain: StudyDomain  # what it learns from
    seed: int
    scale: StudyScale

    @property
    def name(self) -> str:
        """Of its folder."""
        label = self.domain.label.replace("@", "-")
        return f"{self.scale.name}-{_trained.PARSERS[self.part]}-{label}-{self.seed}"

    @property
    def epochs(self) -> int | None:
        return self.scale.epochs[STUDY.parts.index(self.part)] if self.scale.epochs else None


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


@lru_cache(maxsize=1)
def _list_part_templates() -> frozenset[str]:
    from ...questions.clevr.template_sets import builtin_part_templates

    return frozenset(t.file for t in builtin_part_templates(SCHEMA).templates)


class SuperclevrStudy(Study):
    """NSVQA's three ways to answer, of one training, over the four factors."""

    suite = "superclevr"
    title = "NSVQA, P-NSVQA and exact inference on Super-CLEVR"
    scale_type, training_type, domain_type = StudyScale, TrainingSetup, StudyDomain
    models = MODELS
    adapting_models = frozenset(("p_nsvqa_exact",))  # depends on calibration and relations learned, and adapts
    comparisons = (("p_nsvqa", "nsvqa"), ("p_nsvqa_exact", "p_nsvqa"))
    trained_as = "p_nsvqa"  # one training serves all three
    stages: Mapping[str, str] = {_trained.SCENE_PARSER: "scenes", _trained.QUESTION_PARSER: "questions"}
    question_groups = (OBJECT, PART)
    factors = tuple(VARIANTS)
    grids = (*map(factor_grid, VARIANTS), factor_grid("distribution", "hard"))
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
    ) -> list[StudyRow]:
        """The trainings of these factors with their tests, the default first; rows that share scenes together.

        `only` names the trainings wanted, as their factors do; other seeds are of the default, tested in its own
        domain.
        """
        tests: dict[TrainingSetup, dict[StudyDomain, None]] = {}
        names: dict[str, TrainingSetup] = {}
        for factor in factors:
            grid = factor_grid(factor, visual)
            for name, trained in grid.trained:
                names[name] = trained
                tests.setdefault(trained, {}).update((tested, None) for _, tested in grid.tested)
        known = {*names, *(t.scenes.variant for t in tests)}
        for name in only:
            if name not in known:
                raise unknown("training", name, known, "the factors chosen")
        for seed in seeds:
            if seed < 0:
                raise UserError(f"a seed is 0 or more, not {seed}")
            if seed:
                tests.setdefault(TrainingSetup(seed=seed), {})[StudyDomain()] = None
        wanted = {names[n] for n in only if n in names}
        wanted |= {t for t in tests if t.scenes.variant in only and t.questions == RD}
        chosen = [t for t in tests if not only or replace(t, seed=0) in wanted]
        # The default first, and of each scene parser the usual questions first.
        chosen.sort(key=lambda t: (t.scenes != StudyDomain(), t.scenes, t.seed, t.questions != RD))
        return [StudyRow(t, tuple(tests[t])) for t in chosen]

    def list_parts(self, trained: TrainingSetup, scale: StudyScale) -> tuple[ParserTraining, ...]:
        questions = StudyDomain.from_name(trained.questions)
        return (
            ParserTraining(_trained.SCENE_PARSER, trained.scenes, trained.seed, scale),
            ParserTraining(_trained.QUESTION_PARSER, questions, trained.seed, scale),
        )

    def find_base(self, trained: TrainingSetup) -> TrainingSetup:
        return replace(trained, questions=RD)

    def find_group(self, question: Question) -> str:
        return PART if question.provenance.template in _list_part_templates() else OBJECT

    def list_places(self, trained: TrainingSetup, tested: StudyDomain, visual: str) -> Iterator[tuple[str, str, str]]:
        """Seeds stand by themselves."""
        if trained.seed:
            yield "seeds", trained.label.replace(" ", "-"), tested.label
            return
        grids = [*self.grids, *(factor_grid(grid.factor, visual) for grid in self.grids)]
        for grid in {(grid.factor, grid.visual): grid for grid in grids}.values():
            row = next((name for name, t in grid.trained if t == trained), None)
            column = next((name for name, at in grid.tested if at == tested), None)
            if row and column:
                yield grid.title.replace("@", "-"), row, column

    def find_shipped(self, part: str, digest: str | None) -> _trained.TrainedModel | None:
        folder = _trained.SHIPPED / self.suite
        if digest is None or not (folder / MODEL_FILE).is_file():
            return None
        shipped = _trained.read_trained_model(folder)
        if shipped.about.get(part, {}).get("blake2b") != digest:
            return None
        return _trained.TrainedModel(
            folder, shipped.about | {"seconds": shipped.about["seconds"][_trained.PARSERS[part]]}
        )

    def combine_parts(self, folder: Path, parts: Sequence[Any]) -> None:
        _trained.write_combined_model(folder, *parts)

    def hash_recipes(self, parts: Sequence[Any]) -> str:
        recipes = []
        for trained, part in zip(parts, self.parts, strict=True):
            config = {k: v for k, v in trained.config(part).items() if k != "vocabulary"}
            recipes.append([config, trained.about[part]["recipe"]])
        return content_id(recipes)

    def hash_learned(self, parts: Sequence[Any]) -> str:
        """Calibration, relations, and how p_nsvqa_exact adapts."""
        from ...models import p_nsvqa_exact

        learned = [parts[0].about.get(key) for key in ("calibration", "spatial")]
        return content_id([*learned, p_nsvqa_exact.ADAPTATION_IMAGES, p_nsvqa_exact.ADAPTATION_VERSION])

    def list_validation(self, parts: Sequence[Any]) -> dict[str, float]:
        scenes, questions = (trained.about[part]["val"] for trained, part in zip(parts, self.parts, strict=True))
        return {**scenes, "program": questions["exact"]}

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
