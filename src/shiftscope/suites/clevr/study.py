"""CLEVR's study: the models of Super-CLEVR's in domain on CLEVR, the other half of that paper's Figure 3.

There is one training, CLEVR's own data, and one test set, its test split. At scale paper there are 20,000 training
images, as many as Super-CLEVR's study has, and the data are those that the shipped parsers learned from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import UserError, unknown
from ...records import JsonRecord
from ..parser_study import OBJECT, ParserStudy, check_rows, read_texts
from ..study import FactorGrid, Finding, StudyRow
from .suite import ClevrSpec

if TYPE_CHECKING:
    from ...metrics.transfer_matrix import TransferMatrix

TEXTS = read_texts(Path(__file__).with_suffix(".toml"))  # what it says besides figures
DEFAULT = "default"  # the name of the only training and of the only test set
IN_DOMAIN = "in-domain"  # what stands for a factor
USUAL_VISUAL = "mid"  # of the command line; no visual level is CLEVR's


@dataclass(frozen=True, slots=True)
class ClevrScale(JsonRecord):
    """A size of study. `images` are over train, val and test (70 : 15 : 15)."""

    suite: ClassVar[str] = "clevr"
    name: str
    images: int
    size: tuple[int, int]
    questions: int = 10  # per image
    shard: int = 250  # images whose questions are balanced together
    epochs: int | None = None  # of every part; else as many as its recipe says

    @property
    def train_images(self) -> int:
        return ClevrDomain().build_spec(self).splits()["train"]

    @property
    def test_images(self) -> int:
        return ClevrDomain().build_spec(self).splits()["test"]


SCALES = {
    "small": ClevrScale("small", 480, (168, 112), shard=40, epochs=4),
    "paper": ClevrScale("paper", 28_570, (480, 320)),
}


@dataclass(frozen=True, slots=True, order=True)
class ClevrDomain(JsonRecord):
    """Data to train or test on: CLEVR as it is."""

    variant: str = DEFAULT
    visual: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if self.variant != DEFAULT:
            raise unknown("variant", self.variant, (DEFAULT,), "clevr's study")

    @property
    def label(self) -> str:
        return self.variant

    def build_spec(self, scale: ClevrScale) -> ClevrSpec:
        return ClevrSpec(images=scale.images, size=scale.size, questions=scale.questions, shard=scale.shard)


@dataclass(frozen=True, slots=True, order=True)
class ClevrTraining(JsonRecord):
    """What a model learned from is CLEVR; trainings differ in their seed."""

    seed: int = 0

    @property
    def label(self) -> str:
        return f"{DEFAULT} seed {self.seed}" if self.seed else DEFAULT


HOME = (ClevrTraining(), ClevrDomain())
GRID = FactorGrid(IN_DOMAIN, "", "in domain", ((DEFAULT, HOME[0]),), ((DEFAULT, HOME[1]),), farthest=HOME)


class ClevrStudy(ParserStudy):
    """Every model in domain, beside the same model on Super-CLEVR."""

    suite = "clevr"
    title = "Models on CLEVR"
    dataset, stored, beside = "CLEVR", "clevr", "superclevr"
    scale_type, training_type, domain_type = ClevrScale, ClevrTraining, ClevrDomain
    question_groups = (OBJECT,)
    factors = (IN_DOMAIN,)
    grids = (GRID,)
    default = HOME
    scales = SCALES
    test_share = "15%"
    measures: Mapping[str, str] = TEXTS["measures"]
    terms: Mapping[str, str] = TEXTS["terms"]
    notes: Mapping[str, str] = TEXTS["notes"]

    def plan_rows(
        self,
        factors: Sequence[str] = factors,
        visual: str = USUAL_VISUAL,
        *,
        seeds: Sequence[int] = (0,),
        only: Collection[str] = (),
        tests: Collection[str] = (),
    ) -> list[StudyRow]:
        """One row for each seed."""
        for factor in factors:
            if factor not in self.factors:
                raise unknown("factor", factor, self.factors, "clevr's study")
        if visual != USUAL_VISUAL:
            raise UserError(f"CLEVR is rendered in one way, so its study has no visual level {visual!r}; omit --visual")
        check_rows(only, tests, seeds, (DEFAULT,), (DEFAULT,))
        return [StudyRow(ClevrTraining(seed), (ClevrDomain(),)) for seed in seeds]

    def find_domain(self, trained: ClevrTraining, supervision: frozenset[str]) -> ClevrDomain:
        return ClevrDomain()

    def list_places(self, trained: ClevrTraining, tested: ClevrDomain, visual: str) -> Iterator[tuple[str, str, str]]:
        """Seeds stand by themselves."""
        yield "seeds" if trained.seed else IN_DOMAIN, trained.label.replace(" ", "-"), tested.label

    def describe_scale(self, scale: ClevrScale) -> str:
        width, height = scale.size
        return (
            f"Scale *{scale.name}*: {scale.train_images:,} images to train on, {scale.test_images:,} to validate, "
            f"{scale.test_images:,} to test, {width}×{height}, {scale.questions} questions per image."
        )

    def check_findings(self, matrix: TransferMatrix) -> Iterator[tuple[str, Sequence[Finding]]]:
        from .findings import check_paper_findings

        yield "The paper's findings", tuple(check_paper_findings(matrix))

    def list_differences(self, matrix: TransferMatrix) -> list[tuple[str, str, str]]:
        width, height = matrix.scale.size
        figures: dict[str, Any] = {"width": width, "height": height, "train": f"{matrix.scale.train_images:,}"}
        return [(row["of"], row["paper"], row["here"].format(**figures)) for row in TEXTS["differences"]]


STUDY = ClevrStudy()
