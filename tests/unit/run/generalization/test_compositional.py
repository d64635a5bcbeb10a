"""Compositional: the parts that are asked and learned from, and figures of toys whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

import several_toys
from shiftscope.errors import UserError
from shiftscope.metrics import accuracy, load_metric
from shiftscope.metrics.generalization_score import measure_runs
from shiftscope.result import Prediction, QuestionRecord, records_of
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.generalization import measure_gap
from shiftscope.run.generalization.compositional import CompositionalOptions
from shiftscope.run.score import compare_runs
from shiftscope.run.split import SplitQuestions, split
from shiftscope.run.split import SplitSpec as SplitOrder
from shiftscope.run.test import test as take_test
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.question_part import read_part
from shiftscope.store.run_log import read_run

COUNTS = "has_count"
SCORE = load_metric("generalization_score")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return several_toys.dataset(tmp_path_factory.mktemp("several") / "data", shards=4).folder


@pytest.fixture(scope="module")
def lists(data):
    """What `shiftscope split` makes."""
    folder = data.parent / "lists"
    split(SplitOrder(COUNTS), SplitQuestions((str(data),)), folder)
    return folder


def figures(outcome, part):
    line = next(one for one in outcome.lines if dict(one.of)["questions"] == part)
    return {s.metric: s for s in line.scores}


def templates(run):
    return set(read_run(run).records.column("template").to_list())


def test_the_oracle_generalises_wholly(data, tmp_path):
    options = CompositionalOptions(hold_out=COUNTS, text="majority", upper="oracle")
    made = take_test("compositional", RunSpec("oracle", data), tmp_path, options)
    held, rest = figures(made, "held out"), figures(made, "in domain")
    assert held["accuracy"].value == rest["accuracy"].value == held["generalization_score"].value == 1
    assert held["gap"].value == 0
    assert held["gap"].low < -0.3  # few images, however sure they look
    assert held["accuracy"].n + rest["accuracy"].n == made.plan.considered
    assert made.asked == 3 * held["accuracy"].n + rest["accuracy"].n
    assert dict(made.lines[0].of)["split"] == COUNTS


def test_what_is_held_out_is_asked_and_not_learned_from(data, tmp_path):
    made = take_test(
        "compositional", RunSpec("majority", data), tmp_path, CompositionalOptions(hold_out=COUNTS, upper="same")
    )
    held, rest, upper = made.runs
    assert templates(held) == templates(upper) == {"count", "count_group_by"}
    assert templates(rest) == {"choose_attr", "verify_quant"}
    assert set(read_run(held).records.literal.to_list()) == {"no"}  # learned without a single number
    assert figures(made, "held out")["accuracy"].value == 0
    assert dict(read_run(upper).spec)["learned_part"]["name"] == f"{COUNTS}:train_iid_size"
    sizes = [dict(read_run(run).spec)["learned_part"]["questions"] for run in (held, upper)]
    assert sizes[0] == sizes[1]


def test_a_folder_of_lists_gives_what_its_expression_gives(data, lists, tmp_path):
    order = RunSpec("majority_per_template", data)
    by = [
        take_test("compositional", order, tmp_path / name, options)
        for name, options in (
            ("lists", CompositionalOptions(split=str(lists), text="majority", upper="same")),
            ("words", CompositionalOptions(hold_out=COUNTS, text="majority", upper="same")),
        )
    ]
    assert by[0].lines == by[1].lines


def test_runs_that_are_there_are_compared_on_the_questions_that_are_held_out(data, tmp_path):
    runs = {}
    for model in ("majority", "oracle", "random"):
        evaluate(RunSpec(model, data), tmp_path / model)
        runs[model] = read_run(tmp_path / model).records
    options = CompositionalOptions(hold_out=COUNTS, text=str(tmp_path / "majority"), upper=str(tmp_path / "oracle"))
    made = take_test("compositional", RunSpec("random", data), tmp_path / "out", options)
    held = figures(made, "held out")
    asked = set(read_run(made.runs[0]).records.question.to_list())
    few = {name: r.take(np.array([q in asked for q in r.question.to_list()])) for name, r in runs.items()}
    assert held["generalization_score"] == measure_runs(few["random"], few["majority"], few["oracle"])
    assert held["generalization_score"].missing == 0
    assert len(made.runs) == 2  # nothing else was asked


def test_a_few_questions_are_a_few_of_each(data, tmp_path):
    made = take_test("compositional", RunSpec("oracle", data, limit=3), tmp_path, CompositionalOptions(hold_out=COUNTS))
    assert [figures(made, part)["accuracy"].n for part in ("held out", "in domain")] == [3, 3]
    assert dict(made.plan.left_out) == {"more than --limit": made.plan.considered - 6}
    assert set(figures(made, "held out")) == {"accuracy", "gap"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (CompositionalOptions(), "one of --from-split, --name and --hold-out"),
        (CompositionalOptions(hold_out=COUNTS, name="has_count"), "one of --from-split"),
        (CompositionalOptions(hold_out="has_cuont"), "has_cuont"),
        (CompositionalOptions(name="has_quant_compscope"), "has_quant_compscope"),
    ],
)
def test_what_says_nothing_to_hold_out_is_refused(data, tmp_path, options, said):
    with pytest.raises(UserError, match=said):
        take_test("compositional", RunSpec("oracle", data), tmp_path, options)


def test_lists_of_another_dataset_and_runs_of_other_questions_are_refused(data, lists, tmp_path):
    other = several_toys.dataset(tmp_path / "other", shards=2).folder
    with pytest.raises(UserError, match="is of another dataset"):
        take_test("compositional", RunSpec("oracle", other), tmp_path / "out", CompositionalOptions(split=str(lists)))
    evaluate(RunSpec("oracle", data, limit=1, split="train"), tmp_path / "run")
    options = CompositionalOptions(hold_out=COUNTS, upper=str(tmp_path / "run"))
    with pytest.raises(UserError, match="of the split 'train', not of 'test'"):
        take_test("compositional", RunSpec("oracle", data), tmp_path / "out", options)
    evaluate(RunSpec("oracle", data, limit=10), tmp_path / "few")
    options = CompositionalOptions(hold_out=COUNTS, upper=str(tmp_path / "few"))
    with pytest.raises(UserError, match=r"was asked \d+ of the \d+ questions that are held out"):
        take_test("compositional", RunSpec("oracle", data), tmp_path / "out", options)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def twin(data):
    """A dataset of the same ids, and a run on it."""
    made = build_dataset(data.parent / "twin", several_toys.SPEC, {"train": 4, "test": 4}, _painted).folder
    evaluate(RunSpec("majority", made), data.parent / "twin run")
    return data.parent / "twin run"


def _painted(spec, split, k):
    images, questions = several_toys.make(spec, split, k)
    return images, [replace(q, text=q.text.replace("cube", "block")) for q in questions]


def test_runs_on_another_dataset_of_the_same_ids_are_refused(data, twin, tmp_path):
    ids = [set(read_run(run).records.question.to_list()) for run in (twin,)]
    evaluate(RunSpec("majority", data), tmp_path / "model")
    assert ids[0] == set(read_run(tmp_path / "model").records.question.to_list())
    with pytest.raises(UserError, match="is of another dataset"):
        options = CompositionalOptions(hold_out=COUNTS, text=str(twin))
        take_test("compositional", RunSpec("oracle", data), tmp_path / "out", options)
    with pytest.raises(UserError, match=f"compares runs of the same questions, .* {twin} is of another dataset"):
        compare_runs(SCORE, [tmp_path / "model", twin, tmp_path / "model"])
    evaluate(RunSpec("majority", data, split="train"), tmp_path / "train")
    with pytest.raises(UserError, match="is of the split 'train', not of 'test'"):
        compare_runs(SCORE, [tmp_path / "model", tmp_path / "model", tmp_path / "train"])


def test_runs_on_two_parts_are_not_of_the_same_questions(lists, data, tmp_path):
    for name in ("test_comp", "test_iid"):
        evaluate(RunSpec("majority", data, part=read_part(f"{lists}:{name}")), tmp_path / name)
    evaluate(RunSpec("majority", data), tmp_path / "all")
    with pytest.raises(UserError, match="is of the part has_count:test_iid, not of has_count:test_comp"):
        compare_runs(SCORE, [tmp_path / "test_comp", tmp_path / "test_iid", tmp_path / "test_comp"])
    (score,) = compare_runs(SCORE, [tmp_path / "test_comp", tmp_path / "all", tmp_path / "all"])
    assert score.n == len(read_part(f"{lists}:test_comp").ids)


def test_the_model_itself_is_text_only_without_the_images(data, tmp_path):
    options = CompositionalOptions(hold_out=COUNTS, text="same", upper="oracle")
    made = take_test("compositional", RunSpec("majority", data), tmp_path / "out", options)
    blind = read_run(tmp_path / "out/runs/text_only")
    assert set(blind.records.condition.to_list()) == {"blind"}
    assert dict(blind.spec)["learned_part"]["name"] == f"{COUNTS}:train_text_only"
    assert figures(made, "held out")["text_only"].value == accuracy.measure(blind.records)[0].value > 0
    assert figures(made, "held out")["generalization_score"].value < 0
    assert tmp_path / "out/runs/text_only" not in made.shown  # a report compares what is asked as it is
    with pytest.raises(UserError, match="oracle cannot be asked without images, so it is no text-only model"):
        take_test("compositional", RunSpec("oracle", data), tmp_path / "other", options)
    assert not (tmp_path / "other").exists()


def test_a_text_only_run_may_be_one_without_images(data, tmp_path):
    for name, conditions in (("blind", ("blind",)), ("both", ("as_is", "blind"))):
        evaluate(RunSpec("question_only", data, conditions=conditions), tmp_path / name)
        options = CompositionalOptions(hold_out=COUNTS, text=str(tmp_path / name), upper="oracle")
        held = figures(
            take_test("compositional", RunSpec("majority", data), tmp_path / f"{name} out", options), "held out"
        )
        rows = read_run(tmp_path / name).records.filter_condition("blind")
        asked = {q for q in rows.question.to_list() if "-count" in q}
        few = rows.take(np.array([q in asked for q in rows.question.to_list()]))
        assert held["text_only"].n == held["accuracy"].n
        assert held["text_only"].value == accuracy.measure(few)[0].value
    options = CompositionalOptions(hold_out=COUNTS, upper=str(tmp_path / "blind"))
    with pytest.raises(UserError, match="was asked 0 of the"):
        take_test("compositional", RunSpec("majority", data), tmp_path / "no", options)
    with pytest.raises(UserError, match=r"needs the condition as_is, under which .*blind was not run"):
        compare_runs(SCORE, [tmp_path / "blind", tmp_path / "both", tmp_path / "both"])


# --- intervals ----------------------------------------------------------------------------------------------


def rows(right, wrong, prefix="q"):
    said = ["yes"] * right + ["no"] * wrong
    return records_of(
        (QuestionRecord(f"{prefix}{k}", (f"{prefix}{k}",), "yes"), Prediction(f"{prefix}{k}", a))
        for k, a in enumerate(said)
    )


def test_a_side_that_is_unanimous_is_not_taken_for_certain():
    """All 20 wrong still allow for 14.6% right."""
    made = measure_gap("gap", rows(290, 710, "r"), rows(0, 20))
    assert made.value == pytest.approx(0.29)
    assert made.low == pytest.approx(0.29 - np.hypot(0.146, 0.028), abs=0.003)
    assert made.high == pytest.approx(0.29 + 0.028, abs=0.003)
    turned = measure_gap("gap", rows(0, 20), rows(290, 710, "r"))
    assert (turned.low, turned.high) == pytest.approx((-made.high, -made.low), abs=1e-3)
    both = measure_gap("gap", rows(20, 0), rows(20, 0, "r"))
    assert (both.value, both.low, both.high) == (0, pytest.approx(-0.144, abs=0.001), pytest.approx(0.144, abs=0.001))
    one = measure_gap("gap", rows(1, 0), rows(3, 7, "r"))  # one image tells nothing
    assert one.low < -0.2
    assert one.high > 0.85


def test_a_score_has_an_interval_only_where_there_surely_is_a_gap_to_close():
    text, upper = rows(100, 100), rows(150, 50)
    made = measure_runs(rows(120, 80), text, upper)
    assert made.value == pytest.approx(0.4)
    assert made.low < 0.3 < 0.5 < made.high
    same = measure_runs(text, text, upper)
    assert (same.value, same.low) == (0, None)  # a point is no interval
    few = measure_runs(rows(7, 5), rows(6, 6), rows(8, 4))
    assert (few.value, few.low) == (pytest.approx(0.5), None)  # many replicates have no gap
    sure = measure_runs(rows(0, 12), rows(0, 12), rows(12, 0))
    assert sure.value == 0
    assert sure.low < -0.1 < 0.1 < sure.high  # as 12 questions allow
