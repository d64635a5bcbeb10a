"""`shiftscope run` as a user meets it: built-in models, files of predictions, classes, stops and refusals."""

import json
from pathlib import Path

import pytest

from asked import dataset
from command import here, shiftscope
from shiftscope.cli.run import command
from shiftscope.model import Response
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.store.run_log import compute_run_content_id, read_rows, read_run


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("run") / "data").folder


def run(capsys, **options):
    """The summary by condition, from the verb itself."""
    command(as_json=True, **{"split": "test", **options})
    return {c["condition"]: c for c in json.loads(capsys.readouterr().out)["conditions"]}


def test_from_a_shell(data, tmp_path):
    made = shiftscope("run", "--model", "oracle", "--data", data, "--out", tmp_path / "run")
    assert made.returncode == 0, made.stderr
    assert "100.0" in made.stdout
    assert f"next: shiftscope score {tmp_path / 'run'}" in made.stdout
    refused = here("run", "--model", "orcale", "--data", data, "--out", tmp_path / "other")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "shiftscope: no model 'orcale'; did you mean 'oracle'? (shiftscope list models)\n"
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("model", "right"),
    [("oracle", 100.0), ("majority", 33.33), ("majority_per_template", 33.33), ("question_only", 83.33)],
)
def test_reference_points(model, right, data, tmp_path, capsys):
    summary = run(capsys, model=model, data=data, out=tmp_path / "run")["as_is"]
    assert (summary["replies"], summary["accuracy"]) == (36, right)


def test_conditions_take_away_what_they_say(data, tmp_path, capsys):
    summary = run(capsys, model="oracle", data=data, out=tmp_path / "run", condition=["all"])
    assert {c: s["accuracy"] for c, s in summary.items()}["scene_text"] == 100.0
    assert (summary["blind"]["undefined"], summary["blind"]["answered"]) == (36, 0)
    assert summary["as_is"]["accuracy"] == summary["program_text"]["accuracy"] == 100.0
    # Half of the images hold two cubes and half three; half the split further on stands the same number.
    assert summary["other_image"]["accuracy"] == 100.0


def test_a_run_goes_on_where_it_stopped(data, tmp_path):
    class Stops:
        batch = 5

        def __init__(self, after):
            self.left, self.asked = after, []

        def predict(self, batch):
            if self.left < len(batch):
                raise KeyboardInterrupt
            self.left -= len(batch)
            self.asked += [p.question.id for p in batch]
            return [Response(raw="2") for _ in batch]

    import shiftscope.model as module

    whole, first, second = Stops(99), Stops(12), Stops(99)
    build = module.build_model
    try:
        order = RunSpec("oracle", data)
        module.build_model = lambda text, setting: whole
        evaluate(order, tmp_path / "whole")
        module.build_model = lambda text, setting: first
        with pytest.raises(KeyboardInterrupt):
            evaluate(order, tmp_path / "run")
        assert not read_run(tmp_path / "run").finished
        module.build_model = lambda text, setting: second
        evaluate(order, tmp_path / "run")
    finally:
        module.build_model = build
    assert first.asked + second.asked == whole.asked
    assert len(first.asked) == 10
    assert compute_run_content_id(tmp_path / "run") == compute_run_content_id(tmp_path / "whole")


def test_a_folder_keeps_to_one_spec(data, tmp_path, refuses):
    evaluate(RunSpec("oracle", data), tmp_path / "run")
    with refuses('holds a run with another spec (model "oracle" there, "majority" here'):
        evaluate(RunSpec("majority", data), tmp_path / "run")


def test_limits(data, tmp_path):
    assert len(evaluate(RunSpec("oracle", data, limit=4), tmp_path / "run").records) == 4


def test_replies_of_ones_own_are_read_and_kept_raw(data, tmp_path, monkeypatch, capsys):
    (tmp_path / "talker_for_test.py").write_text(
        "class Talker:\n"
        "    said = {'How': 'Let me see. There are two cubes.', 'Is': 'I notice it.', 'What': '**Grey**'}\n"
        "    def predict(self, batch):\n"
        "        return [self.said[p.question.text.split()[0]] for p in batch]\n"
    )
    monkeypatch.chdir(tmp_path)
    summary = run(capsys, model="talker_for_test:Talker", data=data, out=tmp_path / "run", limit=3)["as_is"]
    assert (summary["answered"], summary["unreadable"], summary["accuracy"]) == (2, 1, 66.67)
    rows = [(p.raw, p.answer, p.status) for _, p in read_rows(tmp_path / "run")]
    assert rows == [
        ("Let me see. There are two cubes.", 2, "answered"),
        ("I notice it.", None, "unreadable"),
        ("**Grey**", "gray", "answered"),
    ]


def test_predictions_in_a_file(data, tmp_path, capsys):
    said = [{"question": f"toy_test_000000-{k}", "answer": a} for k, a in enumerate(("2", "yes", "Gray."))]
    (tmp_path / "said.json").write_text(json.dumps(said))
    summary = run(capsys, model=f"predictions:{tmp_path / 'said.json'}", data=data, out=tmp_path / "run")["as_is"]
    assert (summary["questions"], summary["replies"], summary["accuracy"]) == (36, 3, 8.33)
    assert (summary["missing"], summary["share_answered"]) == (33, 8.33)


def test_ids_of_no_question_are_told(data, tmp_path, capsys):
    (tmp_path / "said.json").write_text('{"toy_test_000000-0": "2", "typo": "3"}')
    command(model=f"predictions:{tmp_path / 'said.json'}", data=data, out=tmp_path / "run", limit=1)
    said = capsys.readouterr()
    assert "shiftscope: 1 of the 2 ids in" in said.err
    assert "belong to no question of split 'test' of" in said.err


def test_predictions_for_other_data(data, tmp_path, refuses):
    (tmp_path / "said.json").write_text('[{"question_id": 999999, "answer": "2"}]')
    with refuses("answers none of the 36 questions of split 'test'"):
        evaluate(RunSpec(f"predictions:{tmp_path / 'said.json'}", data), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_split_that_is_not_there(data, tmp_path, refuses):
    with refuses("no split 'tset' in"):
        evaluate(RunSpec("oracle", data, split="tset"), tmp_path / "run")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"price": "1"}, "'1' is not a price; write two numbers as in 0.15,0.60"),
        ({"price": "nan,1"}, "'nan,1' is not a price"),
        ({"price": "1,inf"}, "'1,inf' is not a price"),
        ({"price": "-1,1"}, "'-1,1' is not a price"),
        ({"parameters": "[1]"}, "--parameters must be a JSON object"),
        ({"parameters": '{"top_p": NaN}'}, "--parameters must be a JSON object"),
        ({"parameters": '{"top_p": 1e999}'}, "--parameters must be a JSON object"),
        ({"temperature": float("nan")}, "--temperature must be a finite number"),
        ({"condition": [""]}, "no condition is named"),
        ({"mode": "shrt"}, "no mode 'shrt'; did you mean 'short'?"),
    ],
)
def test_bad_options(options, sentence, data, tmp_path, refuses):
    with refuses(sentence):
        command(model="oracle", data=data, out=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_the_data_is_not_written_to(data, refuses):
    before = sorted(data.rglob("*"))
    with refuses("holds a dataset; choose another folder for --out"):
        command(model="oracle", data=data, out=data)
    assert sorted(data.rglob("*")) == before


def test_a_relative_path_names_the_same_data(data, tmp_path, monkeypatch):
    evaluate(RunSpec("oracle", data, limit=3), tmp_path / "run")
    monkeypatch.chdir(data.parent)
    log = evaluate(RunSpec("oracle", Path(data.name), limit=3), tmp_path / "run")
    assert dict(log.spec)["data"] == str(data.resolve())
    assert "trained_on" not in dict(log.spec)


def test_names_for_the_report(data, tmp_path, capsys):
    run(capsys, model="oracle", data=data, out=tmp_path / "run", limit=3, trained_on="easy", variant="hard")
    spec = dict(read_run(tmp_path / "run").spec)
    assert (spec["trained_on"], spec["variant"]) == ("easy", "hard")


OWN = """
from shiftscope.model import Response
class Stops:
    batch = 5
    asked = 0
    def predict(self, batch):
        Stops.asked += len(batch)
        if Stops.asked > 10:
            raise ValueError("no more")
        return ["2"] * len(batch)
class Short:
    def predict(self, batch):
        return ["2"]
class Nothing:
    batch = 0
    def predict(self, batch):
        return []
class Fails:
    def predict(self, batch):
        return [Response(status="failed", reason="out of memory" if k else "odd") for k in range(len(batch))]
"""


@pytest.mark.parametrize(
    ("name", "sentence", "kept"),
    [
        ("Stops", "stopped with ValueError: no more (own_for_test.py, line 9); the responses so far are kept", 10),
        ("Short", "model 'own_for_test:Short' gave 1 responses to 36 prompts", 0),
        ("Nothing", "model 'own_for_test:Nothing': batch must be a whole number from 1 up, not 0", 0),
    ],
)
def test_mistakes_of_ones_own_class(name, sentence, kept, data, tmp_path, monkeypatch, refuses):
    (tmp_path / "own_for_test.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    with refuses(sentence):
        evaluate(RunSpec(f"own_for_test:{name}", data), tmp_path / "run")
    assert (tmp_path / "run").exists() == bool(kept)
    if kept:
        log = read_run(tmp_path / "run")
        assert log.records.status.to_list().count("missing") == 36 - kept
        assert not log.finished


def test_when_everything_failed_the_reason_is_said(data, tmp_path):
    (tmp_path / "own_for_test.py").write_text(OWN)
    words = ("run", "--model", "own_for_test:Fails", "--data", data, "--out", tmp_path / "run")
    made = here(*words, cwd=tmp_path)
    assert made.returncode == 1, made.stderr
    assert "as_is: 36 failed, most often with: out of memory" in made.stdout
