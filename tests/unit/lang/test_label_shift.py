"""Shares of values, told from beliefs alone: found where they differ, kept where little is known."""

import numpy as np
import pytest

from shiftscope.lang.posterior_calibration import PRIOR_STRENGTH, correct_prior, estimate_label_shift
from shiftscope.rng import derive

LEARNED = np.array([0.7, 0.25, 0.05])
SEEN_AS = np.array([[0.9, 0.08, 0.02], [0.15, 0.8, 0.05], [0.1, 0.1, 0.8]])  # [true, seen] how often
REVERSED = (0.05, 0.25, 0.7)


def believed(shares, count=4000):
    """What is believed of things drawn by these shares, by who learned from others; and what they are."""
    rng = derive("shares", str(shares))
    true = rng.choice(3, count, p=shares)
    sign = (SEEN_AS[true].cumsum(1) > rng.random(count)[:, None]).argmax(1)
    joint = LEARNED[:, None] * SEEN_AS  # [value, sign]
    return (joint / joint.sum(0)).T[sign], true


def odds(beliefs):
    return estimate_label_shift(beliefs, np.ones(len(beliefs)), LEARNED)


@pytest.mark.parametrize("shares", [(0.7, 0.25, 0.05), REVERSED, (0.1, 0.45, 0.45), (0.33, 0.34, 0.33)])
def test_the_shares_things_were_drawn_by_are_found(shares):
    assert odds(believed(shares)[0]) * LEARNED == pytest.approx(shares, abs=0.05)


def test_weighing_and_counting_once_more_changes_nothing():
    beliefs, _ = believed(REVERSED)
    found, before = odds(beliefs), PRIOR_STRENGTH * 3 * LEARNED
    again = (correct_prior(beliefs, found).sum(0) + before) / (len(beliefs) + before.sum())
    assert again == pytest.approx(found * LEARNED, abs=1e-5)


def test_more_is_right_once_beliefs_are_weighed():
    beliefs, true = believed(REVERSED)
    before, after = ((b.argmax(1) == true).mean() for b in (beliefs, correct_prior(beliefs, odds(beliefs))))
    assert after > before + 0.01


def test_a_few_things_hardly_change_what_was_learned():
    beliefs, _ = believed((0.0, 0.0, 1.0), 3)
    assert np.abs(odds(beliefs) * LEARNED - LEARNED).max() < 0.2
    assert odds(beliefs[:0]) == pytest.approx(1.0)


def test_what_hardly_exists_hardly_counts():
    one, other = believed((0.9, 0.05, 0.05))[0], believed(REVERSED)[0]
    both = estimate_label_shift(np.concatenate([one, other]), np.repeat([1.0, 1e-6], 4000), LEARNED)
    assert both == pytest.approx(odds(one), rel=1e-3)


@pytest.mark.parametrize("floor", [1e-5, 1e-4, 1e-3, 1e-2])
def test_a_value_that_was_hardly_met_is_not_taken_for_all_others(floor):
    learned = np.array([0.5, 0.5 - 1.5e-5, 1.5e-5])
    sure = np.array([[0.98 - floor, 0.02, floor], [0.02, 0.98 - floor, floor]]).repeat(200, 0)
    found = correct_prior(sure, estimate_label_shift(sure, np.ones(400), learned))
    assert (found.argmax(1) == sure.argmax(1)).all() and found[:, 2].max() < 0.2


def test_who_has_no_value_is_given_none_and_does_not_count():
    none = np.zeros((50, 3))
    beliefs, _ = believed(REVERSED, 50)
    assert odds(np.concatenate([none, beliefs])) == pytest.approx(odds(beliefs))
    assert not correct_prior(none, np.array([1.0, 3.0, 9.0])).any()


def test_beliefs_are_weighed_by_odds():
    assert correct_prior(np.array([[0.5, 0.5, 0.0]]), np.array([1.0, 3.0, 9.0])).tolist() == [[0.25, 0.75, 0.0]]
