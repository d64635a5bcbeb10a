"""`shiftscope train` as a user meets it: from a small dataset to models that answer, and what is refused."""

import json
import shutil
from dataclasses import replace

import pytest

from asked import dataset
from command import here, refused
from lazy import lazy
from shiftscope.cli.train import _print_training, _tell_epochs, command
from shiftscope.lang.text import parse_program
from shiftscope.model import ADAPTATION_IMAGES
from shiftscope.models.nsvqa.neuro_symbolic import NsvqaParsers
from shiftscope.models.nsvqa.trained_model import SCENE_PARSER, read_trained_model, write_combined_model
from shiftscope.run.adaptation import Adaptation
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.make import make
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import read_rows
from shiftscope.suites.superclevr import suite as superclevr

loss = lazy("shiftscope.models.nsvqa.scene_parser.loss")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("train") / "data"
    make(
        "superclevr",
        superclevr.SuperclevrSpec(images=18, size=(128, 96), questions=2, part_questions=1),
        out,
        workers=1,
    )
    return out


@pytest.fixture(scope="module")
def folder(data):
    """Trained for one epoch on twelve images: it has all that a model has, but knows nothing yet."""
    out = data.parent / "model"
    train(data, out)
    return out


def train(data, out, **options):
    command(
        **{"model": "p_nsvqa", "data": str(data), "out": out, "epochs": 1, "device": "cpu", "workers": 1, **options}
    )


def test_a_folder_says_all_about_the_model(folder, data, capsys):
    about = json.loads((folder / "model.json").read_text())
    assert (about["schema"], about["size"], about["processes"]) == ("superclevr", [128, 96], 1)
    assert about["command"].startswith("shiftscope")
    assert {"data", "scene", "questions", "calibration", "all"} == set(about["seconds"])
    scene, questions = about["scene_parser"], about["question_parser"]
    assert (scene["examples"], scene["val_counts"]["exact"][1], scene["trained_on"]) == (12, 3, "default")
    assert (questions["examples"], questions["val_counts"]["exact"][1]) == (32, 9)
    assert len(about["calibration"]["temperatures"]) == 4
    rows = [json.loads(line) for line in (folder / "training.jsonl").read_text().splitlines()]
    assert [(row["part"], row["epoch"]) for row in rows] == [("scene_parser", 1), ("question_parser", 1)]
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.json", "question_parser.safetensors", "scene_parser.safetensors", "training.jsonl"
    ]  # fmt: skip
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12e6
    train(data, folder)  # it is done: nothing is trained again
    assert json.loads((folder / "model.json").read_text()) == about
    told = capsys.readouterr().out
    assert "scene parser: trained on default, 12 examples" in told
    assert f"nothing to do: {folder} was trained already; next: shiftscope run --model p_nsvqa:{folder}" in told


@pytest.mark.parametrize("model", [pytest.param("nsvqa", marks=pytest.mark.full), "p_nsvqa", "p_nsvqa_exact"])
def test_it_answers_under_every_condition(model, folder, data, tmp_path):
    conditions = ("as_is", "blind", "scene_text", "program_text")
    log = evaluate(RunSpec(f"{model}:{folder}", data, "test", conditions=conditions), tmp_path / "run")
    status = {c: set(log.records.filter_condition(c).status.to_list()) for c in conditions}
    assert status["blind"] == {"undefined"}
    assert set(log.records.filter_condition("blind").reason.to_list()) == {"no image"}
    if model != "nsvqa":  # which may find that a question does not fit the scene it sees
        assert status["as_is"] == status["program_text"] == {"answered"}
    rows = [prediction for _, prediction in read_rows(tmp_path / "run")]
    assert all(parse_program(p.program) for p in rows if p.condition != "blind")
    assert all(0 <= p.confidence <= 1 for p in rows if p.confidence is not None)
    assert dict(log.spec)["trained_on"] == "default"
    assert dict(log.spec)["weights"] == read_trained_model(folder).id()


@pytest.mark.full
def test_models_adapt_to_images_that_are_not_scored(folder, data, tmp_path, monkeypatch, refuses):
    used = []
    monkeypatch.setattr(NsvqaParsers, "adapt", lambda self, pictures, kind: used.append((pictures, kind)) or self)
    run = RunSpec(f"nsvqa:{folder}", data, "test", adapt=Adaptation("both"))
    spec = dict(evaluate(run, tmp_path / "run").spec)
    ((pictures, kind),) = used
    assert kind == spec["adapt"] == "both" and spec["adapted"] == []
    assert spec["adapted_to"][1:] == ["val", ADAPTATION_IMAGES]
    assert len(pictures) == Dataset.open(data).count("val")[0] > 0
    scored = RunSpec(f"nsvqa:{folder}", data, "test", adapt=Adaptation("both", "test"))
    with refuses("split 'test' is scored, so nothing can be adapted to it"):
        evaluate(scored, tmp_path / "other")
    with refuses("does not adapt to images; omit --adapt"):
        evaluate(RunSpec("majority", data, "test", adapt=Adaptation("norm")), tmp_path / "third")
    with refuses("no adaptation 'all'"):
        evaluate(RunSpec(f"nsvqa:{folder}", data, "test", adapt=Adaptation("all")), tmp_path / "fourth")
    assert "adapt" not in dict(evaluate(RunSpec(f"nsvqa:{folder}", data, "test"), tmp_path / "plain").spec)


def test_parsers_trained_beside_each_other_are_those_trained_in_turn(folder, data, tmp_path):
    train(data, tmp_path / "model", beside=True)
    alone, beside = (json.loads((one / "model.json").read_text()) for one in (folder, tmp_path / "model"))
    for part in ("scene_parser", "question_parser"):
        assert alone[part]["blake2b"] == beside[part]["blake2b"] and alone[part]["val"] == beside[part]["val"]
    logs = [(one / "training.jsonl").read_text().splitlines() for one in (folder, tmp_path / "model")]
    rows, theirs = ([(row["part"], row["losses"]) for row in map(json.loads, lines)] for lines in logs)
    assert rows == theirs
    assert not (tmp_path / "model" / "training").exists()


@pytest.mark.full
def test_parsers_beside_each_other_are_paused_and_resumed(folder, data, tmp_path):
    train(data, tmp_path / "model", beside=True, minutes=1e-6)  # over after the first step
    assert (tmp_path / "model" / "training" / "scene_parser.safetensors").exists()  # the other may not have begun yet
    train(data, tmp_path / "model", beside=True)
    alone, again = (json.loads((one / "model.json").read_text()) for one in (folder, tmp_path / "model"))
    assert again["question_parser"]["blake2b"] == alone["question_parser"]["blake2b"]


def test_one_parser_alone_with_the_other_taken_over(folder, data, tmp_path):
    train(data, tmp_path / "model", only="questions", other=folder, seed=1)
    new, old = read_trained_model(tmp_path / "model"), read_trained_model(folder)
    assert new.read_bytes(SCENE_PARSER) == old.read_bytes(SCENE_PARSER)
    assert new.about["calibration"] == old.about["calibration"]
    assert new.about["question_parser"]["blake2b"] != old.about["question_parser"]["blake2b"]


@pytest.mark.parametrize(("part", "step"), [(SCENE_PARSER, "scene --from"), ("question_parser", "questions --from")])
def test_the_next_step_after_one_parser_is_the_other(folder, part, step, capsys):
    whole = read_trained_model(folder)
    alone = replace(whole, about={key: value for key, value in whole.about.items() if key != part})
    _print_training(alone, "nsvqa", as_json=False)
    assert f"next: shiftscope train --model nsvqa --only {step} {folder} " in capsys.readouterr().out


def test_a_training_that_could_not_begin_leaves_nothing_behind(data, tmp_path, refuses):
    broken = tmp_path / "data"
    shutil.copytree(data, broken)
    shard = broken / "images" / "train" / "00000.parquet"
    held = shard.read_bytes()
    shard.write_bytes(held[:100] + bytes(byte ^ 255 for byte in held[100:-100]) + held[-100:])
    with refuses(str(broken)):
        train(broken, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_epochs_that_may_be_fewer_or_more_are_told_so():
    recipes = ({"epochs": 12}, {"epochs": 40, "patience": 3}, {"epochs": 48, "tail": 16})
    assert [_tell_epochs(one) for one in recipes] == ["12", "at most 40", "at most 64"]


def test_what_is_refused(folder, data, tmp_path, refuses):
    with refuses("holds another trained model: its seed is 0, not 1; name another folder with --out"):
        train(data, folder, seed=1)
    with refuses("--from takes parts from a trained folder; say which part is trained with --only"):
        train(data, tmp_path / "new", other=folder)
    with refuses("none: no such folder; make one with shiftscope train"):
        train(data, tmp_path / "new", only="scene", other=tmp_path / "none")
    with refuses("--beside trains parts on one device, and --processes shares each among several; omit one"):
        train(data, tmp_path / "new", beside=True, processes=2)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with refuses("is not empty and holds no training"):
        train(data, tmp_path / "full")
    said = refused(here("train", "--model", "p_nsqva", "--data", data))
    assert said == "shiftscope: no trainable model 'p_nsqva'; did you mean 'p_nsvqa'?"


def test_a_parser_of_another_make_is_another_training(folder, data, tmp_path, refuses, monkeypatch):
    begun = tmp_path / "begun"
    (begun / "training").mkdir(parents=True)
    spec = json.loads((folder / "model.json").read_text())["spec"]
    spec["parsers"]["scene_parser"]["config"]["hidden"] = 128
    (begun / "training" / "spec.json").write_text(json.dumps(spec))
    with refuses("begun holds another training: its parsers.scene_parser.config.hidden is 128, not 256"):
        train(data, begun)
    monkeypatch.setitem(loss.WEIGHTS, "box", 3.0)
    with refuses("holds another trained model: its parsers.scene_parser.loss.box is 1.0, not 3.0"):
        train(data, folder)
    assert spec["parsers"]["question_parser"]["config"]["width"] == 192
    assert "vocabulary" not in spec["parsers"]["question_parser"]["config"]


def test_a_model_that_two_trainings_made_is_no_training(folder, data, tmp_path, refuses):
    alone = read_trained_model(folder)
    write_combined_model(tmp_path / "joined", alone, alone)
    with refuses("joined holds a model that no training made; name another folder with --out"):
        train(data, tmp_path / "joined")


def test_weights_that_are_not_as_they_were_written(folder, data, tmp_path, refuses):
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    weights = broken / "scene_parser.safetensors"
    held = bytearray(weights.read_bytes())
    held[-1] ^= 1
    weights.write_bytes(held)
    with refuses("scene_parser.safetensors is damaged: it is not what was written there"):
        evaluate(RunSpec(f"nsvqa:{broken}", data), tmp_path / "run")
    with refuses(f"it is not what was written there; delete the folder {broken} and run again the command"):
        train(data, broken)  # finished, but not whole
    weights.unlink()
    with refuses("scene_parser.safetensors: cannot be read"):
        train(data, broken)
    with refuses("scene_parser.safetensors: cannot be read"):
        evaluate(RunSpec(f"nsvqa:{broken}", data), tmp_path / "run")
    (broken / "model.json").write_text("{}")
    asked = ("run", "--model", f"nsvqa:{broken}", "--data", data, "--out", tmp_path / "run")
    assert "model.json is damaged" in refused(here(*asked))
    assert not (tmp_path / "run").exists()


def test_a_model_is_asked_about_what_it_was_trained_on(folder, data, tmp_path, refuses):
    other = dataset(tmp_path / "clevr").folder
    with refuses("was trained on superclevr, and the data are clevr"):
        evaluate(RunSpec(f"nsvqa:{folder}", other), tmp_path / "run")
    with refuses("ships no weights for superclevr data; train some with shiftscope train --model scene_edit"):
        evaluate(RunSpec("scene_edit", data), tmp_path / "run")
    with refuses("none: no such folder"):
        evaluate(RunSpec(f"nsvqa:{tmp_path / 'none'}", data), tmp_path / "run")
    with refuses("lacks what to run; write nsvqa or nsvqa:FOLDER"):
        evaluate(RunSpec("nsvqa:", data), tmp_path / "run")
