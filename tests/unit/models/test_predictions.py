"""Files of predictions, in each family's format."""

import json

import pytest

from shiftscope.model import ModelSetting, Prompt, Response, build_model
from shiftscope.question import Question
from shiftscope.result import MISSING

FORMS = {
    "clevr": '[{"question_index": 7, "answer": "red"}, {"question_index": 8, "answer": 3}]',
    "gqa": '[{"questionId": "7", "prediction": "red"}, {"questionId": "8", "prediction": 3}]',
    "vqa": '[{"question_id": 7, "answer": "red"}, {"question_id": 8, "answer": 3}]',
    "ours": '{"predictions": [{"question": "7", "answer": "red"}, {"question": "8", "answer": 3}]}',
    "object": '{"7": "red", "8": 3}',
    "opened": '{"predictions": [\n{"question": "7", "answer": "red"},\n{"question": "8", "answer": 3}]}',
    "indented": '{\n "7": "red",\n "8": 3\n}',
    "lines": '{"question_id": 7, "answer": "red"}\n{"question_id": 8, "answer": 3}\n',
}


def said(path, *questions):
    return build_model(f"predictions:{path}", ModelSetting()).predict([Prompt(q) for q in questions])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form, tmp_path):
    path = tmp_path / "p.json"
    path.write_text(FORMS[form])
    questions = [Question(name, "?", ("s",)) for name in ("7", "8", "9")]
    assert said(path, *questions) == [Response(raw="red"), Response(raw="3", answer=3), Response(status=MISSING)]


def test_a_question_is_also_known_by_its_files_number(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(FORMS["clevr"])
    assert said(path, Question("clevr_test_000000_7", "?", ("s",), notes=(("question_index", 7),)))[0].raw == "red"


def test_one_line_is_one_row(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"question_id": 7, "answer": "red"}\n')
    assert said(path, Question("7", "?", ("s",))) == [Response(raw="red")]


def test_ids_of_no_question(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(FORMS["clevr"])
    model = build_model(f"predictions:{path}", ModelSetting())
    assert model.list_unknown_ids([Question("x", "?", ("s",), notes=(("question_index", 7),))]) == ["8"]


def test_null_is_undefined(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps([{"question_index": 1, "answer": None}]))
    assert said(path, Question("1", "?", ("s",)))[0].status == "undefined"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "there are no predictions in it"),
        ('[{"question_id": 1}]', "entry 0 needs an id"),
        ('[{"answer": 1}]', "entry 0 needs an id"),
        ("[1]", "entry 0 needs an id"),
        ('[{"question_id": 1, "answer": 2}, {"question_id": 1, "answer": 2}]', "question 1 appears twice"),
        ('[{"question_id": 1, "answer": [2]}]', "entry 0: an answer must be true or false"),
        ('[{"question_id": [1], "answer": 2}]', "entry 0: an id must be text or a whole number, not [1]"),
        ('[{"question_id": true, "answer": 2}]', "an id must be text or a whole number, not True"),
        ('{"1": "red", "2": "blue", "1": "red"}', "'1' appears twice"),
        ('{"question_id": 1, "answer": 2}\n\n{"question_id": 2, "ans', "p.json, line 3: not valid JSON"),
        ('{"question_id": 1, "answer": 2}\noops\n', "p.json, line 2: not valid JSON"),
        ('{"question_id": 1, "ans\n{"question_id": 2, "answer": 2}', "p.json, line 1: not valid JSON"),
        ("3", "expected a list of predictions or an object"),
        ("[{", "not valid JSON"),
    ],
)
def test_a_bad_file_is_named(text, sentence, tmp_path, refuses):
    path = tmp_path / "p.json"
    path.write_text(text)
    with refuses(sentence):
        build_model(f"predictions:{path}", ModelSetting())


def test_a_missing_file_is_named(tmp_path, refuses):
    with refuses("no such file of predictions"):
        build_model(f"predictions:{tmp_path / 'none.json'}", ModelSetting())
