"""Verdicts by intervals: what figures at 95% settle for or against a finding, and what they leave open.

A rule is true, false, or None where intervals allow both; rules join as sentences do. Figures that are compared are
taken as independent, unless their difference was measured. Where one of several comparisons settles a rule against it,
its interval is at a level corrected for so many (Bonferroni): else one of them would settle it by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

from ..metrics.transfer_matrix import TransferMatrix
from .study import FAILS, HOLDS, UNDECIDED

Decided = bool | None  # None: open
TAIL = 0.025


class FigureWithEnds(Protocol):
    """A figure whose interval may be unknown."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Ends:
    """A figure between the ends of its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def read(cls, found: FigureWithEnds) -> Ends:
        """Without an interval it may be anything; so may a score that closes no gap."""
        value = math.nan if found.value is None else found.value
        unknown = found.value is None
        low = -math.inf if found.low is None or unknown else found.low
        return cls(value, low, math.inf if found.high is None or unknown else found.high)

    def measure_above(self, bar: float) -> Ends:
        """How far it is above a bar."""
        return Ends(self.value - bar, self.low - bar, self.high - bar)

    def measure_below(self, bar: float) -> Ends:
        return Ends(bar - self.value, bar - self.high, bar - self.low)

    def __sub__(self, other: Ends) -> Ends:
        value = self.value - other.value
        below = math.hypot(self.value - self.low, other.high - other.value)
        above = math.hypot(self.high - self.value, other.value - other.low)
        return _around(value, below, above)

    def widen(self, comparisons: int) -> Ends:
        """Its interval as one of several comparisons."""
        longer = NormalDist().inv_cdf(1 - TAIL / comparisons) / NormalDist().inv_cdf(1 - TAIL)
        return _around(self.value, longer * (self.value - self.low), longer * (self.high - self.value))


UNKNOWN = Ends(math.nan, -math.inf, math.inf)  # a figure that is not measured


def _around(value: float, below: float, above: float) -> Ends:
    """An interval that is open at an end where nothing is known of that side."""
    low = -math.inf if math.isnan(value) or math.isnan(below) else value - below
    return Ends(value, low, math.inf if math.isnan(value) or math.isnan(above) else value + above)


def average(some: Sequence[Ends]) -> Ends:
    """The mean of figures that have nothing to do with each other."""
    n = len(some)
    value = sum(one.value for one in some) / n
    below = math.hypot(*(one.value - one.low for one in some)) / n
    return _around(value, below, math.hypot(*(one.high - one.value for one in some)) / n)


def average_overlapping(some: Sequence[Ends]) -> Ends:
    """The mean of figures that may be of the same questions: as unsure as if all of them were off alike."""
    n = len(some)
    value = sum(one.value for one in some) / n
    return _around(value, sum(one.value - one.low for one in some) / n, sum(one.high - one.value for one in some) / n)


def is_above(figure: Ends, bound: float = 0.0, comparisons: int = 1) -> Decided:
    """Whether it is above a bound, of one comparison or of several that must all hold."""
    if figure.low > bound:
        return True
    return False if figure.widen(comparisons).high < bound else None


def is_below(figure: Ends, bound: float, comparisons: int = 1) -> Decided:
    if figure.high < bound:
        return True
    return False if figure.widen(comparisons).low > bound else None


def is_within(figure: Ends, distance: float) -> Decided:
    """Whether it is nearer to 0 than that."""
    return join(is_below(figure, distance), is_above(figure, -distance))


def join(*rules: Decided) -> Decided:
    """Whether all hold."""
    if any(one is False for one in rules):
        return False
    return None if any(one is None for one in rules) else True


def count_between(rules: Sequence[Decided], least: float, most: float = math.inf) -> Decided:
    """Whether so many of the rules hold, both bounds included."""
    sure, possible = sum(one is True for one in rules), sum(one is not False for one in rules)
    if sure >= least and possible <= most:
        return True
    return False if possible < least or sure > most else None


def judge_gaps(gaps: Sequence[Ends]) -> str:
    """A finding holds where all of these are surely above 0, and does not where one is surely not."""
    return name_verdict(join(*(is_above(gap, comparisons=len(gaps)) for gap in gaps)))


def name_verdict(decided: Decided) -> str:
    return UNDECIDED if decided is None else HOLDS if decided else FAILS


def measure_gap(matrix: TransferMatrix, model: str) -> Ends | None:
    """By how much a model in domain is above itself on the data set beside; None where one of the two is missing."""
    here = matrix.find_in_domain(model)
    there = matrix.beside.find_in_domain(model) if matrix.beside else None
    return Ends.read(here) - Ends.read(there) if here and there else None


# How the figures of a finding are told.


def join_names(models: Sequence[str]) -> str:
    return f"{', '.join(models[:-1])} and {models[-1]}"


def format_percent(share: float, apart_from: float | None = None) -> str:
    """Two digits; more where a share that differs from a bar would be shown as equal to it: 91.996%."""
    hidden = apart_from is not None and share != apart_from and f"{100 * share:.2f}" == f"{100 * apart_from:.2f}"
    return f"{100 * share:.{4 if hidden else 2}f}%"


def format_points(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return ""
    ends = "" if low is None or high is None else f" ({100 * low:+.2f} to {100 * high:+.2f})"
    return f"{100 * value:+.2f} points{ends}"
