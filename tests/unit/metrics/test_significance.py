"""Paired tests, correction, what a set can detect, slopes and seeds: literal values and second opinions."""

from dataclasses import replace

import numpy as np
import pytest

from lazy import lazy
from rows import coins, row, run
from shiftscope.metrics.intervals import student_quantile, wilson_interval
from shiftscope.metrics.significance import (
    average_seeds,
    compare_models,
    correct_holm,
    effective_sample_size,
    fit_slope,
    sign_flip_test,
    smallest_detectable_drop,
)
from shiftscope.result import Prediction, QuestionRecord, Score, records_of

proportion = lazy("statsmodels.stats.proportion")


def test_exchanging_scenes_that_weigh_alike_is_the_binomial_test():
    # Eight scenes for the one and two for the other: twice the chance of two or fewer heads, half of two itself.
    assert sign_flip_test(np.array([1.0] * 8 + [-1.0] * 2)) == pytest.approx(2 * (1 + 10 + 45 / 2) / 1024)
    assert sign_flip_test(np.zeros(5)) == 1
    assert sign_flip_test(np.array([1.0, -1.0])) == pytest.approx(0.75)


def test_many_scenes_are_as_the_normal_distribution_has_them():
    from scipy.stats import norm

    random = np.random.default_rng(0)
    for size in (40, 400, 4000):
        sums = random.normal(0.15, 1, size)
        z = abs(sums.sum()) / np.sqrt((sums**2).sum())
        assert sign_flip_test(sums) == pytest.approx(2 * norm.sf(z), abs=0.01)


def test_one_scene_that_differs_in_all_its_questions_is_one_scene():
    # A hundred questions of one scene say no more than the scene: a test of single questions would be sure.
    first = [row(f"{k} yes yes", scene=f"s{k // 100}") for k in range(1000)]
    second = [row(f"{k} yes {'no' if k < 100 else 'yes'}", scene=f"s{k // 100}") for k in range(1000)]
    made = compare_models(records_of(first), records_of(second))
    assert (made.n, made.only_first, made.only_second, made.scenes) == (1000, 100, 0, 10)
    assert made.p > 0.4


def test_two_models_are_compared_on_the_questions_both_were_asked():
    first = run("1 yes yes", "2 yes yes", "3 yes yes", "4 yes no", "5 yes failed")
    second = run("4 yes yes", "3 yes no", "2 yes no", "5 yes yes", "9 yes yes")
    made = compare_models(first, second)
    assert (made.n, made.only_first, made.only_second) == (4, 2, 2)
    assert made.drop == pytest.approx(0)


def of_data(data, *contents):
    """Questions 1, 2, … of a dataset, all right, whose content is told."""
    asked = [QuestionRecord(str(k), (f"scene {k}",), "yes", content=c) for k, c in enumerate(contents)]
    return replace(records_of((a, Prediction(a.question, "yes")) for a in asked), data=data)


def test_ids_of_two_datasets_do_not_make_questions_the_same():
    assert compare_models(of_data("seed 0", "a", "b"), of_data("seed 1", "c", "d")).n == 0
    assert compare_models(of_data("seed 0", "a", "b"), of_data("larger", "x", "b", "a")).n == 2
    assert compare_models(of_data("seed 0", "", ""), of_data("seed 0", "", "")).n == 2
    assert compare_models(of_data("seed 0", "", ""), of_data("seed 1", "", "")).n == 0


def test_what_is_asked_twice_pairs_once_each():
    made = compare_models(of_data("one", "a", "a"), of_data("two", "a", "a", "a"))
    assert made.n == 2


@pytest.mark.parametrize(("right", "of"), [(0, 7), (13, 17), (48_029, 48_184), (5, 5)])
def test_the_interval_of_a_share_is_wilsons(right, of):
    low, high = wilson_interval(right, of)
    assert (low, high) == pytest.approx(proportion.proportion_confint(right, of, method="wilson"), abs=1e-9)
    assert 0 <= low <= right / of <= high <= 1


def test_holm_corrects_what_has_a_p_value():
    made = correct_holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": None})
    assert made == {"a": pytest.approx(0.03), "b": pytest.approx(0.06), "c": pytest.approx(0.06), "d": None}
    assert correct_holm({"a": None}) == {"a": None}


def test_the_smallest_drop_between_two_sets_has_the_power_asked_for():
    drop = smallest_detectable_drop(1000, 0.8)
    power = proportion.power_proportions_2indep(-drop, 0.8, 1000, alpha=0.05, return_results=False)
    assert power == pytest.approx(0.8, abs=0.01)
    assert drop == pytest.approx(0.0527, abs=0.001)


def test_the_smallest_drop_between_twins():
    # (1.95996 · √0.2 + 0.84162 · √(0.2 − 0.05²))² / 0.05² = 625.5
    assert smallest_detectable_drop(626, 0.8, discordant=0.2) == pytest.approx(0.05, abs=1e-4)


def test_questions_that_share_their_fate_are_worth_one():
    assert effective_sample_size(coins(1000, 0.5)) == pytest.approx(1000, rel=0.02)
    assert effective_sample_size(coins(1000, 0.5, per_scene=5)) == pytest.approx(200, rel=0.04)
    shared, alone = (effective_sample_size(coins(1000, 0.8, per_scene=n)) for n in (5, 1))
    assert smallest_detectable_drop(shared, 0.8) > 2 * smallest_detectable_drop(alone, 0.8)
    assert smallest_detectable_drop(3, 0.2) == 1


def levels(*shares, values=(0.0, 1.0, 2.0)):
    """Ten questions a level, of which so many are right; and the level of each row."""
    rows = [
        row(f"{level}-{k} yes {'yes' if k < share else 'no'}") for level, share in enumerate(shares) for k in range(10)
    ]
    return records_of(rows), np.repeat(values[: len(shares)], 10)


def test_the_slope_is_over_the_values_of_levels_not_their_ranks():
    made = fit_slope(*levels(8, 6, 4))
    assert made.per_level == pytest.approx(-0.2)
    assert made.low < -0.2 < made.high
    assert (made.n, made.scenes) == (30, 30)
    far = fit_slope(*levels(8, 6, 4, values=(0.0, 10.0, 20.0)))
    assert far.per_level == pytest.approx(-0.02)


def test_a_slope_has_the_cluster_robust_error_of_statsmodels():
    import statsmodels.api as sm

    random = np.random.default_rng(5)
    level, scene = np.repeat([0.0, 1.0, 2.0], 60), np.tile(np.arange(20), 9)
    hits = random.random(180) < 0.9 - 0.2 * level
    rows = [
        row(f"{k} yes {'yes' if h else 'no'}", scene=f"s{s}") for k, (h, s) in enumerate(zip(hits, scene, strict=True))
    ]
    made = fit_slope(records_of(rows), level)
    fitted = sm.OLS(hits.astype(float), sm.add_constant(level)).fit(
        cov_type="cluster", cov_kwds={"groups": scene, "use_correction": False}
    )
    assert made.per_level == pytest.approx(fitted.params[1])
    half = student_quantile(19) * fitted.bse[1] * (20 / 19) ** 0.5
    assert made.high - made.per_level == pytest.approx(half)


def test_a_slope_needs_two_levels(refuses):
    with refuses("a slope needs questions at two levels or more"):
        fit_slope(*levels(8))


def test_seeds_aggregate_to_their_mean_with_students_interval():
    made = average_seeds([Score("accuracy", v, 100, missing=1) for v in (0.5, 0.6, 0.7)])
    assert made.value == pytest.approx(0.6)
    assert made.high - made.value == pytest.approx(4.30265 * 0.1 / np.sqrt(3), abs=1e-5)
    assert (made.n, made.missing) == (300, 3)
    one = Score("accuracy", 0.5, 10, 0.4, 0.6)
    assert average_seeds([one]) == one
