"""VQA v2 and VQA-VS files: joined by id, counted where they do not match, given back as they were read."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from shiftscope.errors import UserError
from shiftscope.formats import vqa
from shiftscope.question import Provenance, Question
from sniffed import sniffed

WORDS = ["2", "2", "2", "two", "2", "2", "3", "2", "2", "2"]


def question(number: int, image: int = 25, **more: Any) -> dict[str, Any]:
    return {"question_id": number, "image_id": image, "question": "How many giraffes?", **more}


def annotation(number: int, image: int = 25, **more: Any) -> dict[str, Any]:
    return {
        "question_id": number,
        "image_id": image,
        "question_type": "how many",
        "answer_type": "number",
        "multiple_choice_answer": "2",
        "answers": [
            {"answer": a, "answer_confidence": "yes" if a == "2" else "maybe", "answer_id": k}
            for k, a in enumerate(WORDS, 1)
        ],
        **more,
    }


def put(folder: Path, name: str, data: Any) -> Path:
    path = folder / name
    text = json.dumps(data).encode()
    path.write_bytes(gzip.compress(text) if name.endswith("zip") else text)
    return path


def test_question_carries_what_annotators_said(tmp_path: Path) -> None:
    questions = put(tmp_path, "q.json", {"info": {}, "questions": [question(250)]})
    annotations = put(tmp_path, "a.json", {"annotations": [annotation(250)]})
    assert vqa.read_joined(questions, annotations).questions == (
        Question(
            id="250",
            text="How many giraffes?",
            scenes=("25",),
            answer="2",
            answers=tuple(WORDS),
            kind="how many",
            provenance=Provenance("vqa"),
            notes=(("answer_type", "number"), ("answer_confidence", "yes yes yes maybe yes yes maybe yes yes yes")),
        ),
    )


def test_what_has_no_counterpart_is_counted(tmp_path: Path) -> None:
    questions = put(tmp_path, "q.json", [question(1), question(2), question(3)])
    annotations = put(tmp_path, "a.json", [annotation(2), annotation(7)])
    joined = vqa.read_joined(questions, annotations)
    assert [q.answer for q in joined.questions] == [None, "2", None]
    assert joined.without_annotation == ("1", "3")
    assert joined.without_question == ("7",)


@pytest.mark.parametrize("name", ["q.json", "q.gzip"])
@pytest.mark.parametrize("header", [None, {}, {"info": {"version": "2.0"}, "task_type": "Open-Ended"}])
def test_files_come_back_as_read(tmp_path: Path, name: str, header: dict[str, Any] | None) -> None:
    asked = [question(1, split="test"), question(2, 26, split="test")]
    odd = annotation(2, 26, split="test") | {"answers": [{"answer": "no", "raw_answer": "No.", "answer_id": 9}]}
    said = [annotation(1, split="test"), odd]
    questions = put(tmp_path, name, asked if header is None else header | {"questions": asked})
    annotations = put(tmp_path, "a" + name, said if header is None else header | {"annotations": said})
    joined = vqa.read_joined(questions, annotations)
    assert joined.questions[0].provenance.split == "test"
    assert vqa.read_header(questions) == header
    vqa.write_questions(tmp_path / "new_q.json", joined.questions, vqa.read_header(questions))
    vqa.write_annotations(tmp_path / "new_a.json", joined.questions, vqa.read_header(annotations))
    assert json.loads((tmp_path / "new_q.json").read_text()) == (
        asked if header is None else header | {"questions": asked}
    )
    assert json.loads((tmp_path / "new_a.json").read_text()) == (
        said if header is None else header | {"annotations": said}
    )


def test_ids_written_as_text_stay_text(tmp_path: Path) -> None:
    asked = [question(1) | {"question_id": "1", "image_id": "abc"}]
    joined = vqa.read_joined(put(tmp_path, "q.json", asked))
    assert joined.questions[0].scenes == ("abc",)
    assert [vqa.format_question(q) for q in joined.questions] == asked


def test_families_are_told_apart() -> None:
    assert vqa.sniff_questions(sniffed({"questions": [question(1)]}))
    assert vqa.sniff_questions(sniffed([question(1)]))
    assert vqa.sniff_annotations(sniffed([annotation(1)]))
    assert not vqa.sniff_questions(sniffed([annotation(1)]))
    assert not vqa.sniff_questions(sniffed({"questions": [{"question": "?", "image_index": 0}]}))
    assert not vqa.sniff_questions(sniffed([]))


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("", "not valid JSON, the file is empty"),
        ('{"questions": [{"question_id": 1, ', "it ends too early"),
        ('"questions"', "expected an object or a list at top level"),
        ('{"answers": []}', "there is no 'questions' in it"),
        ("[]", "there are no questions in it"),
        ('[{"question_id": 1, "image_id": 2}]', "question 0 is malformed: there is no 'question' in it"),
        ("[5]", "question 0 is malformed: expected an object, got int"),
        (json.dumps([question(1) | {"question": 5}]), "question 0: its question must be text, not 5"),
        (json.dumps([question(1), question(1)]), "question 1 appears twice"),
        (json.dumps([question(1) | {"question_id": None}]), "its question_id must be a number or text, not None"),
    ],
)
def test_malformed_file_is_one_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "q.json"
    path.write_text(content)
    with pytest.raises(UserError) as error:
        list(vqa.read_questions(path))
    assert str(error.value).startswith(str(path))
    assert sentence in str(error.value)


@pytest.mark.parametrize("answers", [5, [{"answer": 3}], ["yes"], [{"answer_id": 1}]])
def test_malformed_answers_are_refused(tmp_path: Path, answers: Any) -> None:
    path = put(tmp_path, "a.json", [annotation(1) | {"answers": answers}])
    with pytest.raises(UserError, match="annotation 0 is malformed"):
        list(vqa.read_annotations(path))


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        vqa.read_joined(tmp_path / "none.json")


def test_annotation_of_another_image_is_refused(tmp_path: Path) -> None:
    questions = put(tmp_path, "q.json", [question(1, 25)])
    annotations = put(tmp_path, "a.json", [annotation(1, 26)])
    with pytest.raises(UserError, match="question 1 is annotated for image 26 but asks about image 25"):
        vqa.read_joined(questions, annotations)
