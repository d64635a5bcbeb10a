"""`shiftscope compare`: paired changes, what is sure, what is refused, and what an exit code means."""

import json

import numpy as np
import pytest

from benchmarks.compare_power import Scenario, simulate
from command import here, refused
from shiftscope.metrics.intervals import SceneClusters
from shiftscope.result import Lineage, Prediction, QuestionRecord
from shiftscope.run.compare import AccuracyChange, compare, find_detectable_drop, measure_change, settle_changes
from shiftscope.store.run_log import RunWriter

KINDS = ("exist", "count", "query")
TRUTHS = {"exist": "yes", "count": "3", "query": "red"}


def write(
    folder,
    right,
    *,
    n=400,
    per_scene=4,
    data="d",
    model="",
    status="",
    questions=None,
    finish=True,
    condition="as_is",
    truth=None,
    content="",
    lineage="",
    **spec,
):
    """A run of n questions; `right(k)` tells which it gets right; `status(k)` may give one that has no answer."""
    rows = []
    for k in range(n):
        kind = KINDS[k % 3]
        true = truth(k) if truth else TRUTHS[kind]
        asked = {"facts": (("kind", kind),), "content": f"{content}{k}" if content else ""}
        record = QuestionRecord(f"q{k}", (f"s{k // per_scene}",), true, **asked)
        why = status(k) if status else ""
        said = {"status": why} if why else {"answer": true if right(k) else "blue"}
        if why != "missing":
            rows.append((record, Prediction(record.question, condition=condition, **said)))
    about = {"model": model or folder.name, "data": "nowhere", "data_id": data, "split": "test", "seed": 0}
    known = Lineage(data, lineage, lineage) if lineage else None
    with RunWriter(folder, about | {"conditions": [condition]} | spec, questions or n, lineage=known) as writer:
        writer.add(rows)
        if finish:
            writer.finish()
    return folder


def good(k):
    return k % 5 > 0  # 80%


def lose(share):
    """Right as `good`, but on a share of all questions wrong where that was right; spread over the scenes."""
    return lambda k: good(k) and (k * 7919) % 1000 >= 1000 * share / 0.8


@pytest.fixture
def two(tmp_path):
    return write(tmp_path / "old", good, n=2000), write(tmp_path / "new", lose(0.05), n=2000)


def told(*words):
    result = here("compare", *words, "--json")
    return result.returncode, json.loads(result.stdout)


def test_a_sure_drop_ends_with_1_and_an_unsure_one_with_0(two):
    code, found = told(*two, "--fail-below", "-2")
    assert (code, found["fails"], found["common"]) == (1, True, 2000)
    overall = found["changes"][0]
    assert overall["change"] == pytest.approx(-5, abs=0.6)
    assert overall["high"] < -2
    assert overall["fails"]
    assert told(*two, "--fail-below", "-5")[0] == 0  # it dropped by 5, but not surely by more
    assert told(*two)[0] == 0  # no threshold, no verdict
    assert told(*reversed(two), "--fail-below", "0")[0] == 0  # it got better


def test_the_words_and_the_markdown_say_the_same(two, tmp_path):
    result = here("compare", *two, "--fail-below", "-2", "--md", tmp_path / "pr.md")
    assert result.returncode == 1
    assert "a drop beyond 2.0 points is sure: all questions −" in result.stdout
    page = (tmp_path / "pr.md").read_text("utf-8")
    assert page.startswith("### new against old")
    assert ":x: a drop beyond 2.0 points is sure" in page
    widths = {line.count("|") for line in page.split("<details>")[0].splitlines() if line.startswith("|")}
    assert widths == {10}
    assert "Compared on 2,000 questions about 500 scenes, all that either was asked." in page


def test_two_runs_that_answer_alike_differ_in_nothing(tmp_path):
    old, new = (write(tmp_path / name, good) for name in ("old", "new"))
    code, found = told(old, new, "--fail-below", "0")
    assert code == 0
    assert [one["change"] for one in found["changes"]] == [0] * len(found["changes"])
    assert found["examples"] == []
    assert {one["direction"] for one in found["changes"]} == {""}


def test_what_a_comparison_could_have_shown_is_told(two):
    assert find_detectable_drop(0.1, 1.475, 5000) == pytest.approx(
        0.0192, abs=1e-4
    )  # 3.24 √((0.1 + 0.019) 1.475 / 5000)
    assert find_detectable_drop(0.1, 1.475, 5000, -0.02) == pytest.approx(0.0408, abs=1e-4)
    assert 0 < told(*two)[1]["detectable_drop"] < 1  # of 2,000 questions that differ but for the drop in nothing
    assert "points would be sure 9 times in 10" in here("compare", *reversed(two), "--fail-below", "0").stdout


def test_a_drop_in_one_question_type_is_named(tmp_path):
    old = write(tmp_path / "old", good, n=1800)
    new = write(tmp_path / "new", lambda k: good(k) and not (KINDS[k % 3] == "count" and k % 2), n=1800)
    _, found = told(old, new, "--fail-below", "-10")
    assert {(one["group"], one["name"]) for one in found["changes"] if one["fails"]} == {
        ("overall", "all questions"),
        ("kind", "count"),  # "answer: number" are the same questions, and looked at once
    }
    assert {one["direction"] for one in found["changes"] if one["name"] == "exist"} == {""}


def test_runs_of_several_variants_are_matched_by_their_data(tmp_path):
    for side, right in (("old", good), ("new", lose(0.2))):
        write(tmp_path / side / "runs" / "easy", good, data="a", model=side, variant="easy")
        write(tmp_path / side / "runs" / "hard", right, data="b", model=side, factor="textures")
    write(tmp_path / "old" / "runs" / "more", good, data="c", model="old", variant="rd+")
    code, found = told(tmp_path / "old", tmp_path / "new", "--fail-below", "-5")
    by = {one["name"]: one for one in found["changes"] if one["group"] == "factor"}
    assert set(by) == {"easy", "textures"}
    assert (by["easy"]["fails"], by["textures"]["fails"], code) == (False, True, 1)
    assert (found["common"], found["only_first"]) == (800, 400)
    assert "only old was run on rd+, which is not compared" in found["notes"]


def test_twins_of_one_scene_are_one_scene(tmp_path):
    for side in ("old", "new"):
        for data in ("base", "hard"):
            right = good if side == "old" else lose(0.1)
            write(tmp_path / side / data, right, data=data, lineage="base", model=side, variant=data)
    _, found = told(tmp_path / "old", tmp_path / "new")
    assert (found["changes"][0]["n"], found["changes"][0]["scenes"]) == (800, 100)


def test_other_data_are_refused(tmp_path):
    old, new = write(tmp_path / "old", good, data="a"), write(tmp_path / "new", good, data="b")
    said = refused(here("compare", old, new, "--fail-below", "-2"))
    assert "have no question in common" in said
    assert "run both on the same data" in said


def test_a_model_that_was_not_run_is_refused_with_the_command_to_run_it(tmp_path):
    old = write(tmp_path / "old", good)
    said = refused(here("compare", old, "openai:m@http://localhost:8000/v1"))
    assert "shiftscope run --model openai:m@http://localhost:8000/v1 --data nowhere --split test --out RUN" in said
    (tmp_path / "empty").mkdir()
    assert "no run.json in it or below it" in refused(here("compare", tmp_path / "empty", old))
    assert "hold the same run" in refused(here("compare", old, old))
    assert "a drop is negative" in refused(here("compare", old, write(tmp_path / "new", good), "--fail-below", "2"))


def test_different_limits_compare_what_both_were_asked(tmp_path):
    old, new = write(tmp_path / "old", good, n=1000), write(tmp_path / "new", good, n=400, limit=400)
    _, found = told(old, new)
    assert (found["common"], found["only_first"], found["only_second"]) == (400, 600, 0)
    assert "40.0% of the 1,000 of old and 100.0% of the 400 of new" in here("compare", old, new).stdout


def test_missing_and_failed_responses_count_as_wrong_and_are_mentioned(tmp_path):
    old = write(tmp_path / "old", lambda k: True)
    failed = write(tmp_path / "failed", lambda k: True, status=lambda k: "failed" if k % 10 == 0 else "")
    missing = write(
        tmp_path / "missing", lambda k: True, status=lambda k: "missing" if k % 10 == 0 else "", finish=False
    )
    for folder in (failed, missing):
        code, found = told(old, folder, "--fail-below", "-2")
        assert (code, found["common"]) == (1, 400)
        assert found["changes"][0]["change"] == pytest.approx(-10)
        notes = " ".join(found["notes"])
        assert f"{folder.name} has no answer to some questions, which count as wrong: 40 {folder.name}" in notes
        assert "on the 360 questions to which neither response failed or is missing, the change is +0.0 points" in notes
    assert told(missing, old, "--fail-below", "-2")[1]["changes"][0]["change"] == pytest.approx(10)


def test_an_edited_run_is_refused(tmp_path):
    old = write(tmp_path / "old", good)
    new = write(tmp_path / "new", good, truth=lambda k: "blue" if k == 7 else TRUTHS[KINDS[k % 3]])
    assert "other true answers or images for 1 of their 400 common questions, 'q7'" in refused(
        here("compare", old, new)
    )


def test_rows_that_are_there_twice_count_once(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    old, new = write(tmp_path / "old", good), write(tmp_path / "new", lose(0.1))
    before = told(old, new)[1]
    table = pq.read_table(new / "predictions.parquet")
    pq.write_table(pa.concat_tables([table, table.slice(0, 100)]), new / "predictions.parquet")
    after = told(old, new)[1]
    assert after["changes"] == before["changes"]
    assert any(note.startswith("new was asked 100 questions several times") for note in after["notes"])


def test_the_same_questions_of_another_dataset_are_matched_by_content(tmp_path):
    old = write(tmp_path / "old", good, data="a", content="c")
    new = write(tmp_path / "new", good, data="b", content="c", n=300)
    _, found = told(old, new)
    assert (found["common"], found["only_first"]) == (300, 100)
    assert any("matched by their content" in note for note in found["notes"])


def test_one_scene_or_few_are_never_sure(tmp_path):
    for scenes in (1, 5, 9):
        size = {"n": 100 * scenes, "per_scene": 100}
        old = write(tmp_path / f"old{scenes}", lambda k: True, **size)
        new = write(tmp_path / f"new{scenes}", lambda k: k % 2 > 0, **size)
        code, found = told(old, new, "--fail-below", "-2")
        assert (code, found["changes"][0]["change"]) == (0, -50)
        assert "too few scenes" in here("compare", old, new).stdout


def test_seeds_of_one_model_count_by_their_mean_and_two_models_are_refused(tmp_path):
    for seed in (0, 1):
        right = good if seed == 0 else lose(0.1)
        write(tmp_path / "old" / f"seed{seed}", right, model="m", seed=seed)
    new = write(tmp_path / "new", lambda k: True)
    _, found = told(tmp_path / "old", new)
    single = [told(tmp_path / "old" / f"seed{seed}", new)[1]["changes"][0]["first"] for seed in (0, 1)]
    assert found["changes"][0]["first"] == pytest.approx(sum(single) / 2)
    assert any("400 questions several times (by seeds, or in rows that repeat)" in note for note in found["notes"])
    write(tmp_path / "old" / "other", good, model="another")
    assert "differ in model; give the runs of one model" in refused(here("compare", tmp_path / "old", new))


def test_conditions_are_compared_each_with_its_own_and_fail_nothing(tmp_path):
    old, blind = write(tmp_path / "old", good), write(tmp_path / "blind", good, condition="blind")
    said = refused(here("compare", old, blind))
    assert "asked under as_is" in said
    assert "under blind" in said
    other = write(tmp_path / "other", lose(0.2), condition="blind")
    assert told(blind, other, "--fail-below", "-2")[0] == 1  # the one condition of both
    for side, right in (("a", good), ("b", lambda k: False)):
        write(tmp_path / side / "as_is", good, model=side)
        write(tmp_path / side / "blind", right, model=side, condition="blind")
    code, found = told(tmp_path / "a", tmp_path / "b", "--fail-below", "-2")
    assert code == 0
    (row,) = [one for one in found["changes"] if one["group"] == "condition"]
    assert (row["name"], row["direction"], row["fails"]) == ("blind", "worse", False)


def test_examples_hold_both_answers_and_the_true_one(two):
    made = compare(str(two[0]), str(two[1]), examples=2)
    assert [one.better for one in made.examples] == [False, False]
    for one in made.examples:
        assert one.first == one.truth != one.second
        assert one.images == (f"s{int(one.question[1:]) // 4}",)
    assert len({one.images for one in made.examples}) == 2


def test_slices_by_a_fact_that_is_not_there_are_refused(two):
    assert "no question has the fact 'colour'" in refused(here("compare", *two, "--by", "colour"))
    groups = {one["group"] for one in told(*two, "--by", "kind")[1]["changes"]}
    assert groups == {"overall", "kind"}


def row(group, p, high=-0.03, scenes=50):
    return AccuracyChange(group, "", 500, scenes, 0.8, 0.7, -0.1, -0.2, high, 0, 50, 2 * p, p)


def test_holm_is_over_all_but_the_overall_change():
    made = settle_changes(
        [row("overall", 0.02), row("kind", 0.012), row("factor", 0.02), row("condition", 0.001)], -0.02
    )
    assert [one.fails for one in made] == [True, True, True, False]  # 0.012 × 2, then 0.02 × 1, at least 0.024
    made = settle_changes([row("overall", 0.02), row("kind", 0.013), row("factor", 0.02)], -0.02)
    assert [one.fails for one in made] == [True, False, False]
    assert made[1].p_drop == pytest.approx(0.026)


@pytest.mark.parametrize(
    "other", [row("overall", 0.001, high=-0.019), row("overall", 0.03), row("overall", 0, scenes=9)]
)
def test_a_drop_is_sure_by_interval_test_and_scenes_together(other):
    assert not settle_changes([other], -0.02)[0].fails
    assert not settle_changes([row("overall", 0.001)], None)[0].fails


def test_the_test_against_a_threshold_of_zero_is_half_of_the_two_sided_one():
    draw = np.random.default_rng(0)
    first, second = (draw.random(300) < share for share in (0.8, 0.7))
    one = measure_change("overall", "", first * 1.0, second * 1.0, SceneClusters(np.arange(300) // 3))
    assert one.p_drop == pytest.approx(one.p / 2)
    other = measure_change("overall", "", second * 1.0, first * 1.0, SceneClusters(np.arange(300) // 3))
    assert other.p_drop == pytest.approx(1 - one.p / 2)


@pytest.mark.parametrize(
    ("scenario", "least", "most"),
    [(Scenario(), 0, 0.05), (Scenario(drop=0.02, threshold=-0.02), 0, 0.05), (Scenario(drop=0.02), 0.9, 1)],
)
def test_a_planted_drop_is_flagged_and_nothing_else(scenario, least, most):
    """docs/results/budgets.md has the figures of many more comparisons."""
    found = simulate(scenario, 300, 10)
    assert found.agreed == found.checked
    assert least - 0.04 <= found.flagged <= most + 0.03  # two standard errors and more
