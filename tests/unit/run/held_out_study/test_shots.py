"""K-shot examples: as many as asked for, each in words of its own, and another draw for each seed."""

import pytest

from shiftscope.question import Question
from shiftscope.run.held_out_study.study_training import draw_shots
from shiftscope.shift.held_out import TooFewQuestions

TWICE = [Question(f"{text}{n}", text, ("a",)) for text in "abcdef" for n in range(2)]  # six texts, two questions each


def draw(shots, seed):
    return [q.text for q in draw_shots(TWICE, "some row", shots, seed)]


def test_no_words_are_drawn_twice():
    assert sorted(draw(6, 0)) == list("abcdef")
    singles = [draw(1, seed) for seed in range(6)]
    assert sorted(text for (text,) in singles) == list("abcdef")
    assert set(draw(2, 0)).isdisjoint(draw(2, 1)) and set(draw(2, 2)).isdisjoint(draw(2, 0) + draw(2, 1))


def test_a_draw_depends_on_its_row_and_seed_alone():
    assert draw(2, 1) == draw(2, 1)
    others = [[q.text for q in draw_shots(TWICE, f"row {k}", 1, 0)] for k in range(20)]
    assert len({text for (text,) in others}) > 1


def test_too_few_different_words_are_refused():
    with pytest.raises(TooFewQuestions, match="6 variants of some row in training questions differ in their words"):
        draw(7, 0)
    with pytest.raises(TooFewQuestions):
        draw(1, 6)
