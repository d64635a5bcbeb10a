"""Models for words, loaded by a user's name: none runs code of its own, none reads pickled weights."""

import json

import pytest

from shiftscope.questions.hypothetical.paraphrase_model import Paraphraser
from shiftscope.scene_graph.exclusivity import NLI
from shiftscope.trust_remote_code import refuse_untrusted

CODE = "from pathlib import Path\nPath({!r}).touch()\nclass Config: pass\n"


@pytest.fixture(params=[NLI, Paraphraser])
def model(request):
    return request.param


def test_code_of_its_own_is_not_run(model, tmp_path, refuses, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *_: "y")  # what transformers asks on the terminal
    (tmp_path / "own.py").write_text(CODE.format(str(tmp_path / "marker")))
    config = {"model_type": "one_of_its_own", "auto_map": {"AutoConfig": "own.Config"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with refuses(f"wants to run code of its own (auto_map in {tmp_path / 'config.json'}); name another model"):
        model(str(tmp_path))
    assert not (tmp_path / "marker").exists()


def test_pickled_weights_are_not_read(model, tmp_path, refuses):
    (tmp_path / "pytorch_model-00001-of-00002.bin").touch()
    with refuses("has pickled weights"):
        model(str(tmp_path))


def test_a_folder_of_something_else(model, tmp_path, refuses):
    (tmp_path / "config.json").write_text('{"model_type": []}')
    with refuses("opens here"):
        model(str(tmp_path))


def test_code_is_found_at_any_depth(tmp_path, refuses):
    nested = {"image_processor": [{"auto_map": {"AutoImageProcessor": "own.Eye"}}]}
    (tmp_path / "processor_config.json").write_text(json.dumps(nested))
    with refuses("wants to run code of its own"):
        refuse_untrusted(str(tmp_path), "leave it")
    (tmp_path / "processor_config.json").write_text('{"auto_map": {}}')
    refuse_untrusted(str(tmp_path), "leave it")
    refuse_untrusted("org/name", "leave it")
