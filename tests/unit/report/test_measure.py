"""Runs are named in as few words as tell them apart, twins find each other, and pooled rows stay what they were."""

import numpy as np

import store_toys
from report_toys import TEN, asked, body, log, right, study
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.text import parse_program
from shiftscope.metrics import accuracy
from shiftscope.metrics.significance import average_seeds, compare_models
from shiftscope.report.drops import find_twin_runs
from shiftscope.report.examples import find_decisive_steps
from shiftscope.report.measure import measure_accuracy as accuracy_of
from shiftscope.report.measure import pool_runs
from shiftscope.report.runs import read_runs, select_ranked
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import data_id
from toy import THREE_AND_ONE


def names(of):
    return [(r.contender, r.test) for r in of.runs]


def test_a_model_is_called_by_the_part_of_its_name_that_people_say():
    models = ("openai:llava@http://host/v1", "hf:org/model", "predictions:out/mine.json", "pkg.mod:Cls", "film")
    made = study(*(log(right(5), model=m) for m in models))
    assert made.contenders == ("llava", "model", "mine.json", "pkg.mod:Cls", "film")


def test_tests_are_called_by_variant_then_folder_and_told_apart_by_split_then_parent():
    made = study(
        log(right(5), data="a/clevr", split="val"),
        log(right(5), data="a/clevr", split="test"),
        log(right(5), data="b/clevr", split="test"),
        log(right(5), data="x", variant="hard", split="test"),
    )
    assert made.tests == ("clevr val", "clevr test (a)", "clevr test (b)", "hard")


def test_two_runs_of_one_model_on_one_test_are_told_apart():
    made = study(log(right(5), seed=0), log(right(6), seed=1), log(right(7), seed=1))
    assert made.contenders == ("toy, seed 0", "toy, seed 1, run 2", "toy, seed 1, run 3")


def test_models_trained_on_several_variants_are_compared_at_home():
    made = study(
        *(log(right(5), trained_on=i, variant=j) for i in ("easy", "hard") for j in ("easy", "hard")),
        log(right(5), model="llava", variant="hard"),
    )
    assert names(made) == [
        ("toy", "easy"), ("toy (easy)", "hard"), ("toy (hard)", "easy"), ("toy", "hard"), ("llava", "hard"),
    ]  # fmt: skip
    assert names(made.select_in_domain()) == [("toy", "easy"), ("toy", "hard"), ("llava", "hard")]


def test_reference_points_come_last_and_are_ranked_only_among_themselves():
    made = study(log(right(5), model="oracle"), log(right(5), model="majority"), log(right(5), model="film"))
    assert made.contenders == ("film", "oracle", "majority")
    assert [r.model for r in select_ranked(made.runs)] == ["film"]
    assert [r.model for r in select_ranked(made.runs[:2])] == ["majority"]


def test_a_folder_given_twice_or_not_a_run_is_refused(refuses, tmp_path):
    with refuses("is given twice"):
        read_runs([tmp_path, tmp_path / "."])
    with refuses("not the folder of a run"):
        read_runs([tmp_path])
    with refuses("give the folder of at least one run"):
        read_runs([])


def twins_of(questions, prefix="hard"):
    return [asked(f"{prefix} {q.question}", q.truth, q.scenes[0], q.question, **dict(q.facts)) for q in questions]


def test_twins_in_two_runs_give_a_paired_drop():
    made = study(log(right(8), variant="base"), log(right(5, twins_of(TEN)), variant="hard"))
    (found,) = find_twin_runs(made)
    assert (found.base.test, found.shifted.test) == ("base", "hard")
    drop = found.measure_drop()
    assert (drop.n, drop.only_first, drop.only_second, drop.drop) == (10, 3, 0, 0.3)
    assert [TEN[k].question for k in found.base_rows[found.find_failing()]] == ["q5", "q6", "q7"]


def test_twins_that_keep_their_originals_names_pair_with_the_originals_only():
    same = [asked(q.question, q.truth, twin=q.question) for q in TEN]
    made = study(
        log(right(8), variant="base"), log(right(5, same), variant="hard"), log(right(4, same), variant="harder")
    )
    assert [(t.base.test, t.shifted.test) for t in find_twin_runs(made)] == [("base", "hard"), ("base", "harder")]


def test_a_base_may_be_a_twin_itself():
    harder = twins_of(TEN)
    hardest = twins_of(harder, "short")
    made = study(
        log(right(8), variant="base"),
        log(right(5, harder), variant="hard"),
        log(right(4, hardest), variant="rd-"),
        log(right(4, [asked(f"{q.question} long") for q in TEN]), variant="long"),
    )
    pairs = [(t.base.test, t.shifted.test, len(t.base_rows)) for t in find_twin_runs(made)]
    assert pairs == [("base", "hard", 10), ("hard", "rd-", 10)]


def test_twins_of_another_training_are_not_paired():
    made = study(
        log(right(8), variant="base", trained_on="base"),
        log(right(5, twins_of(TEN)), variant="hard", trained_on="hard"),
    )
    assert find_twin_runs(made) == ()


def test_twins_are_not_paired_with_equal_names_of_other_data():
    with_twins = [*TEN, *twins_of(TEN)]
    made = study(log(right(15, with_twins), data="a", data_id="x"), log(right(5), data="b", data_id="y"))
    assert [(t.base.test, t.shifted.test) for t in find_twin_runs(made)] == [("a", "a")]


def test_pooled_rows_keep_their_answers_and_know_their_test():
    made = study(
        log(right(8), variant="a"), log(right(5, [asked(f"p{k}", "3", color="red") for k in range(6)]), variant="b")
    )
    one = pool_runs(made.select_contender("toy"))
    assert accuracy.measure(one.records)[0].value == 13 / 16
    facts = dict(one.records.facts)
    assert facts["test"].to_list() == ["a"] * 10 + ["b"] * 6
    assert facts["kind"].to_list()[9:11] == ["count", None]
    assert facts["color"].to_list()[9:11] == [None, "red"]
    assert np.array_equal(one.records.right[:10], made.runs[0].records.right)


def test_a_step_that_left_out_gives_the_wrong_answer_is_named():
    program = parse_program("count(filter(filter(scene(), color=red), shape=sphere))")
    world = ExecutionWorld((THREE_AND_ONE,))
    said = {
        answer: [program.nodes[i].params for i in find_decisive_steps(program, world, answer)] for answer in (1, 2, 4)
    }
    assert said == {1: [], 2: [("color", "red"), ("shape", "sphere")], 4: []}


def test_a_reference_left_ill_founded_gives_no_answer():
    program = parse_program("query(unique(filter(scene(), shape=cube)), color)")
    assert find_decisive_steps(program, ExecutionWorld((THREE_AND_ONE,)), "red") == ()


def dataset(folder):
    """A toy dataset and the id of its content."""
    made = build_dataset(folder, store_toys.SPEC, {"test": 1}, store_toys.make)
    return made.folder, data_id(made)


def test_a_dataset_is_taken_only_where_its_content_is_what_was_asked_about(tmp_path, refuses):
    here, content = dataset(tmp_path / "here")
    same = log(right(5), data="gone", data_id=content)
    other = log(right(5), data=str(here), data_id="other")
    assert study(same).runs[0].data is None
    assert study(other).runs[0].data is None
    assert study(log(right(5), data=str(here), data_id=content)).runs[0].data == here
    assert [r.data for r in study(same, other, data=here).runs] == [here, None]
    with refuses("another dataset than the one that the runs are about"):
        study(other, data=here)
    assert "Images left out" in body("method", study(other))


def test_equal_names_pair_and_scenes_merge_only_within_the_same_data():
    here, moved, other = (
        pool_runs([study(log(right(5), data=path, data_id=i)).runs[0]]).records
        for path, i in (("a/clevr", "x"), ("b/moved", "x"), ("a/clevr", "y"))
    )
    assert compare_models(here, moved).n == 10
    assert compare_models(here, other).n == 0
    one = [asked(f"q{k}", "yes", "scene") for k in range(4)]
    both = study(log(right(2, one), data_id="x"), log(right(2, one), data_id="y"))
    assert len(pool_runs(both.select_contender("toy")).records.cluster.values) == 2


def test_the_same_data_has_one_name_wherever_it_stood_and_others_never_share_it():
    made = study(*(log(right(5), data=path, data_id=i) for path, i in (("a/c", "x"), ("b/d", "x"))))
    assert made.tests == ("c",)
    made = study(*(log(right(5), data="a/c", data_id=i) for i in ("x", "y")))
    assert made.tests == ("c (a) [x]", "c (a) [y]")


def test_a_run_asked_only_blind_is_refused_by_the_name_of_its_condition(refuses):
    with refuses("has only questions under blind"):
        study(log([(q, ("yes", "blind")) for q in TEN]))


def test_seeds_of_one_model_are_one_contender_with_an_interval_over_seeds():
    made = study(*(log(right(n), seed=n) for n in (5, 6, 7)), log(right(9), model="film"))
    assert made.contenders == ("toy", "film")
    (run,) = made.select_contender("toy")
    score = accuracy_of(run)
    singles = [accuracy.measure(one.records)[0] for one in run.seeds]
    assert (score.value, score.low) == (average_seeds(singles).value, average_seeds(singles).low)
    assert len(pool_runs([run]).records) == 30
    assert compare_models(pool_runs([run]).records, pool_runs(made.select_contender("film")).records).n == 0
    assert "the mean of 3 seeds" in body("headline", made)


def test_an_endpoint_model_called_oracle_is_no_reference_point():
    made = study(log(right(5), model="openai:oracle@http://host/v1"), log(right(5), model="oracle", data="b"))
    assert [r.is_reference for r in made.runs] == [False, True]
