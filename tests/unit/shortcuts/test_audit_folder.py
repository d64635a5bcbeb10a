"""The files an audit writes: names, rows as they were, repairs, and marks that cut a run into OOD sets."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from shiftscope.errors import UserError
from shiftscope.formats import read_question_table as read_vqa
from shiftscope.formats import vqa
from shiftscope.formats.gqa import read_question_table as read_gqa
from shiftscope.formats.vqa import read_annotator_answers
from shiftscope.question_table import SampleSet
from shiftscope.result import Prediction, QuestionRecord, records_of
from shiftscope.shift.vqa_vs import build_audit_sets
from shiftscope.shortcuts.audit import AuditSettings, audit_shortcuts
from shiftscope.shortcuts.audit_folder import AUDIT_FILE, add_marks, set_file, write_marks, write_sets


def put(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return path


def asked(k: int, text: str, image: int = 1) -> dict[str, object]:
    return {"question_id": k, "image_id": image, "question": text, "extra": [k]}


def told(k: int, answer: str | None, image: int = 1) -> dict[str, object]:
    answers = [{"answer": answer or "red", "answer_id": 1}]
    row: dict[str, object] = {"question_id": k, "image_id": image, "question_type": "what", "answers": answers}
    return row if answer is None else row | {"multiple_choice_answer": answer}


def read_ids(folder: Path, name: str) -> list[int]:
    return [row["question_id"] for row in json.loads(set_file(folder, name, "Ques").read_text("utf-8"))]


def test_a_set_lies_where_vqa_vs_puts_it() -> None:
    assert set_file(Path("d"), "IID-Test", "Ans") == Path("d/IID-Test/IID-Test-Ans.json")
    assert set_file(Path("d"), "OOD-Test/QT+KW", "Ques") == Path("d/OOD-Test/QT+KW/OOD-Test-QT+KW-Ques.json")


def test_rows_are_copied_with_all_their_fields(tmp_path: Path) -> None:
    questions = [asked(1, "what é <b>?"), asked(2, "what is it?")]
    answers = [told(2, "cat"), told(1, "dog")]
    samples = read_vqa([put(tmp_path / "q.json", questions)], [put(tmp_path / "a.json", answers)])
    write_sets(samples, [SampleSet("OOD-Test/QT", np.array([1]))], tmp_path / "out")
    folder = tmp_path / "out"
    assert json.loads(set_file(folder, "OOD-Test/QT", "Ques").read_text("utf-8")) == [questions[1]]
    assert json.loads(set_file(folder, "OOD-Test/QT", "Ans").read_text("utf-8")) == [answers[0]]
    assert read_ids(folder, "OOD-Test/QT") == [2]


def test_what_was_repaired_is_written_as_it_now_is(tmp_path: Path) -> None:
    questions = [asked(1, "what is it?"), asked(1, "what else?", image=2), asked(3, "what now?")]
    answers = [told(1, "cat"), told(1, "dog", image=2), told(3, None)]
    samples = read_vqa([put(tmp_path / "q.json", questions)], [put(tmp_path / "a.json", answers)])
    write_sets(samples, [SampleSet("Training", np.arange(3))], tmp_path)
    written = json.loads(set_file(tmp_path, "Training", "Ques").read_text())
    assert [row["question_id"] for row in written] == [1, "1#2", 3]
    assert [row["extra"] for row in written] == [[1], [1], [3]]
    given = json.loads(set_file(tmp_path, "Training", "Ans").read_text())
    assert [(row["question_id"], row["multiple_choice_answer"]) for row in given] == [
        (1, "cat"),
        ("1#2", "dog"),
        (3, "red"),
    ]


def written(tmp_path: Path, questions: list[object], answers: list[object]) -> list[vqa.Question]:
    """What the strict reader of VQA files reads of a set with all samples."""
    samples = read_vqa([put(tmp_path / "q.json", questions)], [put(tmp_path / "a.json", answers)])
    write_sets(samples, [SampleSet("Training", np.arange(len(samples)))], tmp_path)
    made = vqa.read_joined(set_file(tmp_path, "Training", "Ques"), set_file(tmp_path, "Training", "Ans"))
    assert (made.without_annotation, made.without_question) == ((), ())
    return list(made.questions)


ODD_QUESTIONS = {
    "no question": {"question_id": 1, "image_id": 1},
    "no image": {"question_id": 1, "question": "what?"},
    "a null question": {"question_id": 1, "image_id": 1, "question": None},
    "another image": {"question_id": 1, "image_id": 5, "question": "what?"},
    "an empty image": {"question_id": 1, "image_id": "", "question": "what?"},
}
ODD_ANSWERS: dict[str, tuple[dict[str, object], str, tuple[str, ...]]] = {
    # what is odd: the fields, the answer and the annotators' answers that are written
    "no type": ({"question_type": None}, "cat", ("cat",)),
    "no answers": ({"answers": None}, "cat", ()),
    "one answer as text": ({"answers": "yes"}, "cat", ()),
    "answers as text": ({"answers": ["cat", "cat", 2]}, "cat", ("cat", "cat", "2")),
    "a nameless answer": ({"answers": [{"answer": "cat"}, {"answer_id": 2}]}, "cat", ("cat",)),
    "a number": ({"multiple_choice_answer": 3}, "3", ("cat",)),
    "an odd kind of answer": ({"answer_type": 7}, "cat", ("cat",)),
    "no image": ({"image_id": None}, "cat", ("cat",)),
}


@pytest.mark.parametrize("row", ODD_QUESTIONS.values(), ids=ODD_QUESTIONS)
def test_an_odd_question_is_written_complete(tmp_path: Path, row: object) -> None:
    made = written(tmp_path, [asked(0, "what now?"), row], [told(0, "dog"), told(1, "cat")])
    assert [(q.id, q.answer) for q in made] == [("0", "dog"), ("1", "cat")]
    assert made[1].text in ("what?", "")
    assert made[1].scenes in (("1",), ("5",))


@pytest.mark.parametrize("odd", ODD_ANSWERS)
def test_an_odd_annotation_is_written_complete(tmp_path: Path, odd: str) -> None:
    fields, answer, answers = ODD_ANSWERS[odd]
    questions = [asked(0, "what now?"), asked(1, "what?")]
    made = written(tmp_path, questions, [told(0, "dog"), told(1, "cat") | fields])
    assert [(q.answer, q.answers) for q in made] == [("dog", ("dog",)), (answer, answers)]


def test_a_sample_without_an_image_gets_a_name_in_its_place(tmp_path: Path) -> None:
    row = {"question_id": 7, "question": "what?"}
    (made,) = written(tmp_path, [row], [{"question_id": 7, "multiple_choice_answer": "cat"}])
    assert (made.scenes, made.kind, made.answers) == (("question 7",), "", ())


def test_a_file_with_questions_and_annotations_gives_each_where_it_belongs(tmp_path: Path) -> None:
    both = tmp_path / "both.json"
    both.write_text(json.dumps({"questions": [asked(1, "what?")], "annotations": [told(1, "cat")]}))
    samples = read_vqa([both], [both])
    write_sets(samples, [SampleSet("Training", np.arange(1))], tmp_path)
    assert json.loads(set_file(tmp_path, "Training", "Ans").read_text()) == [told(1, "cat")]
    assert read_annotator_answers(samples, np.arange(1)) == [("cat",)]


def test_questions_with_one_answer_are_written_without_annotators(tmp_path: Path) -> None:
    row = {"imageId": "5", "question": "what?", "answer": "cat", "types": {"detailed": "query"}}
    (tmp_path / "g.json").write_text(json.dumps({"07": row, "08": {**row, "imageId": ""}}))
    write_sets(read_gqa([tmp_path / "g.json"]), [SampleSet("Training", np.arange(2))], tmp_path)
    made = vqa.read_joined(set_file(tmp_path, "Training", "Ques"), set_file(tmp_path, "Training", "Ans")).questions
    assert [(q.id, q.scenes, q.answer, q.answers) for q in made] == [
        ("07", ("5",), "cat", ()),
        ("08", ("question 08",), "cat", ()),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 questions of one type: 9 in 10 are answered yes."""
    out = tmp_path_factory.mktemp("audit")
    questions = [asked(k, f"is the w{k % 7} here?", image=k) for k in range(200)]
    answers = [told(k, "no" if k % 10 == 0 else "yes", image=k) for k in range(200)]
    samples = read_vqa([put(out / "q.json", questions)], [put(out / "a.json", answers)])
    found = audit_shortcuts(samples)
    write_sets(samples, build_audit_sets(found), out)
    write_marks(found, out)
    (out / AUDIT_FILE).write_text("{}")
    return out


def test_marks_name_the_rows_of_the_ood_set(folder: Path) -> None:
    ids = read_ids(folder, "IID-Test")
    records = add_marks(
        records_of([(QuestionRecord(str(k), truth="yes"), Prediction(str(k), "yes")) for k in ids]), folder
    )
    tail = dict(records.facts)["QT"].equals("tail")
    assert [k for k, inside in zip(ids, tail, strict=True) if inside] == read_ids(folder, "OOD-Test/QT")
    assert {k % 10 for k in read_ids(folder, "OOD-Test/QT")} == {0}


def test_marks_of_other_questions_are_refused(folder: Path, tmp_path: Path) -> None:
    records = records_of([(QuestionRecord("x", truth="yes"), Prediction("x", "yes"))])
    with pytest.raises(UserError, match="the audit has none of the questions that were asked"):
        add_marks(records, folder)
    with pytest.raises(UserError, match=r"no audit there \(no audit.json\)"):
        add_marks(records, tmp_path)


def test_marks_know_the_split_of_every_row(folder: Path) -> None:
    ids = [*read_ids(folder, "Val"), *read_ids(folder, "IID-Test"), 999]
    records = add_marks(
        records_of([(QuestionRecord(str(k), truth="yes"), Prediction(str(k), "yes")) for k in ids]), folder
    )
    assert records.column("audit_split").to_list() == ["val"] * 10 + ["test"] * 50 + [None]


def test_marks_name_the_concepts_as_labels_do(tmp_path: Path) -> None:
    words = ("none", "dog", "")
    questions = [asked(k, f"what {words[k % 3]}?", image=k) for k in range(30)]
    answers = [told(k, "cat" if k % 4 else "no", image=k) for k in range(30)]
    samples = read_vqa([put(tmp_path / "q.json", questions)], [put(tmp_path / "a.json", answers)])
    found = audit_shortcuts(samples, AuditSettings(seed=1, pairs="any"))
    write_marks(found, tmp_path)
    table = pq.read_table(tmp_path / "marks.parquet")
    for shortcut, labels in found.labels.items():
        assert table[f"{shortcut} concept"].to_pylist() == [labels.name(int(c)) for c in labels.codes]
    assert table["QT+KW concept"].to_pylist()[:3] == ["what + none", "what + dog", "what + none"]
