"""Super-CLEVR's study: which models are trained on what, and what they are tested on, factor by factor.

A training is a scene parser (of a variant, at a visual level, from a seed) and a question parser (of a level
of redundancy). The default stands for mid, rd, bal and co-0, so that it is trained and tested once for all
factors. The question parser learns from the default's questions at its level; the variants of redundancy
share the default's scene parser. A scale says how much data; figures of different scales are never mixed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import unknown
from ...metrics.relative_degrade import VARIANTS
from ...models.nsvqa.trained_model import QUESTION_PARSER
from ...models.nsvqa.training import PLAIN
from ...question import Question
from ...records import JsonRecord
from ...schemas.superclevr import SCHEMA
from ...trainable import ANSWERS, IMAGES, PROGRAMS, TrainStage
from ..parser_study import FAMILY, OBJECT, ParserStudy, Settings, check_rows, read_texts
from ..study import FactorGrid, Finding, StudyRow
from .suite import SuperclevrSpec
from .variants import DEFAULT, MID, RD, find_variant

if TYPE_CHECKING:
    from ...metrics.transfer_matrix import TransferMatrix

TEXTS = read_texts(Path(__file__).with_suffix(".toml"))  # what it says besides figures
PART = "part"  # questions about the parts of vehicles, where OBJECT ones are about whole vehicles
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
    epochs: int | None = None  # of every part; else as many as its recipe says

    @property
    def train_images(self) -> int:
        return self.images * 2 // 3

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


class SuperclevrStudy(ParserStudy):
    """Every model over the four factors."""

    suite = "superclevr"
    title = "Models on Super-CLEVR"
    dataset, stored = "Super-CLEVR", "cells"
    scale_type, training_type, domain_type = StudyScale, TrainingSetup, StudyDomain
    question_groups = (OBJECT, PART)
    factors = tuple(VARIANTS)
    grids = (*map(factor_grid, VARIANTS), factor_grid("distribution", "hard"), PLAIN_GRID)
    default = (TrainingSetup(), StudyDomain())
    scales = SCALES
    test_share = "one in 6"
    measures: Mapping[str, str] = TEXTS["measures"]
    terms: Mapping[str, str] = TEXTS["terms"]
    notes: Mapping[str, str] = TEXTS["notes"]

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
        check_rows(only, tests, seeds, {*names, *(t.scenes.variant for t in tested_on)}, domains)
        wanted = {names[n] for n in only if n in names}
        wanted |= {t for t in tested_on if t.scenes.variant in only and t.questions == RD and not t.plain}
        chosen = [replace(t, seed=seed) for t in tested_on if not only or t in wanted for seed in seeds]
        # The default first, and of each scene parser the usual questions first.
        chosen.sort(key=lambda t: (t.scenes != StudyDomain(), t.scenes, t.seed, t.questions != RD))
        kept = {domains[name] for name in tests}
        rows = [(t, [at for at in tested_on[replace(t, seed=0)] if not tests or at in kept]) for t in chosen]
        return [StudyRow(trained, tuple(domains)) for trained, domains in rows if domains]

    def list_settings(self, trained: TrainingSetup, stage: TrainStage) -> Settings:
        return tuple(PLAIN.items()) if trained.plain and stage.name == QUESTION_PARSER else ()

    def find_domain(self, trained: TrainingSetup, supervision: frozenset[str]) -> StudyDomain:
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

    def describe_scale(self, scale: StudyScale) -> str:
        width, height = scale.size
        return (
            f"Scale *{scale.name}*: {scale.train_images:,} images to train on, {scale.test_images:,} to validate, "
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
