"""Inversion: a text gives back the program that it was worded from."""

import json
from dataclasses import replace

import pytest

from shiftscope.lang.text import format_program, parse_program
from shiftscope.question import Provenance, Question
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.inversion import TemplateInverter, tokenize_question
from shiftscope.questions.clevr.template import TemplateSet
from shiftscope.questions.clevr.template_sets import (
    builtin_part_templates,
    builtin_templates,
    load_templates,
    template_from_json,
)
from shiftscope.run.answer import SceneLookup, answer
from shiftscope.schemas import clevr, superclevr
from toy import TRAFFIC
from worlds import random_scene

NAMES = ("<Z>", "<C>", "<M>", "<S>")
TYPES = ("Size", "Color", "Material", "Shape")


def slots(number=""):
    return [{"type": t, "name": f"{n[:-1]}{number}>"} for t, n in zip(TYPES, NAMES, strict=True)]


def side(number=""):
    return [s["name"] for s in slots(number)]


COUNT = {
    "params": slots(),
    "text": ["Count the <Z> <C> <M> <S>s[ in view]."],
    "nodes": [{"type": "scene", "inputs": []}, {"type": "filter_count", "inputs": [0], "side_inputs": side()}],
    "constraints": [],
}
BEHIND = {
    "params": [*slots(), {"type": "Relation", "name": "<R>"}, *slots(2)],
    "text": ["Tell me the color of a <Z2> <C2> <M2> <S2> [that is] <R> the other <Z> <C> <M> <S>."],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": side()},
        {"type": "relate_filter_unique", "inputs": [1], "side_inputs": ["<R>", *side(2)]},
        {"type": "query_color", "inputs": [2]},
    ],
    "constraints": [{"type": "NULL", "params": ["<C2>"]}],
}
PART = {
    "params": [*slots(), *slots(2)[:3], {"type": "Partname", "name": "<P>"}],
    "text": ["On the <Z> <C> <M> <S>, how is the <Z2> <C2> <M2> <P> painted?"],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": side()},
        {"type": "object2part", "inputs": [1]},
        {"type": "partfilter_unique", "inputs": [2], "side_inputs": [*side(2)[:3], "<P>"]},
        {"type": "partquery_color", "inputs": [3]},
    ],
    "constraints": [{"type": "NULL", "params": ["<C2>"]}, {"type": "NULL", "params": ["<Z2>"]}],
}


def templates(*raw, synonyms=()):
    return TemplateSet(tuple(template_from_json(r, "mine.json", i) for i, r in enumerate(raw)), synonyms)


MINE = templates(COUNT, BEHIND, PART, synonyms=(("thing", ("thing",)), ("left", ("on the left of",))))
INVERT = TemplateInverter(MINE, superclevr.SCHEMA)


def read(text):
    return [format_program(r.program) for r in INVERT(text)]


def test_words_and_marks():
    assert tokenize_question("Is it a double-decker bus, or an SUV?") == (
        *("is", "it", "a", "double-decker", "bus", ",", "or", "an", "suv", "?"),
    )


def test_a_text_gives_its_program():
    assert read("Count the large red SUVs.") == [
        format_program(parse_program("count(filter(filter(filter(scene(), size=large), color=red), shape=suv))"))
    ]
    assert read("Count the things in view.") == [format_program(parse_program("count(scene())"))]


@pytest.mark.parametrize("said", ["double-decker buses", "double buss", "double deckers", "double-deckers"])
def test_every_way_to_say_it_is_understood(said):
    assert read(f"count the {said}.") == [format_program(parse_program("count(filter(scene(), shape=double))"))]


def test_a_kind_and_a_model_are_two_things():
    assert read("Count the buss.") == [format_program(parse_program("count(filter(scene(), shape=bus))"))]
    assert read("Count the regular buses.") == [format_program(parse_program("count(filter(scene(), shape=regular))"))]
    assert read("Count the regular cars.") == [format_program(parse_program("count(filter(scene(), shape=addi))"))]


def test_articles_and_other_are_not_insisted_on():
    wanted = format_program(
        parse_program("query(unique(filter(relate(unique(filter(scene(), shape=jet)), left), shape=airliner)), color)")
    )
    for text in (
        "Tell me the color of a airliner on the left of the jet.",
        "Tell me the color of an airliner that is on the left of the other jet.",
        "tell me the color of an airliner that is to the left of the jet.",
    ):
        assert read(text) == [wanted]


def test_a_slot_that_stays_empty_takes_no_word():
    assert read("Tell me the color of a red airliner behind the jet.") == []


@pytest.mark.parametrize(
    "text", ["", "?", "Count the unicorns.", "Count the red SUV.", "Count the red SUVs. Now.", "Count the SUVs red."]
)
def test_what_no_template_gives_is_not_understood(text):
    assert read(text) == []


def test_a_part_by_its_word_or_by_its_name_in_the_files():
    assert 'name="front left wheel"' in read("On the bus, how is the front left wheel painted?")[0]
    assert "name=wheel_front_left" in read("On the bus, how is the wheel_front_left painted?")[0]
    assert 'name="any engine"' in read("On the jet, how is the metal engine painted?")[0]
    assert "name=" not in read("On the jet, how is the matte part painted?")[0]


@pytest.mark.parametrize("scenes", [10, pytest.param(60, marks=pytest.mark.full)])
@pytest.mark.parametrize("own", [builtin_templates, builtin_part_templates], ids=["objects", "parts"])
def test_our_own_questions_can_be_read_back(own, scenes):
    chosen = own(superclevr.SCHEMA)
    invert = TemplateInverter(chosen, superclevr.SCHEMA)
    asked = generate_questions([random_scene(superclevr.SCHEMA, k) for k in range(scenes)], chosen, seed=2)
    assert len(asked) > 5 * scenes
    for q in asked:
        found = invert(q.text)
        assert q.program in [r.program for r in found], q.text
        assert invert.read_programs(q) == (q.program,), q.text  # it knows its template


def test_clevr_too():
    chosen = builtin_templates(clevr.SCHEMA)
    invert = TemplateInverter(chosen, clevr.SCHEMA)
    for q in generate_questions([random_scene(clevr.SCHEMA, k) for k in range(12)], chosen):
        assert invert.read_programs(q) == (q.program,), q.text


def question(text, told=None, stored=None):
    return Question("q", text, (TRAFFIC.id,), None, stored, provenance=Provenance("x", "", "mine.json", told))


def verdicts(*questions, of=MINE):
    return [(a.verdict, a.answer, a.undefined) for a in answer(questions, SceneLookup([TRAFFIC]), templates=of)]


def test_questions_without_programs_are_answered_by_their_texts():
    assert verdicts(
        question("Count the red things.", stored=2),
        question("Count the red things.", stored=3),
        question("Count the regular cars.", stored=0),
        question("On the school bus, how is the roof painted?", stored="blue"),
        question("On the bicycle, how is the roof painted?"),
        question("How are you?"),
    ) == [
        ("agree", 2, ""),
        ("disagree", 2, ""),
        ("agree", 0, ""),
        ("agree", "blue", ""),
        ("undefined", None, "none found"),
        ("undefined", None, "not understood"),
    ]
    assert verdicts(question("Count the red things."), of=None) == [("undefined", None, "no program")]


def test_two_readings_must_agree_unless_the_template_is_told():
    exist = COUNT | {"nodes": [COUNT["nodes"][0], COUNT["nodes"][1] | {"type": "filter_exist"}]}
    again = COUNT | {"nodes": [COUNT["nodes"][0], COUNT["nodes"][1]], "text": ["Count <C> <S>s in view."]}
    two = templates(COUNT, exist, again)
    assert verdicts(question("Count the red things."), of=two) == [("undefined", None, "ambiguous")]
    assert verdicts(question("Count the red things.", told=1), of=two) == [("unchecked", True, "")]
    assert verdicts(question("Count the red things.", told=0), of=two) == [("unchecked", 2, "")]
    doubled = templates(COUNT, replace_text(BEHIND, "Nothing here."), COUNT)
    assert verdicts(question("Count the red things."), of=doubled) == [("unchecked", 2, "")]


def replace_text(raw, text):
    return raw | {"text": [text]}


def test_a_folder_of_part_templates_loads_and_asks(tmp_path):
    (tmp_path / "part.json").write_text(json.dumps([PART]))
    (tmp_path / "metadata_part.json").write_text('{"types": {}, "functions": []}')
    loaded = load_templates(tmp_path)
    assert [t.family for t in loaded.templates] == [0]
    found = {q.text for s in range(40) for q in generate_questions([TRAFFIC], loaded, seed=s)}
    assert len(found) > 20
    assert all(q.startswith("On the ") and q.endswith(" painted?") for q in found)


def test_a_scene_of_another_schema_gets_an_inverter_of_its_own():
    book = SceneLookup([TRAFFIC, replace(random_scene(clevr.SCHEMA, 3), id="solids")])
    plain = templates(COUNT)
    questions = [question("Count the sedans."), replace(question("Count the cubes."), scenes=("solids",))]
    assert [a.verdict for a in answer(questions, book, templates=plain)] == ["unchecked", "unchecked"]
