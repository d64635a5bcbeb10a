"""VQA-CP v2 files: bare lists whose rows name the COCO split of their image."""

import json

import pytest

from shiftscope.formats import read_question_table as read_vqa
from shiftscope.formats import read_questions, vqa, vqa_cp
from sniffed import sniffed

QUESTION = {"coco_split": "train2014", "image_id": 33, "question": "Is it red?", "question_id": 33001}
ANNOTATION = {
    "question_id": 33001,
    "image_id": 33,
    "question_type": "is it",
    "answer_type": "yes/no",
    "multiple_choice_answer": "yes",
    "answers": [{"answer": "yes", "answer_confidence": "maybe", "answer_id": 1}],
    "coco_split": "train2014",
}


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "questions.json", tmp_path / "annotations.json"
    for path, row in zip(paths, (QUESTION, ANNOTATION), strict=True):
        path.write_text(json.dumps([row]))
    return paths


def test_a_file_is_known_by_its_rows(files):
    (question,) = read_questions(files[0])
    assert (question.id, question.answer, question.scenes) == ("33001", None, ("33",))
    assert (question.provenance.source, question.note("coco_split")) == ("vqa_cp", "train2014")


def test_what_was_read_can_be_written_again(files, tmp_path):
    vqa.write_questions(tmp_path / "q.json", vqa_cp.read_questions(files[0]))
    assert json.loads((tmp_path / "q.json").read_text()) == [QUESTION]


def test_only_files_with_coco_splits_are_of_this_family():
    plain = {k: v for k, v in QUESTION.items() if k != "coco_split"}
    assert vqa_cp.sniff_questions(sniffed([QUESTION]))
    assert not vqa_cp.sniff_questions(sniffed([plain]))
    assert not vqa_cp.sniff_questions(sniffed({"questions": [QUESTION]}))


def test_a_question_without_its_coco_split_is_refused(tmp_path, refuses):
    (tmp_path / "q.json").write_text(json.dumps([{"image_id": 1, "question": "Who?", "question_id": 5}]))
    with refuses("question 5 does not say which COCO split its image is from"):
        list(vqa_cp.read_questions(tmp_path / "q.json"))


def test_its_files_can_be_audited(files):
    samples = read_vqa([files[0]], [files[1]], splits=("train",))
    assert (samples.ids, samples.splits.to_list()) == ((33001,), ["train"])
