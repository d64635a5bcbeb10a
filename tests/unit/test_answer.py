import pytest

from shiftscope.answer import is_same_answer, read_answer, spell


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (True, "yes", True),
        (False, "no", True),
        (False, "False", True),
        (3, "3", True),
        (0, False, False),
        (1, True, False),
        ("Red ", "red", True),
        ("red", "blue", False),
        (0, "no", False),
    ],
)
def test_answers_compare_by_what_they_say(left, right, same):
    assert is_same_answer(left, right) is same


def test_answers_are_spelled_as_the_releases_do():
    assert [spell(a) for a in (True, False, 3, "Large")] == ["yes", "no", "3", "large"]


def test_an_answer_is_a_truth_a_number_or_a_word(refuses):
    assert [read_answer(v) for v in (None, True, 3, "red", 3.0)] == [None, True, 3, "red", 3]
    with refuses("an answer must be true or false, a whole number or text, not [1]"):
        read_answer([1])
    with refuses("not nan"):
        read_answer(float("nan"))
