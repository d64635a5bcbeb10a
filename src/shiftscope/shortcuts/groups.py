"""Groups: samples with the same concept, how uneven their answers are, and which answers are rare.

What samples are grouped by (QT, KW, QT+KW and so on) is in concepts.py.
VQA-VS (Si et al., 2022) §3.4, after GQA-OOD (Kervadec et al., 2021).
"""

from collections import Counter
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..question_table import Rows, number_keys
from .concepts import Codes, ConceptLabels, Ints

IMBALANCED = 0.9  # a group is imbalanced if its normalised entropy is below this
RARE = 1.2  # an answer is rare if its count is below this many times the group's mean count
BALANCED, HEAD, TAIL = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class AnswerGroups:
    """The groups of one shortcut among some of the samples (the train split, the IID test, …).

    Arrays over groups are indexed by the concept's number in `labels`; a concept that none of the samples
    has is a group of size 0, with entropy 1 and not imbalanced.
    """

    labels: ConceptLabels
    rows: Rows  # the samples that were to be grouped; those without a concept are in no group
    size: Ints  # [concept] samples
    classes: Ints  # [concept] distinct answers, M in eq. 7
    entropy: npt.NDArray[np.float64]  # [concept] normalised, ê; 1 for a group with one answer
    imbalanced: npt.NDArray[np.bool_]  # [concept]
    part: npt.NDArray[np.int8]  # [row of `rows`] BALANCED, HEAD or TAIL

    @property
    def head(self) -> Rows:
        """Samples with a frequent answer of an imbalanced group."""
        return np.asarray(self.rows[self.part == HEAD])

    @property
    def tail(self) -> Rows:
        """Samples with a rare answer of an imbalanced group: the OOD set."""
        return np.asarray(self.rows[self.part == TAIL])

    @property
    def sample_count(self) -> int:
        """How many of the samples are in a group."""
        return int(self.size.sum())

    def imbalance_degree(self, least: int = 1) -> float:
        """Eq. 8: the mean of ê weighted by the groups' sizes, over those with at least so many answers; lower is more
        imbalanced.
        """
        return average_entropy(self.entropy, np.where(self.classes >= least, self.size, 0))


def average_entropy(entropy: npt.NDArray[np.float64], size: Ints) -> float:
    """Eq. 8: the mean of ê weighted by the groups' sizes; 1 without any."""
    total = int(size.sum())
    return float((entropy * size).sum() / total) if total else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class PairFigures:
    """How often each group has each answer: the pairs that occur, by group and then by answer."""

    group: Ints  # [pair] concept
    count: Ints  # [pair] samples
    size: Ints  # [concept]
    classes: Ints  # [concept]
    entropy: npt.NDArray[np.float64]  # [concept]

    def list_counts(self, concepts: Ints) -> list[tuple[int, ...]]:
        """How often each answer occurs in these groups, rare ones first: all that an entropy depends on."""
        first, last = (np.searchsorted(self.group, concepts, side=s).tolist() for s in ("left", "right"))
        return [tuple(sorted(self.count[a:b].tolist())) for a, b in zip(first, last, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class GroupAnswerCounts:
    """The answers of the groups of some samples, and which of these pairs each sample is."""

    labels: ConceptLabels
    rows: Rows
    pair: Ints  # [row of `rows`]; -1 without a concept
    pairs: PairFigures


def count_answers(labels: ConceptLabels, answers: Codes, rows: Rows) -> GroupAnswerCounts:
    """The answers of the given samples in each group, and how even they are (eq. 7 over log M)."""
    width = int(answers.max(initial=0)) + 1
    key = labels.codes[rows].astype(np.int64) * width + answers[rows]
    inside = labels.codes[rows] >= 0
    pair = np.full(len(rows), -1, np.int64)
    pairs, pair[inside], counts = number_keys(key[inside])
    return GroupAnswerCounts(labels, rows, pair, measure_pairs(pairs // width, counts, len(labels)))


def measure_pairs(group: Ints, count: Ints, groups: int) -> PairFigures:
    """The figures of so many groups, from the pairs of group and answer that occur, by group and then by answer."""
    size = np.bincount(group, weights=count, minlength=groups).astype(np.int64)
    classes = np.bincount(group, minlength=groups)
    uneven = np.bincount(group, weights=count * np.log(count), minlength=groups)
    several = classes > 1
    entropy = np.ones(groups)
    total = size[several]
    entropy[several] = (np.log(total) - uneven[several] / total) / np.log(classes[several])
    return PairFigures(group, count, size, classes, entropy)


def build_groups(
    labels: ConceptLabels, answers: Codes, rows: Rows, imbalanced: float = IMBALANCED, rare: float = RARE
) -> AnswerGroups:
    """The groups of the given samples by the rule of VQA-VS."""
    counted = count_answers(labels, answers, rows)
    return split_head_tail(counted, find_imbalanced(counted.pairs, imbalanced), rare)


def split_head_tail(counted: GroupAnswerCounts, imbalanced: npt.NDArray[np.bool_], rare: float = RARE) -> AnswerGroups:
    """Heads and tails of the groups marked imbalanced."""
    pairs = counted.pairs
    kind = np.append(mark_pairs(pairs, imbalanced, rare), np.int8(BALANCED))  # the last: in no group, of pair -1
    return AnswerGroups(
        counted.labels, counted.rows, pairs.size, pairs.classes, pairs.entropy, imbalanced, kind[counted.pair]
    )


def mark_pairs(pairs: PairFigures, imbalanced: npt.NDArray[np.bool_], rare: float) -> npt.NDArray[np.int8]:
    """[pair] BALANCED, HEAD or TAIL; counts are compared with rare × mean exactly."""
    if not 0 < rare < 1000:
        raise UserError(f"an answer is rare below some times the mean count: above 0, below 1000, not {rare}")
    times = Fraction(repr(float(rare))).limit_denominator(1_000_000)  # so that 64 bits hold the products
    group, per = pairs.group, times.denominator
    few = pairs.count * pairs.classes[group] * per < pairs.size[group] * times.numerator
    return np.where(imbalanced[group], np.where(few, TAIL, HEAD), BALANCED).astype(np.int8)


def find_imbalanced(counted: PairFigures, limit: float) -> npt.NDArray[np.bool_]:
    """Which groups have a normalised entropy below the limit; one answer only: never.

    Where rounding could decide, 60 digits do, so every machine decides alike; equal is not below.
    """
    if not 0 < limit <= 1:
        raise UserError(f"the entropy limit must be above 0 and at most 1, not {limit}")
    several = counted.classes > 1
    found = several & (counted.entropy < limit)
    close = np.flatnonzero(several & (np.abs(counted.entropy - limit) < NEAR_LIMIT))
    decided: dict[tuple[int, ...], bool] = {}  # many groups have the same few counts
    for concept, counts in zip(close.tolist(), counted.list_counts(close), strict=True):
        if counts not in decided:
            difference = EXACT_CONTEXT.subtract(exact_entropy(counts), Decimal(repr(float(limit))))
            decided[counts] = difference < -EQUAL_WITHIN
        found[concept] = decided[counts]
    return found


NEAR_LIMIT = 1e-9  # where a float is as near as this to its limit, more digits decide
EXACT_CONTEXT = Context(prec=60)
EQUAL_WITHIN = Decimal("1e-40")  # what differs by less is equal
_exact_log = cache(EXACT_CONTEXT.ln)


def exact_entropy(counts: tuple[int, ...]) -> Decimal:
    """The normalised entropy of a group whose answers occur so often, to some 55 digits; 1 for one answer."""
    if len(counts) == 1:
        return Decimal(1)
    total, uneven = sum(counts), Decimal(0)
    for n in counts:
        uneven = EXACT_CONTEXT.add(uneven, EXACT_CONTEXT.multiply(Decimal(n), _exact_log(n)))
    entropy = EXACT_CONTEXT.subtract(_exact_log(total), EXACT_CONTEXT.divide(uneven, Decimal(total)))
    return EXACT_CONTEXT.divide(entropy, _exact_log(len(counts)))


def find_uneven(counted: PairFigures) -> npt.NDArray[np.bool_]:
    """Which groups GQA-OOD keeps: those whose entropy is at most the mean of all less one standard deviation.

    Where rounding could decide, many digits do, and equal is at most.
    """
    there = np.flatnonzero(counted.size > 0)
    found = np.zeros(len(counted.size), bool)
    if not len(there):
        return found
    values = counted.entropy[there]
    limit = values.mean() - values.std()
    found[there] = values < limit
    close = np.abs(values - limit) < NEAR_LIMIT
    if close.any():
        counts = counted.list_counts(there)
        digits = {one: exact_entropy(one) for one in set(counts)}
        most = EXACT_CONTEXT.add(_entropy_limit(Counter(counts), digits), EQUAL_WITHIN)
        found[there[close]] = [digits[counts[k]] <= most for k in np.flatnonzero(close).tolist()]
    return found


def _entropy_limit(groups: Counter[tuple[int, ...]], entropy: dict[tuple[int, ...], Decimal]) -> Decimal:
    """The mean entropy less the standard deviation, with many digits."""

    def compute_mean(values: dict[tuple[int, ...], Decimal]) -> Decimal:
        total = Decimal(0)
        for one in sorted(groups):
            total = EXACT_CONTEXT.add(total, EXACT_CONTEXT.multiply(Decimal(groups[one]), values[one]))
        return EXACT_CONTEXT.divide(total, Decimal(groups.total()))

    middle = compute_mean(entropy)
    away = {one: EXACT_CONTEXT.subtract(e, middle) for one, e in entropy.items()}
    variance = compute_mean({one: EXACT_CONTEXT.multiply(d, d) for one, d in away.items()})
    return EXACT_CONTEXT.subtract(middle, EXACT_CONTEXT.sqrt(variance))
