"""GQA-OOD: the rare answers of the most uneven local groups are the tail, the frequent ones the head.

Kervadec et al., "Roses Are Red, Violets Are Blue" (CVPR 2021). The groups are GQA's own local ones ("14-man
wearing"), or those of any shortcut of VQA-VS. A group is kept if its normalised entropy is at most the mean
of all groups less one standard deviation (of these groups, dividing by their number); an answer is in the
tail if its count is below (1 + α) times the group's mean. As in the authors' construction, all groups count
alike, a group with one answer as one of entropy 1, and the questions without a local group are a group too.
Where all groups are perfectly even, all are therefore kept, and all of their answers are rare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from ..audit.audit import Audit
from ..audit.concepts import label
from ..audit.groups import CLOSE, DIGITS, SAME, Counted, Groups, below, count, exact_entropy, parted
from ..audit.labels import SHORTCUTS, Labels, labels_of
from ..audit.samples import Rows, Samples
from ..audit.sets import SampleSet
from ..audit.split import TEST
from ..errors import UserError, unknown

ALPHA = 0.2
LOCAL = "local"  # GQA's own groups


@dataclass(frozen=True, slots=True)
class Settings:
    """What the construction depends on."""

    alpha: float = ALPHA
    entropy: float | None = None  # keep groups below this instead of up to mean − deviation
    by: str = LOCAL  # or a shortcut of VQA-VS: QT, KW, …


def sets(
    samples: Samples, settings: Settings | None = None, rows: Rows | None = None
) -> tuple[SampleSet, ...]:
    """All samples of the kept groups, their head and their tail; of the given samples, else of all."""
    return _sets(build(samples, settings, rows))


def sets_of(found: Audit, settings: Settings | None = None) -> tuple[SampleSet, ...]:
    """The sets of an audit's IID test, by the audit's own concepts; none of them is in its train split."""
    chosen = _checked(settings or Settings())
    missing = dict(found.missing).get(chosen.by, "")
    labels = _labels(found.samples, chosen.by, found.labels, missing)
    return _sets(_build(labels, found.samples, chosen, found.split.rows(TEST)))


def build(samples: Samples, settings: Settings | None = None, rows: Rows | None = None) -> Groups:
    """The groups with their heads and tails."""
    chosen = _checked(settings or Settings())
    labelled: Mapping[str, Labels] = {}
    missing = ""
    if chosen.by in SHORTCUTS:
        concepts = label(samples)
        labelled, missing = concepts.labels, dict(concepts.missing).get(chosen.by, "")
    labels = _labels(samples, chosen.by, labelled, missing)
    return _build(labels, samples, chosen, np.arange(len(samples)) if rows is None else rows)


def _checked(settings: Settings) -> Settings:
    if settings.alpha <= -1:
        raise UserError(f"alpha must be above -1, not {settings.alpha}")
    return settings


def _sets(found: Groups) -> tuple[SampleSet, ...]:
    inside = found.rows[found.part > 0]
    return SampleSet("all", inside), SampleSet("head", found.head), SampleSet("tail", found.tail)


def _build(labels: Labels, samples: Samples, chosen: Settings, rows: Rows) -> Groups:
    counted = count(labels, samples.answers.codes, rows)
    kept = _uneven(counted) if chosen.entropy is None else below(counted, chosen.entropy)
    return parted(counted, kept, round(1 + chosen.alpha, 6))


def _labels(samples: Samples, by: str, labelled: Mapping[str, Labels], missing: str) -> Labels:
    if by == LOCAL:
        if samples.local is None:
            raise UserError("the questions name no local groups; take those of a shortcut, such as QT+KW")
        return labels_of(LOCAL, (samples.local.values,), (samples.local.codes,))
    if by not in SHORTCUTS:
        raise unknown("grouping", by, (LOCAL, *SHORTCUTS))
    if by not in labelled:
        raise UserError(f"no groups of {by}: {missing}")
    return labelled[by]


def _uneven(counted: Counted) -> npt.NDArray[np.bool_]:
    """Groups whose entropy is at most the mean less one standard deviation; where rounding could decide,
    many digits do, and equal is at most.
    """
    there = np.flatnonzero(counted.size > 0)
    found = np.zeros(len(counted.size), bool)
    if not len(there):
        return found
    values = counted.entropy[there]
    limit = values.mean() - values.std()
    found[there] = values < limit
    close = np.abs(values - limit) < CLOSE
    if close.any():
        counts = counted.counts(there)
        exact = {one: exact_entropy(one) for one in set(counts)}
        most = DIGITS.add(_limit(Counter(counts), exact), SAME)
        found[there[close]] = [exact[counts[k]] <= most for k in np.flatnonzero(close).tolist()]
    return found


def _limit(groups: Counter[tuple[int, ...]], entropy: dict[tuple[int, ...], Decimal]) -> Decimal:
    """The mean entropy less the standard deviation, with many digits."""

    def mean(values: dict[tuple[int, ...], Decimal]) -> Decimal:
        total = Decimal(0)
        for one in sorted(groups):
            total = DIGITS.add(total, DIGITS.multiply(Decimal(groups[one]), values[one]))
        return DIGITS.divide(total, Decimal(groups.total()))

    middle = mean(entropy)
    away = {one: DIGITS.subtract(e, middle) for one, e in entropy.items()}
    variance = mean({one: DIGITS.multiply(d, d) for one, d in away.items()})
    return DIGITS.subtract(middle, DIGITS.sqrt(variance))
