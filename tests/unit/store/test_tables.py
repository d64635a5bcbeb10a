"""What counting needs of a stored scene, and the columns of grounding."""

import json

from shiftscope.question import GroundedPhrase, Question
from shiftscope.scene import Object, Part, Scene
from shiftscope.store.tables import (
    GROUNDING_COLUMNS,
    build_card_feature,
    build_question_table,
    parse_questions,
    summarize_scene,
)

SCENE = Scene(
    (
        Object((("color", "red"), ("shape", "bus")), parts=(Part("roof"), Part("door", (("color", "blue"),)))),
        Object((("color", "blue"), ("shape", "jet"))),
    ),
    id="one",
)


def test_a_summary_tells_attributes_and_parts():
    seen = summarize_scene(json.dumps(SCENE.to_json()))
    assert seen == ("one", [o.attributes for o in SCENE.objects], 2)


def ask(name, *grounding):
    return Question(name, "Is the roof of the bus red?", ("one",), grounding=grounding)


GROUNDED = (
    ask("a", GroundedPhrase(3, 11, (), ((0, "roof"), (1, "fin"))), GroundedPhrase(15, 22, (0,))),
    ask("b"),
    ask("c", GroundedPhrase(15, 22), GroundedPhrase(23, 26, (0, 1))),
)


def test_grounding_survives_whole_and_row_by_row():
    table = build_question_table(GROUNDED)
    assert tuple(parse_questions(table)) == GROUNDED
    assert [next(parse_questions(table.slice(k, 1))) for k in range(3)] == list(GROUNDED)
    assert table["grounding"][0].as_py()[0] == {
        "start": 3,
        "end": 11,
        "objects": [],
        "parts": [{"object": 0, "part": "roof"}, {"object": 1, "part": "fin"}],
    }


def test_questions_without_grounding_have_the_columns_they_always_had():
    plain = (ask("b"),)
    assert "grounding" not in build_question_table(plain).column_names
    assert build_question_table(plain, grounded=True)["grounding"].to_pylist() == [[]]
    assert tuple(parse_questions(build_question_table(plain))) == plain


def test_the_card_lists_the_fields_of_a_phrase():
    [(_, kind)] = GROUNDING_COLUMNS
    fields = build_card_feature(kind)["list"]
    assert [f["name"] for f in fields] == ["start", "end", "objects", "parts"]
    assert fields[2:] == [
        {"name": "objects", "list": "int32"},
        {"name": "parts", "list": [{"name": "object", "dtype": "int32"}, {"name": "part", "dtype": "string"}]},
    ]
