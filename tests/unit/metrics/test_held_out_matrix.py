"""A study of held-out splits: every figure is made of stored bits."""

import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.metrics.held_out_matrix import HeldOutMatrix
from shiftscope.metrics.held_out_records import (
    HELD_OUT,
    IID_SIZE,
    PLAIN,
    HeldOutEntry,
    HeldOutTest,
    HeldOutTraining,
    pack_array,
    pack_bits,
    parse_held_out_record,
)

COUNT = 200
MARKED = np.arange(COUNT) % 2 == 0


def make_test():
    return HeldOutTest(
        "covr",
        "small",
        "d",
        {"train": 10, "val": 5, "test": COUNT},
        ("count", "verify_attr"),
        pack_array((np.arange(COUNT) % 4 == 0).astype(np.uint8)),
        pack_array(np.full(COUNT, 2, np.uint8)),
        pack_array(np.arange(2 * COUNT, dtype=np.uint32)),
        {"has_quant": pack_bits(MARKED)},
        {"has_quant": 7},
    )


def make_entry(training, right, data="d"):
    return HeldOutEntry("covr", "small", data, training, 10, {PLAIN: pack_bits(np.asarray(right))})


TEXT, IID = HeldOutTraining("visualbert_text"), HeldOutTraining("visualbert")
SHOT = HeldOutTraining("visualbert", HELD_OUT, "has_quant", 250)
SIZE = HeldOutTraining("visualbert", IID_SIZE, "has_quant", 250)


def make_matrix():
    place = np.arange(COUNT)
    held = np.flatnonzero(MARKED)
    right = {
        TEXT: np.isin(place, held[:20]),  # 20 of 100 with the property
        SHOT: np.isin(place, held[:50]),
        SIZE: np.isin(place, held[:80]) | ~MARKED,
        IID: np.ones(COUNT, bool),
    }
    entries = [make_entry(training, bits) for training, bits in right.items()]
    return HeldOutMatrix.gather([make_test(), *entries, make_entry(IID, np.zeros(COUNT, bool), "other")], "small")


def test_accuracies_are_of_the_questions_asked_for():
    matrix = make_matrix()
    assert matrix.left_out == 1
    assert matrix.measure_accuracy(SHOT, split="has_quant").value == pytest.approx(0.5)
    assert matrix.measure_accuracy(SHOT).value == pytest.approx(0.25)
    score = matrix.measure_accuracy(SIZE, template="verify_attr")  # every fourth, all of them marked
    assert (score.n, score.value) == (50, pytest.approx(0.8)) and score.low < 0.8 < score.high
    assert matrix.measure_accuracy(HeldOutTraining("vilbert")) is None
    assert matrix.measure_accuracy(SHOT, wording="paraphrased") is None


def test_the_generalization_score_is_the_share_of_the_gap():
    matrix = make_matrix()
    score = matrix.measure_generalization(SHOT, TEXT, SIZE, split="has_quant")
    assert score.value == pytest.approx((0.5 - 0.2) / (0.8 - 0.2)) and score.low < 0.5 < score.high
    assert matrix.measure_generalization(SHOT, TEXT, HeldOutTraining("vilbert"), split="has_quant") is None
    pair = matrix.compare(SIZE, TEXT, split="has_quant")
    assert pair.drop == pytest.approx(0.6) and pair.low > 0


def test_seeds_are_averaged():
    other = HeldOutTraining("visualbert", seed=1)
    entries = [make_entry(IID, np.ones(COUNT, bool)), make_entry(other, np.zeros(COUNT, bool))]
    matrix = HeldOutMatrix(make_test(), entries)
    assert matrix.list_seeds(IID) == [0, 1] and matrix.measure_accuracy(IID).value == pytest.approx(0.5)


def test_questions_that_share_any_image_go_together_in_a_score():
    """Not only those that show the same one first."""
    random = np.random.default_rng(3)
    widths = []
    for shared in (1, 10):  # questions that have their second image in common, and are answered alike
        test = replace(
            make_test(),
            image_counts=pack_array(np.full(COUNT, 2, np.uint8)),
            images=pack_array(np.stack([np.arange(COUNT), COUNT + np.arange(COUNT) // shared], 1).astype(np.uint32)),
            marks={"has_quant": pack_bits(np.ones(COUNT, bool))},
        )
        group = np.arange(COUNT) // shared
        bits = [make_entry(t, random.random(COUNT)[group] < p) for t, p in ((TEXT, 0.3), (SHOT, 0.5), (SIZE, 0.8))]
        score = HeldOutMatrix(test, bits).measure_generalization(SHOT, TEXT, SIZE, split="has_quant")
        widths.append(score.high - score.low)
    assert widths[1] > 1.6 * widths[0]


def test_a_score_without_a_sure_gap_has_no_interval():
    """Text-only and iid-size models that are right on other halves of the questions, the second on one more."""
    turn = np.arange(COUNT) // 2 % 2 == 0
    right = {TEXT: turn, SHOT: np.arange(COUNT) // 4 % 2 == 0, SIZE: ~turn | (np.arange(COUNT) == 0)}
    matrix = HeldOutMatrix(make_test(), [make_entry(training, bits) for training, bits in right.items()])
    score = matrix.measure_generalization(SHOT, TEXT, SIZE, split="has_quant")
    assert score.value is not None and score.low is None and score.high is None


def draw_seeds(training, shares, random):
    return [
        make_entry(
            HeldOutTraining(training.model, training.kind, training.split, training.shots, k), random.random(COUNT) < p
        )
        for k, p in enumerate(shares)
    ]


def test_intervals_are_over_seeds_too():
    random = np.random.default_rng(0)
    alike, apart = draw_seeds(IID, (0.5, 0.5, 0.5), random), draw_seeds(SHOT, (0.2, 0.5, 0.8), random)
    text, size = draw_seeds(TEXT, (0.1,), random), draw_seeds(SIZE, (0.9,), random)
    matrix = HeldOutMatrix(make_test(), [*alike, *apart, *text, *size])
    close, wide = (matrix.measure_accuracy(one) for one in (IID, SHOT))
    assert close.high - close.low < 0.2 and wide.high - wide.low > 0.9  # Student's quantile of two is 4.3
    pair = matrix.compare(SHOT, IID)
    assert pair.high - pair.low > 0.9
    score = matrix.measure_generalization(SHOT, TEXT, SIZE, split="has_quant")
    single = HeldOutMatrix(make_test(), [*draw_seeds(SHOT, (0.5,), random), *text, *size])
    alone = single.measure_generalization(SHOT, TEXT, SIZE, split="has_quant")
    assert score.high - score.low > 1.0 > 0.6 > alone.high - alone.low


def test_two_wordings_to_one_training_are_paired_by_seed():
    random = np.random.default_rng(1)
    entries = []
    for k, p in enumerate((0.2, 0.8)):  # seeds far apart, each losing as much
        bits = random.random(COUNT) < p
        both = {PLAIN: pack_bits(bits), "paraphrased": pack_bits(bits & (random.random(COUNT) < 0.95))}
        entries.append(HeldOutEntry("covr", "small", "d", HeldOutTraining("visualbert", seed=k), 10, both))
    pair = HeldOutMatrix(make_test(), entries).compare(IID, IID, than="paraphrased")
    assert pair.high - pair.low < 0.6  # of two seeds; if they were not paired, all that is possible: 2


def test_records_are_read_as_written_and_damage_is_refused():
    for record in (make_test(), make_entry(SHOT, MARKED)):
        assert parse_held_out_record(json.loads(json.dumps(record.to_json()))) == record
    with pytest.raises(ValueError, match="1600 bits"):
        parse_held_out_record(make_test().to_json() | {"marks": {"has_quant": pack_bits(np.ones(1600, bool))}})
    with pytest.raises(ValueError, match="not a record"):
        parse_held_out_record({"kind": "entry"})


def test_tests_with_other_marks_are_told_apart():
    test = make_test()
    assert test.marks_like(make_test())
    assert not test.marks_like(replace(test, with_property={"has_quant": 8}))
    assert not test.marks_like(replace(test, marks={"has_quant": pack_bits(~MARKED)}))
    assert not test.marks_like(replace(test, marks={}, with_property={}))
