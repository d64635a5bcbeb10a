"""Question, Prediction, Asked, Records: JSON both ways, content ids, columns."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.columns import column_of
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.result import Prediction, QuestionRecord, build_question_record, records_of

ASKED = Question(
    id="17",
    text="How many red things are there?",
    scenes=("a", "b"),
    program=parse_program("count(filter(scene(), color=red))"),
    answer=2,
    answers=("2", "two"),
    kind="count",
    action="Remove the cube.",
    provenance=Provenance("clevr", "val", "zero_hop.json", 3),
    notes=(("image_index", 4),),
)


@pytest.mark.parametrize("question", [ASKED, Question("1", "Why?", ("x",)), replace(ASKED, answer=False)])
def test_a_question_goes_through_json(question):
    assert Question.from_json(json.loads(json.dumps(question.to_json()))) == question


def test_a_false_answer_is_not_no_answer():
    assert replace(ASKED, answer=False).to_json()["answer"] is False
    assert "answer" not in replace(ASKED, answer=None).to_json()


def test_a_questions_content_id_is_of_what_is_asked():
    assert replace(ASKED, id="18", notes=()).content_id() == ASKED.content_id()
    assert replace(ASKED, answer=3).content_id() != ASKED.content_id()


def test_a_prediction_is_answered_or_says_why_not():
    with pytest.raises(ValueError, match="does not go with answer None"):
        Prediction("1")
    with pytest.raises(ValueError, match="does not go with answer 3"):
        Prediction("1", answer=3, status="failed")
    with pytest.raises(ValueError, match="not one of"):
        Prediction("1", status="odd")
    with pytest.raises(ValueError, match="not a probability"):
        Prediction("1", answer=3, confidence=1.5)


def test_what_scoring_needs_of_a_question():
    asked = build_question_record(ASKED, twin="16", facts=(("factor", "visual"), ("level", "hard")))
    assert (asked.question, asked.scenes, asked.truth, asked.answers) == ("17", ("a", "b"), 2, ("2", "two"))
    assert (asked.twin, asked.program) == ("16", "count(filter(scene(), color=red))")
    assert dict(asked.facts) == {
        "kind": "count", "template": "zero_hop.json", "family": 3, "split": "val", "length": 6, "steps": 3,
        "images": 2, "factor": "visual", "level": "hard",
    }  # fmt: skip
    assert dict(build_question_record(Question("1", "Why?", ("x",))).facts) == {"length": 1, "images": 1}
    assert dict(build_question_record(replace(ASKED, provenance=Provenance(family=0))).facts)["family"] == 0


def test_columns_tell_types_apart():
    column = column_of([1, True, "1", None, 1.0, 1])
    assert column.to_list() == [1, True, "1", None, 1.0, 1]
    assert column.codes.tolist() == [0, 1, 2, -1, 3, 0]
    assert column.equals(1).tolist() == [True, False, False, False, False, True]
    assert column[3] is None


def test_rows_are_taken_with_their_annotators():
    rows = [(QuestionRecord(str(k), answers=("x",) * k), Prediction(str(k), "x")) for k in range(4)]
    records = records_of([*rows, (QuestionRecord("4", truth="y"), None)])
    assert records.status.to_list() == ["answered"] * 4 + ["missing"]
    assert records.answers.at.tolist() == [0, 0, 1, 3, 6, 6]
    taken = records.take(records.column("status").equals("answered")).take(np.array([3, 0, 1]))
    assert taken.question.to_list() == ["3", "0", "1"]
    assert taken.answers.at.tolist() == [0, 3, 3, 4]
    with pytest.raises(ValueError, match="the prediction for 2 is not of question 1"):
        records_of([(QuestionRecord("1"), Prediction("2", "x"))])


def test_records_travel_between_processes_whole():
    question = pickle.loads(pickle.dumps(ASKED))
    assert question == ASKED and question.notes == ASKED.notes
    assert question.program.nodes[0] is ASKED.program.nodes[0]
