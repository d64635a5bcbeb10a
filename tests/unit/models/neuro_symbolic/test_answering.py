"""A question is read once and its program runs on the scenes of all images; what was mended is said."""

from types import SimpleNamespace

import numpy as np
import pytest

from shiftscope.errors import UserError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.model import ModelName, Prompt, parse_model_name
from shiftscope.models.neuro_symbolic import answering
from shiftscope.models.neuro_symbolic.answering import UNPARSED, ImageSceneReader, ParserTarget, SeveralImagesModel
from shiftscope.models.neuro_symbolic.composing import learn_composing
from shiftscope.models.neuro_symbolic.network import RuleScores
from shiftscope.picture import Picture
from shiftscope.question import Question
from shiftscope.scene import Object
from shiftscope.schema import Schema
from shiftscope.schemas.superclevr import SCHEMA
from toy import scene
from vehicle_pairs import build_pairs


def vehicle(shape, color, size="large"):
    pairs = {"shape": shape, "color": color, "size": size, "material": "metal"}
    return Object(tuple((a.name, pairs[a.name]) for a in SCHEMA.attributes), position=(0.0, 0.0, 0.0), box=(0, 0, 9, 9))


SCENES = tuple(
    scene(*things, schema=SCHEMA, name=name)
    for name, things in {
        "a": (vehicle("jet", "red"), vehicle("jet", "blue")),
        "b": (vehicle("jet", "red"), vehicle("sedan", "green")),
    }.items()
)


@pytest.fixture(scope="module")
def parser():
    pairs = [(text, parse_program(program).canonicalize()) for text, program in build_pairs()]
    made = RuleScores(learn_composing(pairs, SCHEMA))
    made.begin_from_counts()
    return made


@pytest.fixture
def model(parser):
    return SeveralImagesModel(None, parser, ImageSceneReader(SCHEMA, "cpu"), {})


def ask(model, text, **given):
    question = Question("q", text, ("a", "b"), None, None)
    given = given or {"scenes": SCENES, "scene_text": "in words"}
    return model.predict([Prompt(question=question, text=text, **given)])[0]


def test_a_program_runs_on_all_scenes(model):
    response = ask(model, "How many images contain at least 1 red jet?")
    assert response.answer == 2 and response.program.startswith("count(keep(group(") and not response.reason
    assert ask(model, "There are exactly 2 red jets.").answer is True


def test_of_several_objects_the_first_is_taken_and_told(model):
    response = ask(model, "Is the jet red or blue?")
    assert (response.answer, response.reason) == ("red", "several found")


def test_a_missing_object_is_told(model):
    response = ask(model, "Is the truck red or blue?")
    assert response.reason == "none found"


def test_an_image_is_looked_at_once_for_all_models_of_its_schema(monkeypatch):
    """A study asks dozens of parsers about the same images; pictures of one id are equal."""
    looked = []

    def parse_images(pixels):
        looked.append(len(pixels))
        return range(len(pixels))

    parsers = SimpleNamespace(device="cpu", trained=SimpleNamespace(size=(3, 2)), parse_images=parse_images)
    monkeypatch.setattr(answering, "load_parsers", lambda trained, device: parsers)
    monkeypatch.setattr(answering, "build_most_likely_scenes", lambda posterior: [SCENES[k % 2] for k in posterior])
    answering.open_scene_reader.cache_clear()
    try:
        pixels = np.zeros((3, 2, 3, 3), np.uint8)
        pictures = [Picture(block=pixels, row=k, id=f"data:{k}") for k in range(3)]
        for _ in range(2):
            seen = answering.open_scene_reader(Schema.from_json(SCHEMA.to_json()), "cpu").look(pictures[:2])
            assert seen["data:1"] is SCENES[1]
        answering.open_scene_reader(SCHEMA, "cpu").look(pictures)
    finally:
        answering.open_scene_reader.cache_clear()
    assert looked == [2, 1]


def test_a_question_that_cannot_be_read_is_undefined(model):
    response = ask(model, "Why?")
    assert (response.status, response.reason) == ("undefined", UNPARSED)


def test_under_program_text_the_question_is_not_read(model):
    program = parse_program("count(filter(scene(), color=red))")
    question = Question("q", "Why?", ("a", "b"), program, None)
    told = Prompt(question=question, program_text=format_program(program), scene_text="in words", scenes=SCENES)
    assert model.predict([told])[0].answer == 2


def test_predicted_graphs_stand_in_for_images(parser):
    shown = tuple(Picture(b"", name=name) for name in "ab")
    graphs = {"a": SCENES[1], "b": SCENES[1]}
    model = SeveralImagesModel(None, parser, ImageSceneReader(SCHEMA, "cpu"), graphs)
    assert ask(model, "How many images contain at least 1 green sedan?", pictures=shown).answer == 2
    with pytest.raises(UserError, match="have none of image 'b'"):
        lacking = SeveralImagesModel(None, parser, ImageSceneReader(SCHEMA, "cpu"), {"a": SCENES[0]})
        ask(lacking, "How many images contain at least 1 green sedan?", pictures=shown)


def test_a_target_names_a_folder_and_graphs():
    assert ParserTarget.parse("") == ParserTarget()
    assert ParserTarget.parse("out/ns@graphs.json") == ParserTarget("out/ns", "graphs.json")
    assert ParserTarget.parse("@graphs.json") == ParserTarget("", "graphs.json")


def test_a_model_string_names_it():
    assert parse_model_name("neuro_symbolic") == ModelName("neuro_symbolic")
    assert parse_model_name("neuro_symbolic:out/ns@graphs.json") == ModelName("neuro_symbolic", "out/ns@graphs.json")
