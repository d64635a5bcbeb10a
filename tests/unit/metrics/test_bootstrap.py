"""Resampled scenes: against drawing them by hand, and what few scenes take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.columns import column_of
from shiftscope.metrics.bootstrap import MOST_GROUPS, SceneBootstrap, _draw_groups, bootstrap_interval, number_clusters

BIG = 30_000


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(-1, 2)), min_size=1, max_size=30))
def test_a_replicate_is_the_drawn_clusters_laid_end_to_end(rows):
    cluster, hits, at = (np.array(x) for x in zip(*rows, strict=True))
    made = SceneBootstrap(cluster, replicates=7).sum_by_slice(hits, at, 3)
    names = sorted(set(cluster.tolist()))
    for k, counts in enumerate(_draw_groups(len(names), 7)):
        drawn = [name for name, n in zip(names, counts, strict=True) for _ in range(n)]
        assert len(drawn) == len(names)
        naive = [sum(int(h) for d in drawn for c, h, a in rows if c == d and a == s) for s in range(3)]
        assert made[k].tolist() == naive


def test_more_clusters_than_groups_keep_the_width():
    random = np.random.default_rng(1)
    hits = (random.random(BIG) < 0.3).astype(float)
    sampled = SceneBootstrap(np.arange(BIG))
    assert (sampled.clusters, sampled.groups) == (BIG, MOST_GROUPS)
    low, high = bootstrap_interval(sampled.sum_by_slice(hits) / BIG, hits.mean(), BIG)
    assert (high - low)[0] == pytest.approx(2 * 1.96 * (0.3 * 0.7 / BIG) ** 0.5, rel=0.1)


def test_few_scenes_lengthen_an_interval_as_students_t_does():
    drawn = np.linspace(-1, 1, 2001)[:, None]
    many, four = (bootstrap_interval(drawn, 0.0, scenes)[1][0] for scenes in (10_000, 4))
    assert many == pytest.approx(0.95, abs=0.001)
    assert four / many == pytest.approx(3.1824 / 1.96 * (4 / 3) ** 0.5, rel=0.001)
    assert np.isnan(bootstrap_interval(drawn, 0.0, 1)[0][0])


def test_many_slices_are_as_one_by_one():
    at = np.arange(2000) % 600
    sampled = SceneBootstrap(np.arange(2000) // 2, replicates=20)
    values = np.arange(2000) % 7
    together = sampled.sum_by_slice(values, at, 600)
    for k in (0, 255, 256, 599):
        assert together[:, k].tolist() == sampled.sum_by_slice(values * (at == k))[:, 0].tolist()


def test_scenes_of_several_runs_go_by_name():
    one, two = column_of(["a", "b", "a"]), column_of(["b", "c"])
    assert [c.tolist() for c in number_clusters([one, two])] == [[0, 1, 0], [1, 2]]
