"""Agreement of annotators: how often two judge alike, and how much more often than by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

Judgements = Mapping[str, Mapping[str, str]]  # question → annotator → what was judged


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators on the questions that both judged."""

    first: str
    second: str
    n: int
    observed: float
    kappa: float | None  # Cohen's; None where chance alone would agree


@dataclass(frozen=True, slots=True)
class Agreement:
    """All annotators on the questions that at least two judged."""

    n: int  # questions
    observed: float | None  # share of pairs of judgements that are alike, each question with the same weight
    alpha: float | None  # Krippendorff's, nominal: 1 perfect, 0 as by chance; None where it is not defined
    pairs: tuple[PairAgreement, ...] = ()


def measure_agreement(judgements: Judgements) -> Agreement:
    shared = [list(given.values()) for given in judgements.values() if len(given) > 1]
    names = sorted({name for given in judgements.values() for name in given})
    pairs = [_compare(judgements, one, other) for one, other in combinations(names, 2)]
    met = tuple(pair for pair in pairs if pair is not None)
    if not shared:
        return Agreement(0, None, None, met)
    observed = sum(_share_alike(labels) for labels in shared) / len(shared)
    return Agreement(len(shared), observed, measure_alpha(shared), met)


def _share_alike(labels: list[str]) -> float:
    n = len(labels)
    return sum(k * (k - 1) for k in Counter(labels).values()) / (n * (n - 1))


def measure_alpha(units: list[list[str]]) -> float | None:
    """Krippendorff's alpha for labels without order (2011); units may have different numbers of labels, from two up."""
    total = sum(map(len, units))
    whole = Counter(label for labels in units for label in labels)
    apart = 0.0
    for labels in units:
        counts = Counter(labels)
        apart += sum(k * (len(labels) - k) for k in counts.values()) / (len(labels) - 1)
    expected = sum(k * (total - k) for k in whole.values()) / (total - 1)
    return None if expected == 0 else 1 - apart / expected


def _compare(judgements: Judgements, one: str, other: str) -> PairAgreement | None:
    both = [(given[one], given[other]) for given in judgements.values() if one in given and other in given]
    if not both:
        return None
    n = len(both)
    observed = sum(a == b for a, b in both) / n
    first, second = Counter(a for a, _ in both), Counter(b for _, b in both)
    chance = sum(first[label] * second[label] for label in first) / n**2
    return PairAgreement(one, other, n, observed, None if chance == 1 else (observed - chance) / (1 - chance))
