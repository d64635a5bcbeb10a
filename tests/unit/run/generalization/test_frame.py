"""The frame of tests: it goes on where it stopped, keeps to one order, and says where a test does not apply."""

import json
import shutil
from types import SimpleNamespace

import pytest

from covr_toys import asked, dataset, questions_of, scenes_of
from graphs import graph
from shiftscope.model import Response
from shiftscope.run import cluster_replicas as asking
from shiftscope.run import evaluate as evaluating
from shiftscope.run.evaluate import RunSpec
from shiftscope.run.generalization import SourceSplit, compositional, contrast, segment_combine
from shiftscope.run.test import test as take_test
from shiftscope.run.test import write_test_set
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import compute_run_content_id, read_rows, read_run

SCENES = scenes_of(20)


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    made = {"train": questions_of(20, SCENES, "train"), "test": questions_of(60, SCENES)}
    return dataset(tmp_path_factory.mktemp("covr") / "data", made, SCENES).folder


def test_a_stopped_test_goes_on_where_it_stopped(toys, tmp_path, monkeypatch):
    whole = take_test("contrast", RunSpec("oracle", toys), tmp_path / "whole")
    monkeypatch.setattr(evaluating, "BATCH", 8)
    monkeypatch.setattr(evaluating, "KEPT_ROWS", 8)
    asked_for = []
    real = asking.predict_checked

    def interrupted(model, prompts, name):
        if len(asked_for) == 3:
            raise KeyboardInterrupt
        asked_for.append(len(prompts))
        return real(model, prompts, name)

    monkeypatch.setattr(asking, "predict_checked", interrupted)
    with pytest.raises(KeyboardInterrupt):
        take_test("contrast", RunSpec("oracle", toys), tmp_path / "cut")
    assert not (tmp_path / "cut/result.json").exists()
    assert len(list(read_rows(tmp_path / "cut/runs/contrast"))) == 24
    counted = []
    monkeypatch.setattr(asking, "predict_checked", lambda m, p, n: counted.append(len(p)) or real(m, p, n))
    again = take_test("contrast", RunSpec("oracle", toys), tmp_path / "cut")
    assert sum(counted) == whole.asked - 24
    assert again.lines == whole.lines
    assert compute_run_content_id(tmp_path / "cut/runs/contrast") == compute_run_content_id(
        tmp_path / "whole/runs/contrast"
    )


def test_a_finished_test_asks_nothing_again(toys, tmp_path, monkeypatch):
    first = take_test("segment_combine", RunSpec("oracle", toys), tmp_path / "out")
    before = (tmp_path / "out/result.json").read_bytes()
    monkeypatch.setattr(asking, "predict_checked", lambda *a: pytest.fail("asked again"))
    assert take_test("segment_combine", RunSpec("oracle", toys), tmp_path / "out").lines == first.lines
    assert (tmp_path / "out/result.json").read_bytes() == before


def test_a_folder_keeps_to_one_test_and_one_model(toys, tmp_path, refuses):
    take_test("contrast", RunSpec("oracle", toys, limit=5), tmp_path / "out")
    with refuses("holds the questions of another test"):
        take_test("contrast", RunSpec("oracle", toys, limit=6), tmp_path / "out")
    with refuses("holds a run with another spec"):
        take_test("contrast", RunSpec("majority", toys, limit=5), tmp_path / "out")
    with refuses("holds another test (contrast)"):
        take_test("segment_combine", RunSpec("oracle", toys, limit=5), tmp_path / "out")


def test_a_folder_of_something_else_is_refused(toys, tmp_path, refuses):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("x")
    with refuses("thesis.txt is in it"):
        take_test("contrast", RunSpec("oracle", toys), tmp_path / "mine")
    with refuses("is a file"):
        take_test("contrast", RunSpec("oracle", toys), tmp_path / "mine/thesis.txt")


@pytest.mark.parametrize("name", ["segment_combine", "contrast"])
def test_where_a_test_does_not_apply_one_sentence_says_so(name, tmp_path, refuses):
    scenes = {s.id: s for s in (graph("a", "cat"), graph("b", "dog"))}
    one = asked("q", "How many dogs are there?", "count(find(dog))", scenes, ("a", "b"))
    data = dataset(tmp_path / "data", {"test": [one]}, scenes, 1).folder
    with refuses("does not apply to"):
        take_test(name, RunSpec("oracle", data), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("module", [segment_combine, contrast])
def test_an_audit_has_no_programs_to_make_a_test_from(module):
    audit = SimpleNamespace(folder="vqa", is_dataset=False)
    assert "does not apply to vqa, an audit: it needs questions" in module.plan(audit, module.OPTIONS()).why_not


def test_an_unknown_test_or_split_is_named(toys, tmp_path, refuses):
    with refuses("no test 'contrst'; did you mean 'contrast'?"):
        take_test("contrst", RunSpec("oracle", toys), tmp_path / "out")
    with refuses("no split 'tset'"):
        take_test("contrast", RunSpec("oracle", toys, "tset"), tmp_path / "out")


def test_the_result_says_what_was_left_out_and_where_the_runs_are(toys, tmp_path):
    take_test("contrast", RunSpec("majority", toys), tmp_path / "out")
    stored = json.loads((tmp_path / "out/result.json").read_text())
    assert stored["test"] == "contrast"
    assert stored["model"] == "majority"
    assert stored["considered"] == 60
    assert sum(stored["left_out"].values()) > 0
    assert [read_run(tmp_path / "out/runs" / run.split("/")[-1]).questions for run in stored["runs"]] == [
        stored["asked"]
    ]
    line = stored["lines"][1]
    assert line["of"]["change"] == "at least → no less than"
    assert 0 <= line["scores"]["accuracy"]["value"] <= 100


def test_built_in_models_learn_from_the_data_and_not_from_the_test(toys, tmp_path):
    take_test("contrast", RunSpec("majority", toys), tmp_path / "out")
    spec = dict(read_run(tmp_path / "out/runs/contrast").spec)
    assert spec["learned_from"] == SourceSplit(toys).source.data_id() != spec["data_id"]


def test_an_exam_holds_its_questions_with_their_images(toys, tmp_path):
    test = list(SourceSplit(toys).questions())
    write_test_set(tmp_path / "some", toys, test[:4], {"test": "some"})
    made = Dataset.open(tmp_path / "some")
    assert made.splits == ("test",)
    assert {q.id for q in made.questions("test")} == {q.id for q in test[:4]}
    for example in made.examples():
        assert [i.id for i in example.images] == list(example.question.scenes)
    held = [s.images.digest for s in made.shards() if s.images]
    assert len(held) == len(set(held))


def test_a_folder_of_a_test_without_data_of_its_own_is_of_that_test_too(toys, tmp_path, refuses):
    options = compositional.CompositionalOptions(hold_out="has_quant")
    take_test("compositional", RunSpec("majority", toys), tmp_path / "out", options)
    with refuses("holds another test (compositional)"):
        take_test("contrast", RunSpec("majority", toys, limit=5), tmp_path / "out")
    (tmp_path / "out/result.json").unlink()  # as if it had been stopped
    with refuses("holds another test's run (held_out)"):
        take_test("contrast", RunSpec("majority", toys, limit=5), tmp_path / "out")


def test_what_a_model_was_trained_on_is_said_only_of_one_that_learns_here(toys, tmp_path):
    options = compositional.CompositionalOptions(hold_out="has_quant", text="majority")
    said = []
    take_test("compositional", RunSpec("bird_toys:Reader", toys), tmp_path / "a", options, warn=said.append)
    assert dict(read_run(tmp_path / "a/runs/held_out").spec)["trained_on"] == "train_zero_shot"
    assert said == []
    replies = {q.id: "yes" for q in SourceSplit(toys).questions()}
    (tmp_path / "said.json").write_text(json.dumps(replies))
    given = f"predictions:{tmp_path / 'said.json'}"
    take_test("compositional", RunSpec(given, toys), tmp_path / "b", options, warn=said.append)
    assert "trained_on" not in dict(read_run(tmp_path / "b/runs/held_out").spec)
    assert dict(read_run(tmp_path / "b/runs/text_only").spec)["trained_on"] == "train_text_only"
    assert said == [f"{given} does not learn here, and so not from train_zero_shot: it is asked as it was trained"]
    take_test("compositional", RunSpec("oracle", toys), tmp_path / "c", options)
    assert "trained_on" not in dict(read_run(tmp_path / "c/runs/held_out").spec)


def test_what_weights_say_they_were_trained_on_is_not_overwritten(toys, refuses, monkeypatch):
    said = {"weights": "w", "trained_on": "superclevr"}
    weights = SimpleNamespace(describe_weights=lambda: said, find_relation=lambda positions: None)
    monkeypatch.setattr("shiftscope.models.nsvqa.neuro_symbolic.find_trained_model", lambda *of: weights)
    source = SourceSplit(toys).source
    assert RunSpec("p_nsvqa", toys).spec(source)["trained_on"] == "superclevr"
    with refuses("was trained on superclevr, as its weights say; not on train_zero_shot"):
        RunSpec("p_nsvqa", toys, trained_on="train_zero_shot").spec(source)


@pytest.mark.parametrize(
    ("model", "sentence"), [("majorty", "did you mean 'majority'"), ("predictions:gone.json", "there is no gone.json")]
)
def test_a_model_that_is_none_is_refused_before_any_exam(toys, tmp_path, refuses, model, sentence):
    options = compositional.CompositionalOptions(hold_out="has_quant", text=model)
    with refuses(sentence):
        take_test("compositional", RunSpec("oracle", toys), tmp_path / "out", options)
    assert not (tmp_path / "out").exists()


def test_the_questions_can_be_asked_elsewhere_and_come_back_as_a_file(toys, tmp_path):
    take_test("contrast", RunSpec("majority", toys), tmp_path / "first")
    said = {q.id: q.answer for q in Dataset.open(tmp_path / "first/data/contrast").questions()}
    (tmp_path / "said.json").write_text(json.dumps(said))
    made = take_test("contrast", RunSpec(f"predictions:{tmp_path / 'said.json'}", toys), tmp_path / "second")
    assert {s.value for line in made.lines for s in line.scores if s.metric == "accuracy"} == {1}
    shutil.rmtree(tmp_path / "first")


def test_replies_that_failed_count_as_wrong_and_are_told(toys, tmp_path, monkeypatch):
    real = asking.predict_checked

    def failing(model, prompts, name):
        made = real(model, prompts, name)
        bad = ["less_than" in p.question.id for p in prompts]
        return [Response(status="failed", reason="down") if b else r for b, r in zip(bad, made, strict=True)]

    monkeypatch.setattr(asking, "predict_checked", failing)
    made = take_test("contrast", RunSpec("oracle", toys), tmp_path / "out")
    by = {dict(line.of)["change"]: {s.metric: s for s in line.scores} for line in made.lines}
    score = by["at least → less than"]["accuracy"]
    assert score.value == 0
    assert score.n == score.failed > 0


def test_questions_that_were_damaged_are_written_again(toys, tmp_path):
    """`shiftscope test` has no --repair: the same command does it."""
    take_test("contrast", RunSpec("oracle", toys), tmp_path / "out")
    result = (tmp_path / "out" / "result.json").read_bytes()
    path = min((tmp_path / "out" / "data" / "contrast" / "questions" / "test").glob("*.parquet"))
    whole = path.read_bytes()
    for damage in (b"", whole[:-1] + b"x"):
        path.write_bytes(damage)
        shutil.rmtree(tmp_path / "out" / "runs")
        take_test("contrast", RunSpec("oracle", toys), tmp_path / "out")
        assert path.read_bytes() == whole
        assert (tmp_path / "out" / "result.json").read_bytes() == result
