"""Bootstrap intervals: scenes drawn with replacement, for figures that are no sum of shares."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..columns import Column
from ..result import Floats
from ..rng import derive
from .intervals import LEVEL, Array, sum_bins, widening_factor

REPLICATES = 1000
MOST_GROUPS = 10_000  # more clusters are dealt into so many groups; widths are then off by about 1%
_AT_ONCE = 100  # replicates weighed together
_WIDE = 256  # slices weighed together

Ints = npt.NDArray[np.int64]


class SceneBootstrap:
    """The replicates of one set of rows."""

    def __init__(self, cluster: Array, replicates: int = REPLICATES) -> None:
        """`cluster` numbers the scene of each row."""
        present = np.bincount(cluster) > 0
        self.clusters = int(present.sum())
        self.replicates = replicates
        self.groups = max(1, min(self.clusters, MOST_GROUPS))
        dealt = np.arange(self.clusters)
        if self.clusters > MOST_GROUPS:
            dealt = derive("bootstrap", "groups", self.clusters).permutation(self.clusters) % MOST_GROUPS
        number = np.zeros(len(present), np.int64)
        number[present] = dealt
        self._group: Ints = number[cluster]

    def sum_by_slice(self, values: Array, at: Array | None = None, size: int = 1) -> Floats:
        """The sum of the values of each slice in each replicate; a row whose slice is -1 is in none."""
        out = np.empty((self.replicates, size))
        drawn, weighed = _draw_groups(self.groups, self.replicates), np.asarray(values, np.float64)
        for left in range(0, size, _WIDE):
            wide = min(_WIDE, size - left)
            if at is None:
                per_group = sum_bins(self._group, weighed, self.groups).reshape(-1, 1)
            else:
                inside = (at >= left) & (at < left + wide)
                place = self._group[inside] * wide + (at[inside] - left)
                per_group = sum_bins(place, weighed[inside], self.groups * wide).reshape(self.groups, wide)
            for start in range(0, self.replicates, _AT_ONCE):
                weights = drawn[start : start + _AT_ONCE].astype(np.float64)
                out[start : start + _AT_ONCE, left : left + wide] = weights @ per_group
        return out

    def count_clusters(self, at: Array, size: int) -> Array:
        """How many clusters the rows of each slice come from; groups of them, where there are very many."""
        found = np.unique(at.astype(np.int64) * self.groups + self._group)
        return np.bincount(found // self.groups, minlength=size)


@lru_cache(maxsize=4)
def _draw_groups(groups: int, replicates: int) -> npt.NDArray[np.uint16]:
    """How often each group is drawn in each replicate: [replicate, group]."""
    random = derive("bootstrap", "draws", groups)
    made = np.empty((replicates, groups), np.uint16)
    for start in range(0, replicates, _AT_ONCE):
        many = min(_AT_ONCE, replicates - start)
        drawn = random.integers(0, groups, (many, groups)) + np.arange(many)[:, None] * groups
        counts = np.bincount(drawn.ravel(), minlength=many * groups)
        made[start : start + many] = counts.reshape(many, groups)
    return made


def bootstrap_interval(replicates: Floats, value: npt.ArrayLike, scenes: float) -> tuple[Floats, Floats]:
    """Low and high of each column; NaN where there is no basis for one."""
    tail = (1 - LEVEL) / 2
    known = ~np.isnan(replicates).all(axis=0)
    low, high = np.full((2, replicates.shape[1]), np.nan)
    if scenes < 2 or not known.any():
        return low, high
    low[known], high[known] = np.nanquantile(replicates[:, known], [tail, 1 - tail], axis=0)
    middle, longer = np.asarray(value, np.float64), widening_factor(scenes)
    return middle + (low - middle) * longer, middle + (high - middle) * longer


def resample_shares(resampling: SceneBootstrap, right: Floats, at: Array, size: int) -> Floats:
    """The share of each slice in each replicate: [replicate, slice], to compare slices by; every row is in one.

    Where all rows of a slice agree, its share is drawn from what the exact binomial interval allows.
    """
    everyone = np.ones(len(right))
    with np.errstate(invalid="ignore", divide="ignore"):
        made = resampling.sum_by_slice(right, at, size) / resampling.sum_by_slice(everyone, at, size)
    value = sum_bins(at, right, size) / sum_bins(at, everyone, size)
    clusters = resampling.count_clusters(at, size)
    for k in np.flatnonzero((value == 0) | (value == 1)).tolist():
        drawn = derive("bootstrap", "unanimous", k).random(resampling.replicates) ** (1 / int(clusters[k]))
        made[:, k] = drawn if value[k] else 1 - drawn
    return made


def number_clusters(columns: Sequence[Column]) -> list[Ints]:
    """The clusters of several runs under one numbering, so that they are resampled together."""
    numbers: dict[str, int] = {}
    made = []
    for column in columns:
        at = [numbers.setdefault(v, len(numbers)) for v in column.values]
        made.append(np.array(at, np.int64)[column.codes])
    return made
