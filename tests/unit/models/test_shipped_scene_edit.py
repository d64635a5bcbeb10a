"""scene_edit as it ships: two parsers of texts beside the scene parser that comes with the neuro-symbolic models."""

import json

import pytest

from shiftscope.lang.posterior_calibration import Calibration
from shiftscope.models.nsvqa.trained_model import SCENE_PARSER, TrainedModel
from shiftscope.models.scene_edit import training
from shiftscope.models.scene_edit.training import TrainedSceneEditor
from shiftscope.schemas.clevr import SCHEMA
from tools import ship_scene_edit

ENTRY = {
    "config": {}, "trained_on": "clevr_hyp", "data": {}, "examples": 1, "seed": 0, "recipe": {"epochs": 1}, "epoch": 1,
    "val": {}, "val_counts": {}, "seconds": 1.0,
}  # fmt: skip
TOP = {"version": 1, "schema": "clevr", "size": [480, 320], "device": "cpu", "seconds": {}, "versions": {}}


def entry(data):
    return ENTRY | {"blake2b": training.digest_of(data)}


@pytest.fixture
def shelves(tmp_path, monkeypatch):
    """A shipped scene parser, and a trained folder of three parsers, whose scene parser is another one."""
    calibration = {"calibration": Calibration.identity(SCHEMA).to_json(), "spatial": None, "centres": None}
    monkeypatch.setattr(training, "SHIPPED", tmp_path / "edit")
    monkeypatch.setattr(training, "SCENE_PARSERS", tmp_path / "nsvqa")
    monkeypatch.setattr(TrainedSceneEditor, "SHIPPED", tmp_path / "edit")
    monkeypatch.setattr(ship_scene_edit, "SHIPPED", tmp_path / "edit")
    monkeypatch.setattr(ship_scene_edit, "SCENE_PARSERS", tmp_path / "nsvqa")
    about = TOP | {"kind": "neuro_symbolic", SCENE_PARSER: entry(b"sees")} | calibration
    TrainedModel.write(tmp_path / "nsvqa" / "clevr", about, {SCENE_PARSER: b"sees"})
    files = {SCENE_PARSER: b"another", "action_parser": b"acts", "question_parser": b"asks"}
    about = TOP | {"kind": "scene_edit"} | {part: entry(data) for part, data in files.items()} | calibration
    TrainedSceneEditor.write(tmp_path / "trained", about, files)
    return tmp_path


def test_only_the_parsers_of_texts_are_written_and_the_scene_parser_is_shared(shelves):
    target = ship_scene_edit.ship(shelves / "trained")
    assert sorted(p.name for p in target.iterdir()) == [
        "action_parser.safetensors", "model.json", "question_parser.safetensors"
    ]  # fmt: skip
    found = TrainedSceneEditor.find("scene_edit", "", SCHEMA)
    assert [found.read_bytes(part) for part in found.parts] == [b"sees", b"acts", b"asks"]


def test_a_scene_parser_that_was_replaced_since_is_refused(shelves, refuses):
    ship_scene_edit.ship(shelves / "trained")
    path = shelves / "nsvqa" / "clevr" / "model.json"
    about = json.loads(path.read_text())
    about[SCENE_PARSER]["blake2b"] = training.digest_of(b"newer")
    path.write_text(json.dumps(about))
    (path.parent / "scene_parser.safetensors").write_bytes(b"newer")
    with refuses("belongs to another scene parser than the one shipped"):
        TrainedSceneEditor.find("scene_edit", "", SCHEMA).read_bytes(SCENE_PARSER)


def test_too_much_is_not_shipped(shelves, refuses, monkeypatch):
    monkeypatch.setattr(ship_scene_edit, "MOST", 7)
    with refuses("8 bytes of weights, more than 7"):
        ship_scene_edit.ship(shelves / "trained")
    assert not (shelves / "edit").exists()
