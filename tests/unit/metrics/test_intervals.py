"""Intervals over scenes: against SciPy, against formulas, at few scenes, and what must not change them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazy import lazy
from rows import coins, row
from shiftscope.metrics.accuracy import measure
from shiftscope.metrics.intervals import (
    RatioTerm,
    SceneClusters,
    _beta_below,
    _beta_quantile,
    student_p_value,
    student_quantile,
    widen_side,
)
from shiftscope.result import Prediction, QuestionRecord, records_of

stats = lazy("scipy.stats")


@pytest.mark.parametrize(("a", "b"), [(0.25, 0.75), (1.25, 0.75), (5.0, 700.0), (1e5, 2e4), (3e6, 7e6), (0.25, 9.75)])
@pytest.mark.parametrize("share", [0.025, 0.5, 0.975])
def test_the_beta_quantile_is_scipys(a, b, share):
    assert _beta_quantile(share, a, b) == pytest.approx(stats.beta.ppf(share, a, b), abs=1e-9)


@pytest.mark.parametrize("freedom", [0.5, 1.0, 2.0, 9.0, 1e4])
def test_students_t_is_scipys(freedom):
    assert student_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)
    assert student_p_value(1.7, freedom) == pytest.approx(2 * stats.t.sf(1.7, freedom), rel=1e-6)


def test_independent_questions_get_the_binomial_width():
    score = measure(coins(2500, 0.8))[0]
    assert score.value == pytest.approx(0.8)
    assert score.high - score.low == pytest.approx(2 * 1.96 * (0.8 * 0.2 / 2500) ** 0.5, rel=0.05)
    assert score.scenes == 2500


def test_questions_that_share_a_scene_widen_the_interval():
    alone, four = measure(coins(2000, 0.5))[0], measure(coins(2000, 0.5, per_scene=4))[0]
    assert (four.high - four.low) / (alone.high - alone.low) == pytest.approx(2, rel=0.05)


def test_all_right_is_not_surely_right():
    score = measure(coins(50, 1.0))[0]
    assert (score.value, score.high) == (1, 1)
    assert score.low == pytest.approx(stats.beta.ppf(0.025, 50.25, 0.75))
    assert measure(coins(50, 0.0))[0].high == pytest.approx(1 - score.low)


def test_six_scenes_tell_little_and_two_questions_nearly_nothing():
    # 60 questions of 6 scenes, each scene nearly alike: once ±3.3, and of two questions "50.00 to 50.00".
    hits = [8, 8, 9, 8, 8, 8]
    rows = [
        row(f"{s}-{k} yes {'yes' if k < h else 'no'}", scene=f"scene {s}")
        for s, h in enumerate(hits)
        for k in range(10)
    ]
    six = measure(records_of(rows))[0]
    assert six.scenes == 6
    assert six.low < 0.65
    assert six.high > 0.86
    two = measure(records_of([row("1 yes yes"), row("2 yes no")]))[0]
    assert two.low < 0.05
    assert two.high > 0.95


def test_one_scene_has_an_interval_that_excludes_hardly_anything():
    score = measure(coins(10, 0.5, per_scene=10))[0]
    assert score.scenes == 1
    mixed = measure(records_of(row(f"{k} yes {'yes' if k < 6 else 'no'}", scene="one") for k in range(10)))[0]
    assert mixed.low < 0.05
    assert mixed.high > 0.95


def test_the_same_rows_give_the_same_interval():
    assert measure(coins(300, 0.6)) == measure(coins(300, 0.6))


scenes_of_hits = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=1, max_size=25)


def of_counts(counts, twice=False):
    cluster = [s for s, (_, n) in enumerate(counts) for _ in range(n)]
    hits = [k < min(h, n) for h, n in counts for k in range(n)]
    return np.array(cluster * (2 if twice else 1)), np.array(hits * (2 if twice else 1), float)


@given(scenes_of_hits)
def test_asking_every_question_twice_changes_no_interval(counts):
    once, again = of_counts(counts), of_counts(counts, twice=True)
    made = [SceneClusters(c).estimate_shares(h, np.ones(len(h))) for c, h in (once, again)]
    for one, two in zip(made[0], made[1], strict=True):
        assert one.tolist() == pytest.approx(two.tolist(), abs=1e-9)


@given(scenes_of_hits, st.randoms())
def test_the_order_of_rows_changes_nothing(counts, random):
    cluster, hits = of_counts(counts)
    order = list(range(len(hits)))
    random.shuffle(order)
    one = SceneClusters(cluster).estimate_shares(hits, np.ones(len(hits)))
    two = SceneClusters(cluster[order]).estimate_shares(hits[order], np.ones(len(hits)))
    assert [x.tolist() for x in one] == [pytest.approx(x.tolist(), abs=1e-9) for x in two]


@given(scenes_of_hits)
def test_an_interval_holds_its_share_and_mirrors_its_opposite(counts):
    cluster, hits = of_counts(counts)
    every = np.ones(len(hits))
    value, low, high, _ = (x[0] for x in SceneClusters(cluster).estimate_shares(hits, every))
    assert 0 <= low <= value <= high <= 1
    other = SceneClusters(cluster).estimate_shares(1 - hits, every)
    assert (1 - other.high[0], 1 - other.low[0]) == pytest.approx((low, high), abs=1e-9)


def test_slices_are_as_one_by_one():
    random = np.random.default_rng(3)
    cluster, at, hits = random.integers(0, 40, 900), random.integers(-1, 7, 900), random.random(900) < 0.7
    scenes = SceneClusters(cluster)
    together = scenes.estimate_shares(hits, np.ones(900), at, 7)
    for k in range(7):
        one = scenes.estimate_shares(hits, at == k)
        assert (together.value[k], together.low[k], together.high[k]) == pytest.approx(
            (one.value[0], one.low[0], one.high[0])
        )
        assert together.scenes[k] == len(np.unique(cluster[at == k])) == one.scenes[0]


def test_a_question_over_several_images_goes_with_all_that_share_one():
    # 40 questions; in one run each has two images of its own, in the other the second image is everybody's.
    def run(second):
        return records_of(
            (QuestionRecord(str(k), (f"a{k}", second(k)), "yes"), Prediction(str(k), "yes" if k % 2 else "no"))
            for k in range(40)
        )

    apart, together = measure(run(lambda k: f"b{k}"))[0], measure(run(lambda k: "shared"))[0]
    alone = measure(coins(40, 0.5))[0]
    assert apart.high - apart.low == pytest.approx(alone.high - alone.low, rel=0.12)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_a_difference_of_two_shares_is_newcombes_where_they_are_independent():
    hits = np.concatenate([np.arange(1000) < 800, np.arange(1000) < 700]).astype(float)
    here = np.arange(2000) < 1000
    made = SceneClusters(np.arange(2000)).combine((RatioTerm(hits, here), RatioTerm(hits, ~here)), (1, -1))
    assert made.value == pytest.approx(0.1)
    assert made.high - made.low == pytest.approx(2 * 1.96 * (0.8 * 0.2 / 1000 + 0.7 * 0.3 / 1000) ** 0.5, rel=0.03)
    assert made.p == pytest.approx(2 * stats.norm.sf(0.1 / (0.00016 + 0.00021) ** 0.5), rel=0.2)


def test_the_same_answers_differ_by_nothing_and_not_surely_by_nothing():
    hits = np.arange(200) % 5 > 0
    made = SceneClusters(np.arange(200) // 5).estimate_difference(hits, hits)
    assert made.value == 0
    assert -0.2 < made.low < 0 < made.high < 0.2


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_a_paired_difference_is_shorter_than_an_unpaired_one(seed):
    random = np.random.default_rng(seed)
    scene = np.arange(2000) // 10
    first = random.random(2000) < 0.7
    second = first ^ (random.random(2000) < 0.05)
    paired = SceneClusters(scene).estimate_difference(first, second)
    both, here = np.concatenate([first, second]).astype(float), np.arange(4000) < 2000
    apart = SceneClusters(np.concatenate([scene, scene + 200])).combine(
        (RatioTerm(both, here), RatioTerm(both, ~here)), (1, -1)
    )
    assert paired.value == pytest.approx(apart.value)
    assert paired.high - paired.low < 0.75 * (apart.high - apart.low)


@pytest.mark.parametrize(("seeds", "scenes", "comparisons"), [(2, 0.05, 1), (4, 0.3, 1), (3, 0.1, 9)])
def test_an_interval_over_few_seeds_and_scenes_misses_no_more_than_it_says(seeds, scenes, comparisons):
    """`scenes`: their variance, that of a seed being 1. By Welch and Satterthwaite's freedom alone 0.126 of 0.05 miss."""
    random, turns = np.random.default_rng(0), 3000
    values = random.normal(size=(turns, seeds))
    off = values.mean(1) + random.normal(size=turns) * (scenes / seeds) ** 0.5
    over_scenes = 1.959964 * (scenes / seeds) ** 0.5
    parts = values.var(1, ddof=1) / seeds
    halves = [widen_side(over_scenes, [(v, seeds - 1.0)], 400.0, comparisons) for v in parts]
    missed = np.mean(np.abs(off) > halves)
    assert missed < 1.3 * 0.05 / comparisons


@given(st.floats(1e-9, 1 - 1e-9), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_incomplete_beta_is_scipys_everywhere(x, a, b):
    assert _beta_below(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-8)


def test_where_rounding_puts_a_point_on_neither_side_it_ends():
    # Once each side handed the other the point, until the stack was full: (a + 1) / (a + b + 2) rounds down on both.
    random = np.random.default_rng(0)
    for a, b in random.uniform(0.1, 300, (20_000, 2)):
        assert 0 <= _beta_below((a + 1) / (a + b + 2), a, b) <= 1
        assert 0 <= _beta_below(np.nextafter((a + 1) / (a + b + 2), 1), a, b) <= 1
