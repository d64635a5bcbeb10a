"""Super-CLEVR's study: which models are trained on what, and what they are tested on, factor by factor.

A training is a scene parser (of a variant, at a visual level, from a seed) and a question parser (of a level
of redundancy). The default stands for mid, rd, bal and co-0, so that it is trained and tested once for all
factors. The question parser learns from the default's questions at its level; the variants of redundancy
share the default's scene parser. A scale says how much data; figures of different scales are never mixed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import UserError, unknown
from ...metrics.relative_degrade import VARIANTS
from ...models.nsvqa.trained_model import (
    PARSERS,
    QUESTION_PARSER,
    SCENE_PARSER,
    SHIPPED,
    TrainedModel,
    read_trained_model,
    write_combined_model,
)
from ...question import Question
from ...records import content_id
from ...schemas.superclevr import SCHEMA
from ...trained_folder import MODEL_FILE
from .suite import SuperclevrSpec
from .variants import DEFAULT, MID, RD, find_variant


@dataclass(frozen=True, slots=True)
class StudyScale:
    """A size of study. `images` are over train, val and test (4 : 1 : 1)."""

    name: str
    images: int
    size: tuple[int, int]
    questions: int = 10  # per image, about whole vehicles
    part_questions: int = 10
    shard: int = 250  # images whose questions are balanced together
    epochs: tuple[int, int] | None = None  # of scene and question parser; else as many as their recipes say

    @property
    def test_images(self) -> int:
        """How many images a test has."""
        return self.images // 6

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"size": list(self.size), "epochs": list(self.epochs) if self.epochs else None}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> StudyScale:
        width, height = data["size"]
        rest = {k: data[k] for k in ("name", "images", "questions", "part_questions", "shard")}
        epochs = tuple(map(int, data["epochs"])) if data["epochs"] else None
        return cls(size=(int(width), int(height)), epochs=epochs, **rest)  # type: ignore[arg-type]


SCALES = {
    "small": StudyScale("small", 480, (168, 112), shard=40, epochs=(4, 4)),
    "paper": StudyScale("paper", 30_000, (480, 320)),
}


def find_scale(name: str, images: int | None = None) -> StudyScale:
    """One of the two scales; with another number of images it gets a name of its own."""
    if name not in SCALES:
        raise unknown("scale", name, SCALES)
    scale = SCALES[name]
    if images is None or images == scale.images:
        return scale
    if images < 12:
        raise UserError(f"{images} images are too few for a study: at least 12, of which one in 6 is tested")
    return replace(scale, name=f"{name}-{images}", images=images)


SUITE = "superclevr"
EXACT = "p_nsvqa_exact"  # the one that depends on calibration and relations learned, and adapts its parser
MODELS = ("nsvqa", "p_nsvqa", EXACT)
ADAPTING_MODELS = frozenset((EXACT,))
TRAINED_AS = "p_nsvqa"  # one training serves all three
PARTS = (SCENE_PARSER, QUESTION_PARSER)
STAGES = {SCENE_PARSER: "scenes", QUESTION_PARSER: "questions"}  # what records of trainings call their times
QUESTION_GROUPS = ("object", "part")  # questions about whole vehicles, and about their parts
FACTORS = tuple(VARIANTS)
REDUNDANCY_LEVELS = VARIANTS["redundancy"]
VISUAL_LEVELS = (MID, "hard")  # at which the variants of a factor but visual complexity can be seen
TEST_VARIANTS = {**VARIANTS, "distribution": ("bal", "slt", "long", "head", "tail", "oppo")}
SEEDS = (0, 1, 2)  # of the default's training; all else is of the first


@dataclass(frozen=True, slots=True, order=True)
class StudyDomain:
    """Data to train or test on: a variant, and the visual level it is rendered at."""

    variant: str = DEFAULT
    visual: str = MID

    @property
    def label(self) -> str:
        plain = self.visual == MID or self.variant == self.visual or self.variant == "easy"
        return self.variant if plain else f"{self.variant}@{self.visual}"

    def build_spec(self, scale: StudyScale) -> SuperclevrSpec:
        """The spec of the data, as `make` takes it."""
        return SuperclevrSpec(
            variant=self.variant,
            visual=self.visual,
            images=scale.images,
            size=scale.size,
            questions=scale.questions,
            part_questions=scale.part_questions,
            shard=scale.shard,
        )

    def to_json(self) -> dict[str, Any]:
        return {"variant": self.variant, "visual": self.visual}

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
class FactorGrid:
    """One factor's part of the matrix: trainings are rows, tests columns, each by its name there."""

    factor: str
    visual: str
    trained: tuple[tuple[str, TrainingSetup], ...]
    tested: tuple[tuple[str, StudyDomain], ...]

    @property
    def title(self) -> str:
        return self.factor if self.visual == MID else f"{self.factor}, seen {self.visual}"


def factor_grid(factor: str, visual: str = MID) -> FactorGrid:
    """The grid of a factor; visual complexity has one only."""
    if factor not in VARIANTS:
        raise unknown("factor", factor, VARIANTS)
    if visual not in VISUAL_LEVELS:
        raise unknown("visual level of a study", visual, VISUAL_LEVELS)
    if factor == "visual":
        visual = MID
    return FactorGrid(
        factor,
        visual,
        tuple((name, TrainingSetup.from_name(name, visual)) for name in VARIANTS[factor]),
        tuple((name, StudyDomain.from_name(name, visual)) for name in TEST_VARIANTS[factor]),
    )


def list_grids() -> list[FactorGrid]:
    """Those the results page has: each factor as the default is seen, and the distribution seen hard too."""
    return [*(factor_grid(factor) for factor in FACTORS), factor_grid("distribution", "hard")]


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One training and the domains it is tested on."""

    trained: TrainingSetup
    tests: tuple[StudyDomain, ...]


def plan_rows(
    factors: Sequence[str] = FACTORS, visual: str = MID, *, seeds: Sequence[int] = (0,), only: Collection[str] = ()
) -> list[StudyRow]:
    """The trainings of these factors with their tests, the default first; rows that share scenes together.

    `only` names the trainings wanted, as their factors do; other seeds are of the default, tested in its own
    domain.
    """
    found: dict[TrainingSetup, dict[StudyDomain, None]] = {}
    names: dict[str, TrainingSetup] = {}
    for factor in factors:
        one = factor_grid(factor, visual)
        for name, trained in one.trained:
            names[name] = trained
            found.setdefault(trained, {}).update((tested, None) for _, tested in one.tested)
    known = {*names, *(t.scenes.variant for t in found)}
    for name in only:
        if name not in known:
            raise unknown("training", name, known, "the factors chosen")
    for seed in seeds:
        if seed < 0:
            raise UserError(f"a seed is 0 or more, not {seed}")
        if seed:
            found.setdefault(TrainingSetup(seed=seed), {})[StudyDomain()] = None
    wanted = {names[n] for n in only if n in names}
    wanted |= {t for t in found if t.scenes.variant in only and t.questions == RD}
    rows = [StudyRow(t, tuple(tests)) for t, tests in found.items() if not only or replace(t, seed=0) in wanted]
    return sorted(rows, key=_row_order)


def _row_order(row: StudyRow) -> tuple[Any, ...]:
    """The default first, and of each scene parser the usual questions first."""
    trained = row.trained
    return trained.scenes != StudyDomain(), trained.scenes, trained.seed, trained.questions != RD


@dataclass(frozen=True, slots=True)
class ParserTraining:
    """One parser that a study trains: on scenes of a domain, or on the default's questions at a level."""

    part: str  # one of PARTS
    domain: StudyDomain  # what it learns from
    seed: int
    scale: StudyScale

    @property
    def name(self) -> str:
        """Of its folder."""
        label = self.domain.label.replace("@", "-")
        return f"{self.scale.name}-{PARSERS[self.part]}-{label}-{self.seed}"

    @property
    def epochs(self) -> int | None:
        return self.scale.epochs[PARTS.index(self.part)] if self.scale.epochs else None


def list_parts(trained: TrainingSetup, scale: StudyScale) -> tuple[ParserTraining, ...]:
    """What is trained for a row, in the order of PARTS; rows that share one train it once."""
    questions = StudyDomain.from_name(trained.questions)
    return (
        ParserTraining(SCENE_PARSER, trained.scenes, trained.seed, scale),
        ParserTraining(QUESTION_PARSER, questions, trained.seed, scale),
    )


parse_scale, parse_training, parse_domain = StudyScale.from_json, TrainingSetup.from_json, StudyDomain.from_json


def find_base(trained: TrainingSetup) -> TrainingSetup:
    """The training whose first part this one shares."""
    return replace(trained, questions=RD)


def is_diagnosed(trained: TrainingSetup, tested: StudyDomain) -> bool:
    """Whether oracles show where answers are lost: for the default in its own domain."""
    return trained == TrainingSetup() and tested == StudyDomain()


@lru_cache(maxsize=1)
def _list_part_templates() -> frozenset[str]:
    from ...questions.clevr.template_sets import builtin_part_templates

    return frozenset(t.file for t in builtin_part_templates(SCHEMA).templates)


def find_group(question: Question) -> str:
    """The group that a question is scored in."""
    return QUESTION_GROUPS[question.provenance.template in _list_part_templates()]


def list_places(trained: TrainingSetup, tested: StudyDomain, visual: str) -> Iterator[tuple[str, str, str]]:
    """Where an entry stands: factor, and the names of training and test there; seeds stand by themselves."""
    if trained.seed:
        yield "seeds", trained.label.replace(" ", "-"), tested.label
        return
    grids = [*list_grids(), *(factor_grid(g.factor, visual) for g in list_grids())]
    for one in {(g.factor, g.visual): g for g in grids}.values():
        row = next((name for name, t in one.trained if t == trained), None)
        column = next((name for name, at in one.tested if at == tested), None)
        if row and column:
            yield one.title.replace(", seen ", "-"), row, column


# The parts of a model once they are trained.


def find_shipped(part: str, digest: str | None) -> TrainedModel | None:
    """The parser that comes with the package, if it is the one of this hash."""
    folder = SHIPPED / SUITE
    if digest is None or not (folder / MODEL_FILE).is_file():
        return None
    found = read_trained_model(folder)
    if found.about.get(part, {}).get("blake2b") != digest:
        return None
    return TrainedModel(folder, found.about | {"seconds": found.about["seconds"][PARSERS[part]]})


def combine_parts(folder: Path, parts: Sequence[TrainedModel]) -> None:
    """Write the parts as one model, which `run --model NAME:FOLDER` takes."""
    scenes, questions = parts
    write_combined_model(folder, scenes, questions)


def hash_recipes(parts: Sequence[TrainedModel]) -> str:
    """The same for parsers built and trained in the same way, whatever they learned from."""
    recipes = []
    for trained, part in zip(parts, PARTS, strict=True):
        config = {k: v for k, v in trained.config(part).items() if k != "vocabulary"}
        recipes.append([config, trained.about[part]["recipe"]])
    return content_id(recipes)


def hash_learned(parts: Sequence[TrainedModel]) -> str:
    """What ADAPTING_MODELS depend on besides the weights: calibration, relations, and how they adapt."""
    from ...models import p_nsvqa_exact

    learned = [parts[0].about.get(key) for key in ("calibration", "spatial")]
    return content_id([*learned, p_nsvqa_exact.ADAPTATION_IMAGES, p_nsvqa_exact.ADAPTATION_VERSION])


def list_validation(parts: Sequence[TrainedModel]) -> dict[str, float]:
    """What the parts reached on validation data."""
    scenes, questions = (trained.about[part]["val"] for trained, part in zip(parts, PARTS, strict=True))
    return {**scenes, "program": questions["exact"]}
