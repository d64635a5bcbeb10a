"""Verdicts: intervals decide for a rule, against it, or not at all."""

import math

import pytest

from shiftscope.result import Score
from shiftscope.suites.study import FAILS, HOLDS, UNDECIDED
from shiftscope.suites.verdicts import (
    Ends,
    average,
    average_overlapping,
    count_between,
    is_above,
    is_below,
    is_within,
    join,
    name_verdict,
)

NEAR_ONE, OPEN = Ends(1.0, 0.9, 1.1), Ends(0.1, -0.2, 0.4)


def test_a_rule_is_true_false_or_open():
    assert [is_above(one, 0.0) for one in (NEAR_ONE, OPEN, Ends(-1.0, -1.1, -0.9))] == [True, None, False]
    assert [is_below(one, 0.5) for one in (OPEN, NEAR_ONE)] == [True, False]
    assert is_within(OPEN, 0.5) is True and is_within(OPEN, 0.3) is None and is_within(NEAR_ONE, 0.3) is False
    assert [name_verdict(one) for one in (True, False, None)] == [HOLDS, FAILS, UNDECIDED]


def test_rules_join_as_sentences_do():
    assert join(True, True) is True and join(True, None) is None and join(None, False) is False
    some = [True, True, None, False]
    assert count_between(some, 2) is True and count_between(some, 3) is None and count_between(some, 4) is False
    assert count_between(some, 1, 1) is False and count_between(some, 2, 2) is None


def test_a_difference_is_as_unsure_as_both():
    less = Ends(0.5, 0.2, 0.8) - Ends(0.4, 0.0, 0.8)
    assert (less.value, less.low, less.high) == pytest.approx((0.1, -0.4, 0.6))
    mean = average([Ends(0.0, -0.3, 0.3), Ends(1.0, 0.6, 1.4)])
    assert (mean.value, mean.low, mean.high) == pytest.approx((0.5, 0.25, 0.75))
    mean = average_overlapping([Ends(0.0, -0.3, 0.3), Ends(1.0, 0.6, 1.4)])
    assert (mean.value, mean.low, mean.high) == pytest.approx((0.5, 0.15, 0.85))


def test_what_has_no_interval_decides_nothing():
    for score in (Score("x", 0.9, 5), Score("x", None, 5), Score("x", None, 5, -1.0, 1.0)):
        unknown = Ends.read(score)
        assert is_above(unknown, 0.0) is None and is_below(unknown, 0.0) is None
        assert is_above(unknown - NEAR_ONE, 0.0) is None and is_above(NEAR_ONE - unknown, 0.0) is None
        assert is_above(average([NEAR_ONE, unknown]), 0.0) is None
        assert is_above(average_overlapping([NEAR_ONE, unknown]), 0.0) is None
    assert math.isnan(Ends.read(Score("x", None, 5)).value)


def test_one_of_many_comparisons_is_settled_against_only_if_surely():
    barely = Ends(-0.1, -0.19, -0.01)
    assert is_above(barely) is False and is_above(barely, 0.0, 26) is None
