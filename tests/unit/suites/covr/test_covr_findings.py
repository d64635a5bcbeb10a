"""COVR's findings are decided by intervals over the stored bits, not by which of two figures is larger."""

import numpy as np
import pytest

from shiftscope.metrics.held_out_matrix import (
    HELD_OUT,
    IID_SIZE,
    PARAPHRASED,
    PLAIN,
    HeldOutEntry,
    HeldOutMatrix,
    HeldOutTest,
    HeldOutTraining,
    pack_array,
    pack_bits,
)
from shiftscope.suites.covr.findings import SETUPS, check_findings
from shiftscope.suites.covr.study import TEMPLATES, measure_score, measure_split
from shiftscope.suites.study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED

COUNT = 1500
TEXT, IID = HeldOutTraining("visualbert_text"), HeldOutTraining("visualbert")


def make_test(*splits):
    everything = pack_bits(np.ones(COUNT, bool))
    return HeldOutTest(
        "covr",
        "small",
        "d",
        {"train": 10, "val": 5, "test": COUNT},
        TEMPLATES,
        pack_array((np.arange(COUNT) % len(TEMPLATES)).astype(np.uint8)),
        pack_array(np.ones(COUNT, np.uint8)),
        pack_array(np.arange(COUNT, dtype=np.uint32)),
        dict.fromkeys(splits, everything),
        dict.fromkeys(splits, 1000),
    )


def make_entry(training, share, paraphrased=None):
    """The first of a fixed random order are right."""
    order = np.random.default_rng(0).permutation(COUNT) / COUNT
    bits = {PLAIN: pack_bits(order < share)}
    bits |= {PARAPHRASED: pack_bits(order < paraphrased)} if paraphrased is not None else {}
    return HeldOutEntry("covr", "small", "d", training, 10, bits)


def find_verdict(says, entries, *splits):
    matrix = HeldOutMatrix(make_test(*splits), entries)
    return next(one.verdict for one in check_findings(matrix) if one.says.startswith(says))


def list_scored(split, score, shots=250):
    """Trainings with that generalization score, text-only at 0.4 and iid-size at 0.8."""
    held, size = (HeldOutTraining("visualbert", kind, split, shots) for kind in (HELD_OUT, IID_SIZE))
    return [make_entry(held, 0.4 + 0.4 * score), make_entry(size, 0.8)]


@pytest.mark.parametrize(("share", "verdict"), [(0.70, HOLDS), (0.45, HOLDS), (0.40, UNDECIDED), (0.36, FAILS)])
def test_images_are_needed_where_the_paired_interval_says_so(share, verdict):
    says = "Images are needed"
    assert find_verdict(says, [make_entry(TEXT, 0.4), make_entry(IID, share)]) == verdict
    assert find_verdict(says, [make_entry(TEXT, 0.4)]) == NOT_MEASURED


@pytest.mark.parametrize(("score", "verdict"), [(0.2, HOLDS), (0.48, UNDECIDED), (0.9, FAILS)])
def test_a_score_near_its_bound_is_undecided(score, verdict):
    split = "has_quant_compscope_has_quant_all"
    entries = [make_entry(TEXT, 0.4), *list_scored(split, score, 0)]
    assert find_verdict("Zero-shot: a complex scope with all", entries, split) == verdict


@pytest.mark.parametrize(("score", "verdict"), [(0.9, HOLDS), (0.52, UNDECIDED), (0.1, FAILS)])
def test_scores_that_hardly_differ_are_undecided(score, verdict):
    entries = [make_entry(TEXT, 0.4), *list_scored("has_quant", 0.5), *list_scored("has_quant_all", score)]
    assert find_verdict("Few-shot: all is learned better", entries, "has_quant", "has_quant_all") == verdict


def test_paraphrases_are_compared_in_pairs():
    says = "Trained on generated questions"
    assert find_verdict(says, [make_entry(IID, 0.6, 0.5)]) == HOLDS
    assert find_verdict(says, [make_entry(IID, 0.6, 0.6)]) == UNDECIDED


def test_the_score_of_drawn_splits_has_an_interval_over_the_draws():
    names = [f"program_split_{n}" for n in (1, 2, 3)]
    entries = [make_entry(TEXT, 0.4)]
    for name, score in zip(names, (0.5, 0.6, 0.7), strict=True):
        entries += list_scored(name, score, 0)
    matrix = HeldOutMatrix(make_test(*names), entries)
    shown = measure_split(matrix, "visualbert", "program_split", PLAIN)["score"]
    score = measure_score(matrix, "visualbert", "program_split", PLAIN)
    assert shown.high - shown.value == pytest.approx(0.1, abs=0.01)  # the deviation of the draws
    assert score.high - score.value == pytest.approx(4.303 * 0.1 / 3**0.5, abs=0.03)
    assert find_verdict("Zero-shot: unseen program structures", entries, *names) == UNDECIDED


def test_setups_are_counted_as_far_as_they_are_sure():
    found = {one.says: one for one in check_findings(HeldOutMatrix(make_test(), [make_entry(TEXT, 0.4)]))}
    assert found["About half of the setups expose a weakness: 10 of 21 in the paper."].verdict == NOT_MEASURED
    assert len(SETUPS) == 21
