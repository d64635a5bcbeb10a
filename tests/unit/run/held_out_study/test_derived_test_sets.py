"""Derived test sets: variants and segments beside their originals, and bits of what a model said to them."""

from dataclasses import replace

import numpy as np

from shiftscope.lang.text import parse_program
from shiftscope.metrics.held_out_records import (
    DENIED,
    EXACT,
    GT_EXEC,
    MISSING,
    ORIGINAL,
    PLAIN,
    SAME,
    VARIANT,
    name_bits,
)
from shiftscope.question import Question
from shiftscope.run.generalization import contrast, segment_combine
from shiftscope.run.held_out_study.asking import ModelAnswers, mark_right, read_word
from shiftscope.run.held_out_study.test_sets import DerivedTestSet
from shiftscope.suites.held_out_study import DerivedTestPlan

COUNT_IMAGES = parse_program("count(images(filter(scene(), shape=cube)))")
SOME = parse_program("some(filter(scene(), shape=cube), verify(it(), color=red))")


def build(pairs, questions):
    return DerivedTestSet(DerivedTestPlan("toy", "toy"), None, tuple(questions), tuple(pairs))


def make_segments():
    whole = Question("q", "How many images have a cube?", ("a", "b"), COUNT_IMAGES, 2)
    parts = [
        replace(whole, id=f"q+image{k}", answer=1, notes=(("part of", "q"), ("factor", "segment_combine")))
        for k in (1, 2)
    ]
    return [whole, *parts]


def make_variants():
    original = Question("q", "Some of the cubes are red.", ("a", "b"), SOME, True)
    levels = ("no ↔ some", "some → none of the")
    return [
        original,
        *(
            replace(original, id=f"q+{k}", answer=False, notes=(("twin", "q"), ("level", level)))
            for k, level in enumerate(levels)
        ),
    ]


def test_segments_are_put_together_and_one_without_an_answer_loses_them():
    questions = make_segments()
    found = build(segment_combine.pair_questions(questions), questions)
    assert [pair.rows for pair in found.pairs] == [("count_group_by",)]
    right = found.score(ModelAnswers({"": (2, 1, 1), GT_EXEC: (2, 1, None)}, {EXACT: np.array([1, 1, 0], bool)}))
    assert right[ORIGINAL].all() and right[VARIANT].all() and right[SAME].all() and not right[DENIED].any()
    assert right[name_bits(ORIGINAL, GT_EXEC)].all() and not right[name_bits(VARIANT, GT_EXEC)].any()
    assert right[name_bits(ORIGINAL, EXACT)].all() and not right[name_bits(VARIANT, EXACT)].any()
    denied = found.score(ModelAnswers({"": (2, 0, 0)}))
    assert denied[DENIED].all() and not denied[VARIANT].any() and not denied[SAME].any()


def test_a_variant_is_right_by_its_own_answer_and_rows_of_originals_count_each_once():
    questions = make_variants()
    found = build(contrast.pair_questions(questions), questions)
    assert set(found.marks) == {
        "verify_quant: no → no, some → some",
        "verify_quant: no ↔ some",
        "verify_quant: some → some",
        "verify_quant: some → none of the",
    }
    assert all(bits.sum() == 1 for bits in found.marks.values())
    right = found.score(ModelAnswers({"": (True, True, False)}, {MISSING: np.array([0, 1, 0], bool)}))
    assert right[ORIGINAL].tolist() == [True, True]
    assert right[VARIANT].tolist() == [False, True] and right[SAME].tolist() == [True, False]
    assert right[name_bits(VARIANT, MISSING)].tolist() == [True, False]


def test_other_words_or_answers_are_another_test_set():
    questions = make_variants()
    pairs = contrast.pair_questions(questions)
    changed = [*questions[:-1], replace(questions[-1], text="None of the cubes are red.")]
    assert build(pairs, questions).content != build(pairs, changed).content
    assert build(pairs, questions).content == build(pairs, make_variants()).content


def test_without_pairs_questions_count_by_kind_where_both_datasets_have_the_answer():
    asked = [Question(f"q{k}", "?", ("a",), None, answer) for k, answer in enumerate((True, 3, "red", "lilac"))]
    found = DerivedTestSet(
        DerivedTestPlan("other", data="other"), None, tuple(asked), (), frozenset(("yes", "3", "red"))
    )
    assert {kind: bits.tolist() for kind, bits in found.marks.items()} == {
        "binary": [True, False, False, False],
        "open": [False, False, True, False],
    }
    assert found.score(ModelAnswers({"": (True, 3, None, "lilac")}))[PLAIN].tolist() == [True, True, False, True]


def test_a_networks_words_are_typed():
    assert [read_word(word) for word in ("yes", "no", "3", "red")] == [True, False, 3, "red"]
    assert mark_right((True, None, 3), (True, "no", "3")).tolist() == [True, False, True]
