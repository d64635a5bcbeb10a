"""Head and tail, generalization, contrast, execution, calibration, missing objects: literal cases."""

import pytest

from rows import row, run
from shiftscope.metrics import (
    action_accuracy,
    calibration,
    contrast,
    execution,
    generalization_score,
    head_tail,
    missing_objects,
)
from shiftscope.result import Prediction, QuestionRecord, records_of


def by_name(scores):
    return {s.metric: s for s in scores if not s.slice}


def test_head_and_tail_of_an_imbalanced_group():
    # 10 yes, 1 no, 1 maybe: 4 an answer on average, so no and maybe are rare; entropy 0.52 of the most possible.
    rows = [row(f"{k} yes {'yes' if k < 9 else 'no'}", kind="exist") for k in range(10)]
    rows += [row("a no yes", kind="exist"), row("b maybe maybe", kind="exist")]
    rows += [row(f"c{k} {k} {k}", kind="count") for k in range(4)]  # balanced: neither
    made = by_name(head_tail.measure(records_of(rows)))
    assert (made["acc_head"].value, made["acc_head"].n) == (0.9, 10)
    assert (made["acc_tail"].value, made["acc_tail"].n) == (0.5, 2)
    assert (made["in_neither"].value, made["in_neither"].n) == (4 / 16, 16)


def test_a_group_at_the_limit_is_balanced_whatever_rounding_says():
    # Head and tail are by the counts of the audit, exact: 1.2 times the mean of 5 and 10 answers of 3 is 6.
    said = ["a"] * 8 + ["b"] * 6 + ["c"]
    rows = [row(f"{k} {answer} a", kind="exist") for k, answer in enumerate(said)]
    made = by_name(head_tail.measure(records_of(rows)))
    assert (made["acc_head"].n, made["acc_tail"].n) == (14, 1)


def test_questions_of_gqa_are_grouped_as_in_gqa_ood():
    # Entropies 0.47 (9 of a, 1 of b), 1 (c and d), 1 (no local group: e and f); mean 0.82, deviation 0.25: the first
    # is kept. By VQA-VS all of them would be one group of their kind.
    said = [("g1", "a")] * 9 + [("g1", "b"), ("g2", "c"), ("g2", "d")]
    rows = [row(f"{k} {answer} a", kind="query", local_group=group) for k, (group, answer) in enumerate(said)]
    rows += [row(f"x{k} {k} a", kind="query") for k in "ef"]
    scores = head_tail.measure(records_of(rows))
    made = by_name(scores)
    assert (made["acc_head"].value, made["acc_head"].n) == (1, 9)
    assert (made["acc_tail"].value, made["acc_tail"].n) == (0, 1)
    assert (made["in_neither"].value, made["in_neither"].n) == (4 / 14, 14)
    assert {s.form for s in scores} == {"GQA-OOD"}
    assert by_name(head_tail.measure(records_of(rows), group="kind"))["acc_tail"].n == 5


def test_the_fact_part_decides_where_there_is_one():
    rows = [row("1 yes yes", part="head"), row("2 yes no", part="tail"), row("3 yes no", part="other")]
    made = by_name(head_tail.measure(records_of(rows)))
    assert (made["acc_head"].value, made["acc_tail"].value, made["acc_tail"].n) == (1, 0, 1)
    assert (made["in_neither"].value, made["in_neither"].n) == (pytest.approx(1 / 3), 3)


def test_annotators_are_scored_in_thirds():
    asked = QuestionRecord("1", ("s",), "red", ("red", "red", "blue"), (("part", "tail"),))
    made = by_name(head_tail.measure(records_of([(asked, Prediction("1", "red"))])))
    assert made["acc_tail"].value == pytest.approx(2 / 3)


def test_the_generalization_score_is_the_part_of_the_gap_that_is_closed():
    assert generalization_score.generalization_score(0.558, 0.508, 0.781) == pytest.approx(0.183, abs=1e-3)
    assert generalization_score.generalization_score(0.5, 0.6, 0.6) is None
    text = run(*(f"{k} yes {'yes' if k < 2 else 'no'}" for k in range(10)))
    upper = run(*(f"{k} yes {'yes' if k < 8 else 'no'}" for k in range(10)))
    model = run(*(f"{k} yes {'yes' if k < 5 else 'no'}" for k in range(9)), "9 yes failed")
    score = generalization_score.measure_runs(model, text, upper)
    assert score.value == pytest.approx((0.5 - 0.2) / (0.8 - 0.2))
    assert (score.n, score.failed) == (10, 1)


def test_a_gap_that_is_none_has_no_score():
    same = run("1 yes yes", "2 yes no")
    score = generalization_score.measure_runs(same, same, same)
    assert (score.value, score.low) == (None, None)


def test_contrast_over_originals_and_their_variants():
    rows = [row("1 yes yes"), row("2 yes yes"), row("3 yes no")]
    rows += [row("1a no yes", twin="1"), row("1b yes yes", twin="1")]  # ignores the change; is right
    rows += [row("2a no no", twin="2"), row("3a no no", twin="3"), row("9a no no", twin="9")]
    made = by_name(contrast.measure(records_of(rows)))
    assert (made["contrast_accuracy"].value, made["contrast_accuracy"].n) == (0.8, 5)
    assert (made["original_accuracy"].value, made["original_accuracy"].n) == (pytest.approx(2 / 3), 3)
    assert made["contrast_drop"].value == pytest.approx(2 / 3 - 0.8)
    assert (made["local_coherency"].value, made["local_coherency"].n) == (0.75, 4)  # 1a, 1b, 3a; 9a has no other side
    assert (made["consistency"].value, made["consistency"].n) == (pytest.approx(1 / 3), 3)  # 2 with 2a


def test_an_original_counts_once_however_many_variants_it_has():
    rows = [
        row("1 yes yes"),
        *(row(f"1{k} no no", twin="1") for k in "abcdefghi"),
        row("2 yes no"),
        row("2a no no", twin="2"),
    ]
    made = by_name(contrast.measure(records_of(rows)))
    assert (made["original_accuracy"].value, made["original_accuracy"].n) == (0.5, 2)
    assert (made["contrast_accuracy"].value, made["contrast_accuracy"].n) == (1, 10)


def test_a_set_without_variants_is_its_original_alone():
    rows = [row("1 yes yes"), row("1a no yes", twin="1"), row("2 yes yes"), row("3 yes no")]
    made = by_name(contrast.measure(records_of(rows)))
    assert (made["consistency"].value, made["consistency"].n) == (pytest.approx(1 / 3), 3)
    assert made["original_accuracy"].value == pytest.approx(2 / 3)


def test_a_variant_without_a_reply_breaks_its_set():
    rows = [row("1 yes yes"), row("1a no no", twin="1"), row("1b no missing", twin="1")]
    made = by_name(contrast.measure(records_of(rows)))
    assert (made["contrast_accuracy"].value, made["contrast_accuracy"].missing) == (0.5, 1)
    assert made["consistency"].value == 0
    assert made["local_coherency"].value == 0


def test_contrast_needs_variants(refuses):
    with refuses("contrast needs examples that name their original (twin); this run has none"):
        contrast.measure(run("1 yes yes"))
    with refuses("the originals that the variants of this run name are not in it"):
        contrast.measure(run("1a yes yes", twin="1"))


def test_execution_on_own_scenes_on_true_ones_and_exactly():
    rows = [
        row("1 2 2", program="count(scene())", wrote="count(scene())"),
        row("2 2 2", program="count(scene())", wrote="2"),  # right by chance
        row("3 2 undefined", program="count(scene())"),  # no program
        row("1 2 2", condition="scene_text"),
        row("2 2 2", condition="scene_text"),
        row("3 2 2", condition="scene_text"),
    ]
    made = by_name(execution.measure(records_of(rows)))
    assert made["gen_exec"].value == pytest.approx(2 / 3)
    assert made["gt_exec"].value == 1
    assert (made["exact"].value, made["exact"].n) == (pytest.approx(1 / 3), 3)
    assert "exact" not in by_name(execution.measure(run("1 2 2", program="count(scene())")))


def test_the_calibration_error_of_two_bins():
    # 0.9 said of two that are both right, 0.6 of two of which one is: gaps 0.1 and 0.1.
    rows = [
        row("1 y y", confidence=0.9),
        row("2 y y", confidence=0.9),
        row("3 y y", confidence=0.6),
        row("4 y n", confidence=0.6),
    ]
    (score,) = calibration.measure(records_of([*rows, row("5 y y")]), bins=10)
    assert score.value == pytest.approx(0.1)
    assert score.n == 4  # the fifth came without a belief


def test_certain_and_right_is_calibrated_and_certain_and_wrong_is_not():
    assert calibration.measure(run("1 y y", "2 y y", confidence=1.0))[0].value == 0
    assert calibration.measure(run("1 y n", "2 y n", confidence=1.0))[0].value == 1


def test_calibration_needs_beliefs(refuses):
    with refuses("calibration needs the model's confidence in its answers; this run has none"):
        calibration.measure(run("1 y y"))


def test_action_accuracy_compares_the_actions_alone():
    action = "remove(scene(), filter(scene(), color={}))"
    said = [
        f"count({action.format('red')})",
        f"exist({action.format('red')})",  # another question about the same action
        f"count({action.format('blue')})",
        "count(scene())",
        "",
    ]
    true = f"count({action.format('red')})"
    rows = [
        (QuestionRecord(str(k), truth=1, program=true), Prediction(str(k), 1, program=p)) for k, p in enumerate(said)
    ]
    rows.append(
        (QuestionRecord("plain", truth=1, program="count(scene())"), Prediction("plain", 1, program="count(scene())"))
    )
    records = records_of(rows)
    assert records.action_right.tolist() == [1, 1, 0, 0, -1, -2]
    score = action_accuracy.measure(records)[0]
    assert (score.metric, score.value, score.n) == ("action_exact", 0.4, 5)


def test_action_accuracy_needs_programs_of_actions(refuses):
    with refuses("action_accuracy needs a model that writes programs of actions"):
        action_accuracy.measure(run("1 y y"))


def test_missing_objects_are_programs_that_find_nothing():
    rows = [
        row("1 y undefined", reason="none found"),
        row("2 y y", reason="none found"),  # went on with a default
        row("3 y undefined", reason="several found"),
        row("4 y y"),
        row("5 y failed", reason="none found"),
    ]
    score = missing_objects.measure(records_of(rows))[0]
    assert (score.value, score.n, score.undefined, score.failed) == (0.5, 4, 2, 0)


def test_missing_objects_needs_a_model_that_runs_programs(refuses):
    with refuses("missing_objects needs a model that runs programs"):
        missing_objects.measure(run("1 y y", "2 y n", "3 y unreadable"))
    wrote = run("1 2 2", program="count(scene())", wrote="count(scene())")
    assert missing_objects.measure(wrote)[0].value == 0
    assert missing_objects.measure(run("1 y undefined", reason="several found"))[0].value == 0
