"""VQA accuracy: literal cases, and agreement with a slow reading of its description."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vqa_reference as slow
from shiftscope.formats import vqa
from shiftscope.metrics.vqa_accuracy import (
    FORMS,
    NORMALISATIONS,
    load_contractions,
    measure,
    normalise_answer,
    score_row_agreement,
)
from shiftscope.result import Prediction, QuestionRecord, records_of


def records(*rows):
    """(what was said, what annotators said) each about an image of its own; nothing said is missing."""
    return records_of(
        (
            QuestionRecord(str(k), (f"image {k}",), answers=tuple(answers)),
            None if said is None else Prediction(str(k), said),
        )
        for k, (said, answers) in enumerate(rows)
    )


@pytest.mark.parametrize(
    ("matches", "official", "thirds"), [(0, 0, 0), (1, 0.3, 1 / 3), (2, 0.6, 2 / 3), (3, 0.9, 1), (4, 1, 1), (10, 1, 1)]
)
def test_matches_of_ten(matches, official, thirds):
    rows = records(("red", ["red"] * matches + ["blue"] * (10 - matches)))
    assert score_row_agreement(rows, "official").tolist() == [official]
    assert score_row_agreement(rows, "thirds").tolist() == [thirds]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The two dogs.", "2 dogs"),
        ("dont", "don't"),
        ("couldnt've", "couldn't've"),
        ("somebody'd", "somebodyd"),
        ("1,000", "1000"),
        ("red/white", "red white"),
        ("red /white", "red white"),
        ("t-shirt", "t shirt"),
        ("yes!", "yes"),
        ("3.5", "3.5"),
        ("3. ", "3"),
        ("none", "0"),
        ("a", ""),
        ("New\nYork", "new york"),
    ],
)
def test_normalised(text, normal):
    assert normalise_answer(text) == normal == slow.normal(text)


def test_the_contractions_are_the_official_ones():
    assert load_contractions() == slow.WORDS


def test_official_normalises_only_where_annotators_differ():
    agreed = records(("Two", ["two"] * 10), ("Two", ["two"] * 9 + ["2"]), ("two", ["two"] * 10))
    assert score_row_agreement(agreed, "official", "official").tolist() == [0, 1, 1]
    assert score_row_agreement(agreed, "official", "always").tolist() == [1, 1, 1]


def test_missing_answers_are_counted_and_earn_nothing():
    (score,) = measure(records(("red", ["red"] * 10), (None, ["red"] * 10)))
    assert (score.value, score.n, score.missing, score.form) == (0.5, 2, 1, "official")


def test_a_run_without_annotators_is_refused(refuses):
    with refuses("vqa_accuracy needs several annotators' answers to each question; use accuracy"):
        measure(records(("red", [])))


def test_an_unknown_form_is_refused(refuses):
    with refuses("no form of VQA accuracy 'third'; did you mean 'thirds'?"):
        measure(records(("red", ["red"])), form="third")


words = st.sampled_from(
    ["two", "2", "Two.", "the dog", "dog", "dont", "don't", "1,000", "1000", "a-b", "a b", "yes", "Yes!", "x . y"]
)


@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=10)), min_size=1, max_size=8))
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_agrees_with_the_slow_reading(form, normalise, rows):
    expected = [float(slow.accuracy(said, answers, form, normalise)) for said, answers in rows]
    assert score_row_agreement(records(*rows), form, normalise).tolist() == pytest.approx(expected, abs=1e-12)


marks = st.text(st.sampled_from("aA .,;-!?/'129 tenth"), max_size=20)


@given(marks)
def test_normalising_agrees_with_the_slow_reading(text):
    assert normalise_answer(text) == slow.normal(text)


@pytest.mark.skipif("VQA_ANNOTATIONS" not in os.environ, reason="VQA_ANNOTATIONS names no annotation file")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_exact_on_real_annotations(form, normalise):
    """Each question is given an annotator's answer, or that with marks, or another question's."""
    rows = []
    previous = "yes"
    for k, one in enumerate(vqa.read_annotations(Path(os.environ["VQA_ANNOTATIONS"]))):
        said = (one.answers[k % 10], f"The {one.answers[0]}!", previous, str(one.answer))[k % 4]
        rows.append((said, one.answers))
        previous = one.answers[3]
    expected = [slow.accuracy(said, answers, form, normalise) for said, answers in rows]
    made = records(*rows)
    assert score_row_agreement(made, form, normalise).tolist() == pytest.approx(list(map(float, expected)), abs=1e-12)
    (score,) = measure(made, form=form, normalise=normalise)
    assert score.value == pytest.approx(float(sum(expected) / len(expected)), abs=1e-12)
    print(json.dumps([form, normalise, len(rows), 100 * score.value]))
