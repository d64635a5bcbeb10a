"""Intervals: against naive resampling, against formulas, and where resampling alone would mislead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rows import coins
from shiftscope.metrics._resample import (
    MOST_GROUPS,
    Resampling,
    _draws,
    interval,
    share,
    shared_clusters,
    totals,
)
from shiftscope.metrics.accuracy import measure
from shiftscope.result import column_of

BIG = 30_000


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(-1, 2)), min_size=1, max_size=30))
def test_a_replicate_is_the_drawn_clusters_laid_end_to_end(rows):
    cluster, hits, at = (np.array(x) for x in zip(*rows, strict=True))
    made = Resampling(cluster, replicates=7).sums(hits, at, 3)
    names = sorted(set(cluster.tolist()))
    for k, counts in enumerate(_draws(len(names), 7)):
        drawn = [name for name, n in zip(names, counts, strict=True) for _ in range(n)]
        assert len(drawn) == len(names)
        naive = [sum(int(h) for d in drawn for c, h, a in rows if c == d and a == s) for s in range(3)]
        assert made[k].tolist() == naive


def test_independent_questions_get_the_binomial_width():
    score = measure(coins(2500, 0.8))[0]
    assert score.value == pytest.approx(0.8)
    assert score.high - score.low == pytest.approx(2 * 1.96 * (0.8 * 0.2 / 2500) ** 0.5, rel=0.1)


def test_questions_that_share_a_scene_widen_the_interval():
    alone, four = measure(coins(2000, 0.5))[0], measure(coins(2000, 0.5, per_scene=4))[0]
    assert (four.high - four.low) / (alone.high - alone.low) == pytest.approx(2, rel=0.15)


def test_more_clusters_than_groups_keep_the_width():
    random = np.random.default_rng(1)
    hits = random.random(BIG) < 0.3
    sampled = Resampling(np.arange(BIG))
    assert (sampled.clusters, sampled.groups) == (BIG, MOST_GROUPS)
    _, low, high = share(sampled, hits, np.ones(BIG))
    assert (high - low)[0] == pytest.approx(2 * 1.96 * (0.3 * 0.7 / BIG) ** 0.5, rel=0.1)


def test_all_right_is_not_surely_right():
    score = measure(coins(50, 1.0))[0]
    assert (score.value, score.high) == (1, 1)
    assert score.low == pytest.approx(0.025 ** (1 / 50))
    assert measure(coins(50, 0.0))[0].high == pytest.approx(1 - 0.025 ** (1 / 50))


def test_one_scene_tells_nothing_of_the_spread():
    score = measure(coins(10, 0.5, per_scene=10))[0]
    assert (score.low, score.high) == (None, None)


def test_the_same_rows_give_the_same_interval():
    assert measure(coins(300, 0.6)) == measure(coins(300, 0.6))


def test_many_slices_are_as_one_by_one():
    at = np.arange(2000) % 600
    sampled = Resampling(np.arange(2000) // 2, replicates=20)
    values = np.arange(2000) % 7
    together = sampled.sums(values, at, 600)
    for k in (0, 255, 256, 599):
        assert together[:, k].tolist() == sampled.sums(values * (at == k))[:, 0].tolist()
    assert totals(values, at, 600)[3] == values[at == 3].sum()


def test_runs_are_numbered_together():
    one, other = shared_clusters([column_of(["a", "b", "a"]), column_of(["c", "b"])])
    assert (one.tolist(), other.tolist()) == ([0, 1, 0], [2, 1])


def test_an_interval_of_nothing_is_nothing():
    low, high = interval(np.array([[np.nan, 1.0], [np.nan, 2.0]]))
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert low[1] < high[1]
