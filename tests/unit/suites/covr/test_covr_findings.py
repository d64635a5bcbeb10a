"""COVR's findings are decided by intervals over the stored bits, not by which of two figures is larger."""

from dataclasses import replace

import numpy as np
import pytest

from shiftscope.metrics.held_out_matrix import HeldOutMatrix
from shiftscope.metrics.held_out_records import (
    EASY,
    HELD_OUT,
    IID_SIZE,
    OTHER_IMAGES,
    PARAPHRASED,
    PLAIN,
    HeldOutEntry,
    HeldOutTest,
    HeldOutTraining,
    pack_array,
    pack_bits,
)
from shiftscope.suites.covr.findings import SETUPS, check_findings
from shiftscope.suites.covr.study import STUDY, TEMPLATES, measure_score, measure_split
from shiftscope.suites.held_out_study import BLIND, NO_GAP
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


def show_images(entry, share):
    """The same training, and how often it is right about other images."""
    order = np.random.default_rng(0).permutation(COUNT) / COUNT
    return replace(entry, right={**entry.right, OTHER_IMAGES: pack_bits(order < share)})


def find_row(matrix, title, name):
    table = next(one for one in STUDY.list_tables(matrix) if one.title.startswith(title))
    return dict(zip(table.heads, next(row for row in table.rows if row[0] == name), strict=True))


@pytest.mark.parametrize(("seen", "verdict", "mark"), [(0.75, HOLDS, ""), (0.5, UNDECIDED, BLIND)])
def test_a_training_that_did_not_come_to_see_has_no_score(seen, verdict, mark):
    """Though images add more than 5 points: it is less than half of what they add in-domain."""
    split = "has_quant_compscope_has_quant_all"
    test = make_test(split)
    marked = np.arange(COUNT) % 2 == 0
    held, size = list_scored(split, 0.2, 0)
    held = show_images(replace(held, right=make_entry(IID, seen).right), 0.4)
    low = np.where(marked, np.random.default_rng(1).random(COUNT) < 0.42, np.random.default_rng(1).random(COUNT) < seen)
    held = replace(held, right={**held.right, PLAIN: pack_bits(low)})
    matrix = HeldOutMatrix(
        replace(test, marks={split: pack_bits(marked)}),
        [make_entry(TEXT, 0.4), show_images(make_entry(IID, 0.8), 0.4), held, size],
    )
    row = find_row(matrix, "Table 8", split)
    assert (row["M=0"].mark, row["iid"].mark) == (mark, "")
    assert (row["gen. score"].measured.value is None) == bool(mark)
    assert next(f for f in check_findings(matrix) if f.says.startswith("Zero-shot: a complex")).verdict == verdict


def test_where_images_add_nothing_in_domain_there_is_nothing_to_lose():
    matrix = HeldOutMatrix(make_test("has_quant"), [make_entry(TEXT, 0.4), make_entry(IID, 0.4)])
    assert find_row(matrix, "Table 7", "has_quant")["iid"].mark == NO_GAP
    matrix = HeldOutMatrix(make_test("has_quant"), [make_entry(TEXT, 0.4), make_entry(IID, 0.6)])
    assert find_row(matrix, "Table 7", "has_quant")["iid"].mark == ""


def test_what_the_text_leads_by_is_counted_where_it_does_not_name_the_answers():
    options = np.array([TEMPLATES[k % len(TEMPLATES)].startswith("choose_") for k in range(COUNT)])
    order = np.random.default_rng(0).permutation(COUNT) / COUNT
    entries = [
        replace(make_entry(one, 0.0), right={PLAIN: pack_bits(np.where(options, chosen, other) > order)})
        for one, chosen, other in (
            (HeldOutTraining("majority_per_template"), 0.0, 0.4),
            (TEXT, 0.5, 0.42),
            (IID, 0.5, 0.8),
        )
    ]
    assert find_verdict("Most answers cannot be inferred", entries) == HOLDS


@pytest.mark.parametrize(("open_ones", "verdict"), [(0.2, HOLDS), (0.9, FAILS)])
def test_open_questions_are_hardest_if_they_are_for_both_models(open_ones, verdict):
    order = np.random.default_rng(0).permutation(COUNT) / COUNT
    asked = np.array([TEMPLATES[k % len(TEMPLATES)] in ("query_attr", "query_object") for k in range(COUNT)])
    entries = [
        replace(make_entry(one, 0.0), right={PLAIN: pack_bits(order < np.where(asked, share, 0.7))})
        for one, share in ((IID, 0.2), (HeldOutTraining("vilbert"), open_ones))
    ]
    assert find_verdict("Open questions are hardest", entries) == verdict
    assert find_verdict("Open questions are hardest", entries[:1]) == NOT_MEASURED


def test_trainings_that_hardly_came_to_see_decide_no_other_finding_either():
    shots = (0, 50, 125, 250, 2500)
    blind = [show_images(make_entry(HeldOutTraining("visualbert", HELD_OUT, "has_quant", k), 0.41), 0.4) for k in shots]
    easy = show_images(make_entry(HeldOutTraining("visualbert", EASY), 0.41), 0.4)
    seeing = show_images(make_entry(IID, 0.8), 0.4)
    test = replace(make_test("has_quant"), marks={"has_quant": pack_bits(np.arange(COUNT) % 2 == 0)})
    matrix = HeldOutMatrix(test, [make_entry(TEXT, 0.4), seeing, easy, *blind])
    found = {one.says: one.verdict for one in check_findings(matrix)}
    assert found["Good distractors matter: trained with random images instead, accuracy drops."] == UNDECIDED
    assert next(v for says, v in found.items() if says.startswith("The effect of M (has_quant)")) == UNDECIDED
    assert find_row(matrix, "Figure 13", "has_quant")["M=0"].mark == BLIND
    assert find_row(matrix, "Table 6", "visualbert, easy distractors")["generated"].mark == BLIND


def test_a_seed_that_hardly_came_to_see_stands_back_behind_those_that_did():
    seeds = [HeldOutTraining("visualbert", HELD_OUT, "has_quant", 250, seed) for seed in range(3)]
    test = replace(make_test("has_quant"), marks={"has_quant": pack_bits(np.arange(COUNT) % 2 == 0)})
    seeing, blind = (show_images(make_entry(seeds[k], share), 0.4) for k, share in enumerate((0.7, 0.42)))
    unasked = make_entry(seeds[2], 0.6)  # not about other images
    home = show_images(make_entry(IID, 0.8), 0.4), make_entry(replace(IID, seed=1), 0.7)
    matrix = HeldOutMatrix(test, [*home, seeing, blind, unasked])
    assert matrix.blind == {seeds[1]} and not matrix.is_blind(seeds[0])
    assert matrix.list_seeds(seeds[0]) == [0, 2] and matrix.list_seeds(seeds[0], (OTHER_IMAGES,)) == [0]
    assert matrix.measure_accuracy(seeds[0]).value == pytest.approx(0.65, abs=0.01)
    assert matrix.compare(IID, IID, than=OTHER_IMAGES).drop == pytest.approx(0.4, abs=0.01)  # of the seed with both
    alone = HeldOutMatrix(test, [*home, blind])
    assert alone.is_blind(seeds[0]) and alone.list_seeds(seeds[0]) == [1]
