"""What is set against what: things of a kind, and not whatever a graph has under the same relation."""

import pytest

from shiftscope.questions.covr.alternatives import share_kind


@pytest.mark.parametrize(
    "one, other",
    [
        ("couch", "bed"),
        ("horse", "elephant"),
        ("bus", "train"),
        ("cake", "hot dog"),
        ("grass", "sand"),
        ("cell phone", "camera"),
    ],
)
def test_one_may_choose_between_things_of_a_kind(one, other):
    assert share_kind(one, other)
    assert share_kind(other, one)


@pytest.mark.parametrize(
    "one, other",
    [("couch", "skateboard"), ("surfboard", "game controller"), ("building", "toilet"), ("camera", "tennis racket")],
)
def test_and_not_between_any_two(one, other):
    assert not share_kind(one, other)
    assert not share_kind(other, one)


def test_what_wordnet_does_not_know_is_not_judged():
    assert share_kind("blorft", "couch")
