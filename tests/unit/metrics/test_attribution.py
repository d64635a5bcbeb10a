"""Attribution: which stage a wrong answer falls under, and that the parts add up."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rows import row
from shiftscope.metrics.attribution import STAGES, measure, measure_drop
from shiftscope.result import records_of

ORDER = ("as_is", "blind", "other_image", "scene_text", "program_text")


def asked(*questions, scenes="scene"):
    """Each question by what is said under the five conditions; a dash is not asked. The truth is y."""
    return records_of(
        row(f"{k} y {said}", condition=condition, scene=f"{scenes} {k}")
        for k, said_all in enumerate(questions)
        for condition, said in zip(ORDER, said_all.split(), strict=True)
        if said != "-"
    )


def shares(*questions):
    return {dict(s.slice)["stage"]: s.value for s in measure(asked(*questions))}


@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("failed n n y y", "no_reply"),
        ("unreadable n n y y", "format"),
        ("n n n y y", "language_prior"),
        ("n n m y n", "perception"),  # another image changes its mind
        ("n m - n y", "parsing"),
        ("n m m n n", "reasoning"),
        ("n m m - n", "unexplained"),
        ("n m m failed n", "unexplained"),
        ("n - - - -", "unexplained"),
        ("undefined m m y n", "perception"),
    ],
)
def test_a_wrong_answer_falls_under_one_stage(said, stage):
    made = shares(said)
    assert made.pop("total") == 1
    assert {name: value for name, value in made.items() if value} == {stage: 1}


def test_what_either_mends_is_shared():
    made = shares("n m m y y")
    assert (made["perception"], made["parsing"]) == (0.5, 0.5)


def test_a_right_answer_is_under_none():
    assert set(shares("y y y n n").values()) == {0}


def test_the_drop_is_split_over_the_stages():
    base = asked("y m m y y", "y m m y y", "n m m n n", "y m m y y")
    shifted = asked("n m m y n", "unreadable m m y y", "n m m n n", "y m m y y")
    made = {dict(s.slice)["stage"]: s for s in measure_drop(shifted, base)}
    assert {name: s.value for name, s in made.items() if s.value} == {"format": 0.25, "perception": 0.25, "total": 0.5}
    assert made["total"].low <= 0.5 <= made["total"].high
    assert made["reasoning"].value == 0
    assert made["reasoning"].low < 0 < made["reasoning"].high  # of four scenes nothing is sure


words = st.sampled_from(["y", "n", "m", "unreadable", "undefined", "failed", "-"])
replies = st.tuples(*[words] * 5).map(" ".join)


@given(st.lists(replies, min_size=1, max_size=12))
@example(["y y y y y", "n - - - -"])
@example(["- y y y y", "n - - - -"])
def test_the_stages_add_up_to_the_error(questions):
    """That of the questions which were asked in other ways too, where some were."""
    plain = [said for q in questions if (said := q.split())[0] != "-"]
    counted = [said[0] for said in plain if set(said[1:]) != {"-"}] or [said[0] for said in plain]
    if not counted:
        return
    made = shares(*questions)
    assert made["total"] == pytest.approx(sum(s != "y" for s in counted) / len(counted))
    assert sum(made[name] for name in STAGES) == pytest.approx(made["total"])


def test_a_run_never_asked_as_it_is_is_refused(refuses):
    with refuses("attribution needs questions asked as they are (condition as_is); this run has none"):
        measure(asked("- y y y y"))
