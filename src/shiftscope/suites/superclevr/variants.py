"""The variants of Super-CLEVR: the default, and for each of four factors what differs from it."""

from dataclasses import dataclass
from types import ModuleType

from ...errors import unknown
from ...shift import compositionality, concept_distribution, redundancy, visual_complexity
from ...world.superclevr.concepts import BALANCED, ConceptDistribution

FACTORS: tuple[ModuleType, ...] = (visual_complexity, redundancy, concept_distribution, compositionality)
DEFAULT = "default"
MID, RD = visual_complexity.FACTOR.base, redundancy.FACTOR.base


@dataclass(frozen=True, slots=True)
class SuperclevrVariant:
    """One dataset of a study. The default stands for mid, rd, bal and co-0."""

    name: str
    visual: str = MID
    redundancy: str = RD
    concepts: ConceptDistribution = BALANCED
    factor: str = ""  # in which it differs from the default
    level: int = 0  # its place among the factor's variants
    test_only: bool = False


def _build_variants() -> dict[str, SuperclevrVariant]:
    found = {DEFAULT: SuperclevrVariant(DEFAULT)}
    for shift in FACTORS:
        factor = shift.FACTOR
        for level, name in enumerate(factor.variants):
            if name == factor.base:
                continue
            variant = SuperclevrVariant(name, factor=factor.name, level=level, test_only=name in factor.test_only)
            found[name] = shift.variant(variant, name)
    return found


VARIANTS = _build_variants()


def find_variant(name: str) -> SuperclevrVariant:
    """A variant by its name; the names of the default's levels stand for the default."""
    if name in (shift.FACTOR.base for shift in FACTORS):
        return VARIANTS[DEFAULT]
    if name not in VARIANTS:
        raise unknown("variant", name, VARIANTS, "superclevr")
    return VARIANTS[name]


def load_shift(variant: SuperclevrVariant) -> ModuleType:
    return next(shift for shift in FACTORS if shift.FACTOR.name == variant.factor)
