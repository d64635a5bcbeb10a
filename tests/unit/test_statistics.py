"""Paired tests, correction, what a set can detect, slopes and seeds: literal values and second opinions."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from rows import coins, row, run
from shiftscope.metrics._statistics import (
    across_seeds,
    compare_models,
    compare_twins,
    design_effect,
    holm,
    mcnemar,
    share_interval,
    slope,
    smallest_drop,
)
from shiftscope.result import Score, records_of


def test_mcnemar_is_the_exact_binomial():
    assert mcnemar(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    assert mcnemar(0, 0) == 1
    assert mcnemar(5, 5) == 1


@pytest.mark.parametrize(("b", "c"), [(1, 7), (12, 3), (40, 52)])
def test_mcnemar_agrees_with_statsmodels(b, c):
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    assert mcnemar(b, c) == pytest.approx(theirs([[10, b], [c, 10]], exact=True).pvalue)


def test_two_models_are_compared_on_the_questions_both_replied_to():
    first = run("1 yes yes", "2 yes yes", "3 yes yes", "4 yes no", "5 yes failed")
    second = run("4 yes yes", "3 yes no", "2 yes no", "5 yes yes", "9 yes yes")
    made = compare_models(first, second)
    assert (made.n, made.only_first, made.only_second) == (3, 2, 1)
    assert made.drop == pytest.approx(1 / 3)
    assert made.p == 1


def test_twins_are_compared_with_their_originals():
    rows = [row(f"{k} yes yes") for k in range(6)] + [row(f"v{k} no yes", twin=str(k)) for k in range(6)]
    made = compare_twins(records_of(rows))
    assert (made.n, made.only_first, made.only_second, made.drop) == (6, 6, 0, 1)
    assert made.p == pytest.approx(2 / 64)


@pytest.mark.parametrize(("right", "of"), [(0, 7), (13, 17), (48_029, 48_184), (5, 5)])
def test_the_interval_of_a_share_is_wilsons(right, of):
    low, high = share_interval(right, of)
    assert (low, high) == pytest.approx(proportion_confint(right, of, method="wilson"), abs=1e-9)
    assert 0 <= low <= right / of <= high <= 1


def test_holm_corrects_what_has_a_p_value():
    made = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": None})
    assert made == {"a": pytest.approx(0.03), "b": pytest.approx(0.06), "c": pytest.approx(0.06), "d": None}
    assert holm({"a": None}) == {"a": None}


def test_the_smallest_drop_between_two_sets_has_the_power_asked_for():
    from statsmodels.stats.proportion import power_proportions_2indep

    drop = smallest_drop(1000, 0.8)
    power = power_proportions_2indep(-drop, 0.8, 1000, alpha=0.05, return_results=False)
    assert power == pytest.approx(0.8, abs=0.01)
    assert drop == pytest.approx(0.0527, abs=0.001)


def test_the_smallest_drop_between_twins():
    # (1.95996 · √0.2 + 0.84162 · √(0.2 − 0.05²))² / 0.05² = 625.5
    assert smallest_drop(626, 0.8, discordant=0.2) == pytest.approx(0.05, abs=1e-4)


def test_shared_scenes_hide_drops():
    assert smallest_drop(1000, 0.8, design=4) == pytest.approx(smallest_drop(250, 0.8))
    assert smallest_drop(3, 0.2) == 1


def test_the_design_effect_is_how_many_questions_share_a_fate():
    assert design_effect(coins(1000, 0.5)) == pytest.approx(1)
    assert design_effect(coins(1000, 0.5, per_scene=5)) == pytest.approx(5)


def levels(*shares):
    return records_of(
        row(f"{level}-{k} yes {'yes' if k < share else 'no'}", level=level, name="abc"[level])
        for level, share in enumerate(shares)
        for k in range(10)
    )


def test_the_slope_over_levels():
    made = slope(levels(8, 6, 4), "level")
    assert made.per_level == pytest.approx(-0.2)
    assert made.low < -0.2 < made.high
    assert made.n == 30
    assert slope(levels(8, 6, 4), "name", ("c", "b", "a")).per_level == pytest.approx(0.2)


def test_a_slope_over_words_needs_their_order(refuses):
    with refuses("a slope over name needs the order of its levels (a, b, c, …)"):
        slope(levels(8, 6, 4), "name")
    with refuses("needs answered questions at two levels or more"):
        slope(levels(8), "level")


def test_seeds_aggregate_to_their_mean_with_students_interval():
    made = across_seeds([Score("accuracy", v, 100, missing=1) for v in (0.5, 0.6, 0.7)])
    assert made.value == pytest.approx(0.6)
    assert made.high - made.value == pytest.approx(4.30265 * 0.1 / np.sqrt(3), abs=1e-5)
    assert (made.n, made.missing) == (300, 3)
    one = Score("accuracy", 0.5, 10, 0.4, 0.6)
    assert across_seeds([one]) == one
