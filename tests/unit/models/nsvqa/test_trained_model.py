"""The folder of a trained model: what is shipped, what damage is told of, and two trainings joined."""

import json
from copy import deepcopy
from functools import cache

import pytest

from lazy import lazy
from shiftscope.answer import is_same_answer
from shiftscope.files import digest_of
from shiftscope.model import ModelOptions, ModelSetting, Prompt
from shiftscope.models import p_nsvqa, p_nsvqa_exact
from shiftscope.models.nsvqa.neuro_symbolic import load_parsers
from shiftscope.models.nsvqa.trained_model import (
    PARSERS,
    QUESTION_PARSER,
    SCENE_PARSER,
    SHIPPED,
    TrainedModel,
    read_trained_model,
    write_combined_model,
)
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.suites.superclevr.suite import SUITE, SuperclevrSpec
from shiftscope.trained_folder import MODEL_FILE

torch = lazy("torch")

FOLDER = SHIPPED / "superclevr"


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# --- what is shipped


def test_shipped_weights_are_whole_and_small():
    shipped = read_trained_model(FOLDER)
    assert shipped.schema == SCHEMA and shipped.size == (480, 320) and shipped.trained_on == "default"
    assert sum(len(shipped.read_bytes(part)) for part in PARSERS) < 12e6  # which also compares the hashes
    assert shipped.find_relation("predicted") is not None and shipped.find_relation("boxes") is None
    assert shipped.calibration.matches_schema(SCHEMA)
    assert {path.name for path in FOLDER.iterdir()} == {MODEL_FILE, *(f"{part}.safetensors" for part in PARSERS)}


@cache
def asked():
    """Ten images of the default test split and a hundred questions about their vehicles."""
    images, questions = SUITE.make_shard(SuperclevrSpec(images=60, part_questions=0).spec(), "test", 0)
    shown = {image.id: image.png for image in images}
    assert (len(images), len(questions)) == (10, 100)
    return [Prompt(q, pictures=(shown[q.scenes[0]],)) for q in questions]


@pytest.mark.parametrize(("model", "least"), [(p_nsvqa, 80), (p_nsvqa_exact, 85)])
def test_shipped_weights_answer(model, least):
    built = model.build("", ModelSetting(schema=SCHEMA, options=ModelOptions(device="cpu")))
    said = built.predict(asked())
    right = [
        r.answer is not None and is_same_answer(r.answer, p.question.answer) for r, p in zip(said, asked(), strict=True)
    ]
    assert sum(right) >= least


# --- damage

KEEP = object()


def changed(*path, to=KEEP):
    """model.json with one thing deleted or replaced."""

    def change(about):
        held = about
        for key in path[:-1]:
            held = held[key]
        if to is KEEP:
            del held[path[-1]]
        else:
            held[path[-1]] = to

    return change


@cache
def _about():
    return json.loads((FOLDER / MODEL_FILE).read_text("utf-8"))


def about():
    return deepcopy(_about())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (changed(SCENE_PARSER, "blake2b"), "the blake2b of its scene_parser is missing"),
        (changed(SCENE_PARSER, "blake2b", to="abc"), "the blake2b of its scene_parser is no checksum"),
        (changed(QUESTION_PARSER, "config"), "the config of its question_parser is missing"),
        (changed(QUESTION_PARSER, "config", to=[1]), "the config of its question_parser is missing or of another kind"),
        (changed(SCENE_PARSER, to=None), "its scene_parser is not described"),
        (changed(SCENE_PARSER, "val", to={"color": "high"}), "the figures of its scene_parser are not whole"),
        (changed(SCENE_PARSER, "val_counts", to={}), "the figures of its scene_parser are not whole"),
        (changed(SCENE_PARSER, "recipe", to={}), "the figures of its scene_parser are not whole"),
        (changed("calibration"), "its calibration is missing"),
        (changed("calibration", "exists"), "Calibration: there is no 'exists' in it"),
        (changed("calibration", to=[1, 2]), "Calibration: expected an object, got [1, 2]"),
        (changed("calibration", "exists", to=[1.0]), "Calibration: exists: expected 2 values, got [1.0]"),
        (changed("calibration", "temperatures", to=[1.0, 1.0]), "has not one temperature for each attribute"),
        (changed("calibration", "part_temperatures", to=[1.0] * 5), "has not one temperature for each attribute"),
        (changed("calibration", "shares", to=[[0.5, 0.5]]), "not one share for each value"),
        (changed("calibration", "shares", to=[[0.5, 0.6]]), "are above 0 and add up to 1"),
        (changed("calibration", "shares", to=0.5), "Calibration: shares: expected a list, got 0.5"),
        (changed("calibration", "temperatures", to=[1.0, 0.0, 1.0, 1.0]), "temperatures are above 0"),
        (changed("spatial", "weights"), "SpatialLikelihood: there is no 'weights' in it"),
        (changed("spatial", "weights", to=[[1.0, 0.0]]), "2 margins and 2 × 2 weights"),
        (changed("spatial", "margins", to=[0.1]), "2 margins and 2 × 2 weights"),
        (changed("spatial", "source", to="smell"), "learned from places or boxes, not from 'smell'"),
        (changed("size", to="big"), "its size is not the width and height of an image"),
        (changed("size", to=[480]), "its size is not the width and height of an image"),
        (changed("size", to=[0, 0]), "its size is not the width and height of an image"),
        (changed("size", to=[48000, 32000]), "its size is not the width and height of an image"),
        (changed("size"), "its size is not the width and height of an image"),
        (changed("schema", to={"x": 1}), "its schema is none"),
        (changed("schema", to=None), "its schema is none"),
        (changed("schema", to="superclver"), "its schema is none"),
        (changed("seconds", to=3), "its seconds is missing or of another kind"),
        (changed("kind"), "it does not describe a trained model"),
    ],
)  # fmt: skip
def test_a_damaged_description_is_refused_in_words(change, sentence, tmp_path, refuses):
    damaged = about()
    change(damaged)
    (tmp_path / MODEL_FILE).write_text(json.dumps(damaged))
    with refuses(sentence):
        read_trained_model(tmp_path)
    with refuses(f"delete the folder {tmp_path} and run again the command that trained it"):
        read_trained_model(tmp_path)


def test_weights_that_are_not_finite_are_refused(tmp_path, refuses):
    shipped = read_trained_model(FOLDER)
    files = {part: shipped.read_bytes(part) for part in PARSERS}
    held = shipped.read_tensors(QUESTION_PARSER)
    next(t for t in held.values() if t.is_floating_point()).view(-1)[0] = torch.nan
    files[QUESTION_PARSER] = lazy("safetensors.torch").save(held)
    damaged = about()
    damaged[QUESTION_PARSER]["blake2b"] = digest_of(files[QUESTION_PARSER])
    TrainedModel.write(tmp_path / "model", damaged, files)
    with refuses("question_parser.safetensors holds weights that are not finite; delete the folder"):
        load_parsers(read_trained_model(tmp_path / "model"), "cpu")


def test_only_a_model_that_sees_needs_a_size(tmp_path):
    alone = about()
    del alone[SCENE_PARSER]
    alone["size"] = [0, 0]
    (tmp_path / MODEL_FILE).write_text(json.dumps(alone))
    assert read_trained_model(tmp_path).size == (0, 0)


def test_a_description_without_parsers_or_of_another_sort_is_refused(tmp_path, refuses):
    (tmp_path / MODEL_FILE).write_text("[]")
    with refuses("model.json is damaged: it does not describe a trained model"):
        read_trained_model(tmp_path)
    (tmp_path / MODEL_FILE).write_text(json.dumps({k: v for k, v in about().items() if k not in PARSERS}))
    with refuses("model.json is damaged: it describes none of its parts (scene_parser, question_parser)"):
        read_trained_model(tmp_path)
    (tmp_path / MODEL_FILE).write_text(json.dumps(about() | {"version": 7}))
    with refuses("describes another sort of model (neuro_symbolic 7, not neuro_symbolic 1)"):
        read_trained_model(tmp_path)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (changed(SCENE_PARSER, "config", "hidden", to="wide"), SCENE_PARSER),
        (changed(SCENE_PARSER, "config", "schema", to={"x": 1}), SCENE_PARSER),
        (changed(QUESTION_PARSER, "config", "vocabulary"), QUESTION_PARSER),
        (changed(QUESTION_PARSER, "config", "vocabulary", to={"words": []}), QUESTION_PARSER),
        (changed(QUESTION_PARSER, "config", "width", to="wide"), QUESTION_PARSER),
        (changed(QUESTION_PARSER, "config", "heads", to=0), QUESTION_PARSER),
    ],
)
def test_a_damaged_config_is_refused_in_words(change, part, tmp_path, refuses):
    shipped, damaged = read_trained_model(FOLDER), about()
    change(damaged)
    made = TrainedModel.write(tmp_path, damaged, {name: shipped.read_bytes(name) for name in PARSERS})
    with refuses(f"the config of its {part} is damaged ("):
        load_parsers(made, "cpu")


def test_shipped_weights_that_are_damaged_are_not_trained_again(tmp_path, monkeypatch, refuses):
    monkeypatch.setattr(TrainedModel, "SHIPPED", tmp_path)
    (tmp_path / "superclevr").mkdir()
    (tmp_path / "superclevr" / MODEL_FILE).write_text(json.dumps(about()))
    with refuses("scene_parser.safetensors: cannot be read (No such file or directory); install shiftscope again"):
        read_trained_model(tmp_path / "superclevr").read_bytes(SCENE_PARSER)


# --- joining


def test_two_trainings_make_one_model(tmp_path):
    shipped = read_trained_model(FOLDER)
    every = shipped.about["seconds"]
    apart = {}
    for part, other in ((SCENE_PARSER, QUESTION_PARSER), (QUESTION_PARSER, SCENE_PARSER)):
        alone = {k: v for k, v in about().items() if k != other} | {
            "seconds": every[PARSERS[part]], "spec": {"only": PARSERS[part]}, "command": f"train {part}"
        }  # fmt: skip
        if part == QUESTION_PARSER:
            alone |= {"calibration": None, "spatial": None}
        apart[part] = TrainedModel.write(tmp_path / part, alone, {part: shipped.read_bytes(part)})
    made = write_combined_model(tmp_path / "joined", apart[SCENE_PARSER], apart[QUESTION_PARSER])
    assert {part: made.read_bytes(part) for part in PARSERS} == {part: shipped.read_bytes(part) for part in PARSERS}
    assert made.about == shipped.about  # neither's command nor spec made it
    assert made.id() == shipped.id() == read_trained_model(tmp_path / "joined").id()
    assert made.calibration == shipped.calibration
    assert made.find_relation("predicted") == shipped.find_relation("predicted")
