"""Samples from files as they come: merged, wrapped or bare, with gaps and repetitions that are accounted for."""

import gzip
import json
import sys

import pytest

import audit_toys
from shiftscope.errors import UserError
from shiftscope.executor import LocalExecutor
from shiftscope.formats import read_question_table as read_vqa
from shiftscope.formats.gqa import read_question_table as read_gqa
from shiftscope.question_table import Remark
from shiftscope.shortcuts.audit import audit_shortcuts


@pytest.fixture
def files(tmp_path):
    """Write JSON under a name; a name that ends in .gz is gzipped."""

    def write(name, content):
        data = json.dumps(content, ensure_ascii=False).encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


def asked(number, text="Is it red?", image=1, **more):
    return {"question_id": number, "image_id": image, "question": text, **more}


def told(number, answer="yes", image=1, **more):
    return {"question_id": number, "image_id": image, "multiple_choice_answer": answer, **more}


def rows(samples):
    return list(
        zip(samples.ids, samples.images.to_list(), samples.texts.to_list(), samples.answers.to_list(), strict=True)
    )


def remarks(samples):
    return [(r.count, r.what, r.done, r.examples) for r in samples.remarks]


def test_questions_meet_their_annotations_in_the_order_of_the_questions(files):
    samples = read_vqa(
        [files("q.json", {"questions": [asked(9, "Why?", 3), asked(2)]})],
        [files("a.json", {"annotations": [told(2, "no", question_type="is it"), told(9, "rain", 3)]})],
    )
    assert rows(samples) == [(9, 3, "Why?", "rain"), (2, 1, "Is it red?", "no")]
    assert samples.types.to_list() == [None, "is it"]
    assert remarks(samples) == [(1, "questions without a type", "typed by their first words", (9,))]
    assert samples.splits is None
    assert samples.objects is None


def test_wrapped_and_bare_gzipped_and_plain_files_are_merged(files):
    samples = read_vqa(
        [
            files("train.gz", {"questions": [asked(1)], "data_subtype": "train2014"}),
            files("val.json", [asked(2, split="valid")]),
        ],
        [files("a.json", [told(2, "b")]), files("b.gz", {"annotations": [told(1, "a")]})],
    )
    assert samples.answers.to_list() == ["a", "b"]
    assert samples.splits.to_list() == ["train2014", "valid"]
    assert [f.name for f in samples.origin.files] == ["train.gz", "val.json", "a.json", "b.gz"]
    assert samples.origin.question.tolist() == [[0, 0], [1, 0]]
    assert samples.origin.annotation.tolist() == [[3, 0], [2, 0]]


def test_files_are_named_as_splits(files):
    samples = read_vqa(
        [files("q1.json", [asked(1)]), files("q2.json", [asked(2, split="valid")])],
        [files("a.json", [told(1), told(2)])],
        splits=("train", "test"),
    )
    assert samples.splits.to_list() == ["train", "test"]


def test_one_split_for_each_file(files, refuses):
    with refuses("1 questions files, but 2 splits are named"):
        read_vqa([files("q.json", [asked(1)])], [files("a.json", [told(1)])], splits=("train", "test"))


def test_what_has_no_counterpart_is_left_out_and_counted(files):
    samples = read_vqa(
        [files("q.json", [asked(1), asked(2), asked(3), {"question": "Who?", "image_id": 1}])],
        [files("a.json", [told(3), told(1), told(7), told(8), {"multiple_choice_answer": "x"}])],
    )
    assert samples.ids == (1, 3)
    assert remarks(samples)[:4] == [
        (1, "questions without an id", "left out", ()),
        (1, "questions without an annotation", "left out", (2,)),
        (1, "annotations without an id", "left out", ()),
        (2, "annotations without a question", "left out", (7, 8)),
    ]


def test_a_missing_answer_is_the_annotators_vote_or_the_sample_is_left_out(files):
    votes = [{"answer": a} for a in ("red", "blue", "red", "blue", "green")]
    samples = read_vqa(
        [files("q.json", [asked(1), asked(2), asked(3)])],
        [files("a.json", [{"question_id": 1, "answers": votes}, {"question_id": 2, "answers": []}, told(3, "no")])],
    )
    assert rows(samples) == [(1, 1, "Is it red?", "blue"), (3, 1, "Is it red?", "no")]
    assert remarks(samples)[:2] == [
        (1, "questions without an answer", "left out", (2,)),
        (1, "answers that no annotation names", "most annotators'", (1,)),
    ]


def test_missing_fields_of_a_question_are_kept_as_nothing(files):
    samples = read_vqa(
        [files("q.json", [{"question_id": 1}, {"question_id": 2, "question": 5, "image_id": 4}, asked(3, " ")])],
        [files("a.json", [told(1, image=6), told(2, 2, image=None), told(3, True, image=2)])],
    )
    assert rows(samples) == [(1, 6, "", "yes"), (2, 4, "", "2"), (3, 1, " ", "yes")]
    assert remarks(samples)[:2] == [
        (1, "questions annotated for another image", "kept with the question's image", (3,)),
        (3, "empty questions", "kept, without words", (1, 2, 3)),
    ]


def test_a_row_that_says_the_same_again_counts_once(files):
    samples = read_vqa(
        [files("q.json", [asked(1), asked(1), asked(2)])], [files("a.json", [told(1), told(2), told(2)])]
    )
    assert samples.ids == (1, 2)
    assert remarks(samples)[:2] == [
        (1, "questions that repeat another under its id", "counted once", (1,)),
        (1, "annotations that repeat another under its id", "counted once", (2,)),
    ]


def test_different_questions_under_one_id_are_all_kept(files):
    samples = read_vqa(
        [files("q.json", [asked(1, "A?", 5), asked(1, "B?", 6), asked(1, "C?", 7)])],
        [files("a.json", [told(1, "b", 6), told(1, "a", 5)])],
    )
    assert rows(samples) == [(1, 5, "A?", "a"), ("1#2", 6, "B?", "b")]
    assert remarks(samples)[:2] == [
        (1, "questions without an annotation", "left out", (1,)),
        (1, "questions under an id that another has", "kept as ID#2, ID#3, …", ("1#2",)),
    ]


def test_one_id_for_all_rows_takes_no_longer_than_an_id_each(files):
    many = 12_000
    samples = read_vqa(
        [files("q.json", [asked(1, f"{k}?", k % 7) for k in range(many)])],
        [files("a.json", [told(1, f"{k}", k % 7) for k in reversed(range(many))])],
    )
    assert samples.ids[:3] == (1, "1#2", "1#3")
    assert samples.ids[-1] == f"1#{many}"
    # Of the annotations, which come the other way round, each question takes the first left of its image.
    assert samples.answers.to_list()[:2] == [str(max(k for k in range(many) if k % 7 == i)) for i in (0, 1)]
    assert len(samples.origin.repaired) == many - 1


def test_an_image_that_one_side_does_not_name_may_be_any(files):
    samples = read_vqa(
        [files("q.json", [asked(1, "A?", 5), asked(1, "B?", None), asked(1, "C?", 6), asked(1, "D?", 8)])],
        [files("a.json", [told(1, "d", 9), told(1, "b", "6"), told(1, "a", None), told(1, "c", 6)])],
    )
    # A takes the one without an image, B the first of all, C its own, D what is left.
    assert rows(samples) == [
        *((1, 5, "A?", "a"), ("1#2", 9, "B?", "d")),
        *(("1#3", 6, "C?", "b"), ("1#4", 8, "D?", "c")),
    ]


def test_a_number_after_an_id_is_one_that_no_other_has(files):
    samples = read_vqa(
        [files("q.json", [asked("1", "A?"), asked("1#2", "B?"), asked("1", "C?"), asked("1", "D?")])],
        [files("a.json", [told("1", "a"), told("1#2", "b"), told("1", "c"), told("1", "d")])],
    )
    assert samples.ids == ("1", "1#2", "1#3", "1#4")


def test_types_of_one_s_own_are_kept_and_counted(files):
    samples = read_vqa(
        [files("q.json", [asked(1), asked(2)])],
        [files("a.json", [told(1, question_type="is it"), told(2, question_type="my type")])],
    )
    assert samples.types.to_list() == ["is it", "my type"]
    assert remarks(samples) == [(1, "questions of a type that VQA has not", "kept with it", (2,))]


def test_ids_as_numbers_and_as_text_are_the_same_ids(files):
    samples = read_vqa([files("q.json", [asked("12"), asked("x")])], [files("a.json", [told("x", "b"), told(12, "a")])])
    assert rows(samples) == [("12", 1, "Is it red?", "a"), ("x", 1, "Is it red?", "b")]
    assert samples.origin.repaired == frozenset()  # rows are written as they stand


def test_numbers_too_large_for_64_bits_are_ids_too(files):
    samples = read_vqa([files("q.json", [asked(2**80), asked(3)])], [files("a.json", [told(3, "b"), told(2**80, "a")])])
    assert samples.answers.to_list() == ["a", "b"]


def test_the_rows_of_an_odd_file_are_read_like_those_of_a_usual_one(files, tmp_path):
    questions, annotations, _ = audit_toys.write(tmp_path, audit_toys.dataset(50))
    odd = json.loads(annotations.read_text("utf-8"))
    odd.append("no row at all")
    usual, other = (read_vqa([questions], [annotations]), read_vqa([questions], [files("odd.json", odd)]))
    assert rows(usual) == rows(other)
    assert usual.types.to_list() == other.types.to_list()
    assert set(other.remarks) - set(usual.remarks) == {Remark("annotations without an id", "left out", 1)}


def test_without_msgspec_an_audit_says_how_to_install_it(tmp_path, monkeypatch, refuses):
    questions, annotations, _ = audit_toys.write(tmp_path, audit_toys.dataset(200))
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with refuses("an audit of JSON files needs msgspec; install it with: pip install msgspec"):
        read_vqa([questions], [annotations])


@pytest.mark.parametrize(
    ("questions", "annotations", "sentence"),
    [
        ("[]", "[]", "q.json: there are no questions in it"),
        ('{"questions": []}', "[]", "q.json: there are no questions in it"),
        ("3", "[]", "q.json: expected an object or a list at top level"),
        ('{"other": []}', "[]", "q.json: there is no 'questions' in it"),
        ("[{}", "[]", "q.json: not valid JSON, it ends too early"),
        ("", "[]", "q.json: not valid JSON, the file is empty"),
        ('[{"question_id": 1}]', "[]", "a.json: there are no annotations in it"),
        ('[{"question_id": 1}]', '{"annotations": 5}', "a.json: "),
        ('[{"question_id": 1}]', '[{"question_id": 2}]', "q.json: no question in it has an answer in"),
    ],
)
def test_a_file_that_can_not_be_used_is_refused_in_one_sentence(tmp_path, refuses, questions, annotations, sentence):
    (tmp_path / "q.json").write_text(questions)
    (tmp_path / "a.json").write_text(annotations)
    with refuses(sentence):
        read_vqa([tmp_path / "q.json"], [tmp_path / "a.json"])


def test_vqa_questions_need_annotations(files, refuses):
    with refuses("its answers are in another file; name it with --annotations"):
        read_vqa([files("q.json", {"questions": [asked(1)]})])


GQA = {
    "07": {
        "imageId": "5", "question": "Is it red?", "answer": "yes",
        "types": {"detailed": "attrV", "structural": "verify"}, "groups": {"local": "04-it", "global": None},
    },
    "08": {"imageId": "6", "question": "Who?", "answer": "boy", "types": {"structural": "query"}},
    "09": {"imageId": "6", "question": "Who?"},
}  # fmt: skip
GRAPHS = {
    "5": {"width": 4, "height": 3, "objects": {"1": {"name": "cup"}, "2": {"name": "boy"}, "3": {"name": "cup"}}},
    "77": {"objects": {"9": {"name": "car"}}},
}


def test_gqa_questions_with_their_scene_graphs(files):
    samples = read_vqa([files("q.json", GQA)], objects=[files("g.json", GRAPHS)])
    assert samples.source == "gqa"
    assert rows(samples) == [("07", "5", "Is it red?", "yes"), ("08", "6", "Who?", "boy")]
    assert samples.types.to_list() == ["attrV", "query"]
    assert samples.local.to_list() == ["04-it", None]
    assert samples.objects.kinds == ("boy", "car", "cup")
    assert samples.objects.at.tolist() == [0, 2, 2]
    assert samples.objects.codes.tolist() == [0, 2]
    assert samples.objects.known.tolist() == [True, False]
    assert remarks(samples) == [
        (1, "questions without an answer", "left out", ("09",)),
        (1, "questions about images that the object annotations do not name", "kept, in no group by objects", ("08",)),
    ]


def test_types_and_groups_of_gqa_that_are_not_words_are_left_out_and_counted(files):
    odd = {
        "1": {**GQA["07"], "types": "query"},
        "2": {**GQA["07"], "groups": ["x"]},
        "3": {**GQA["07"], "types": {"detailed": 5, "structural": "verify"}},
        "4": {**GQA["07"], "types": None, "groups": {}},
        "5": GQA["07"],
    }
    samples = read_gqa([files("q.json", odd)])
    assert samples.types.to_list() == [None, "attrV", "verify", None, "attrV"]
    assert samples.local.to_list() == ["04-it", None, "04-it", None, "04-it"]
    assert remarks(samples) == [
        (3, "questions whose types or groups are not words", "kept without them", ("1", "2", "3"))
    ]


def test_gqa_files_that_share_ids_are_merged(files):
    other = {"07": GQA["07"], "08": {**GQA["08"], "question": "Who else?"}}
    samples = read_gqa([files("q.json", GQA), files("r.json", other)], splits=("train", "val"))
    assert samples.ids == ("07", "08", "08#2")
    assert samples.splits.to_list() == ["train", "train", "val"]
    assert remarks(samples)[1:] == [
        (1, "questions that repeat another under its id", "counted once", ("07",)),
        (1, "questions under an id that another has", "kept as ID#2, ID#3, …", ("08#2",)),
    ]


def test_an_id_twice_in_one_gqa_file_is_refused(tmp_path, refuses):
    row = json.dumps(GQA["07"])
    (tmp_path / "q.json").write_text(f'{{"1": {row}, "1": {row}}}')
    with refuses("key '1' appears twice"):
        read_gqa([tmp_path / "q.json"])


def test_objects_of_several_coco_files(files):
    def coco(image, kinds):
        return {
            "images": [{"id": image}],
            "annotations": [{"id": k, "image_id": image, "category_id": k} for k, _ in enumerate(kinds)],
            "categories": [{"id": k, "name": name} for k, name in enumerate(kinds)],
        }

    samples = read_vqa(
        [files("q.json", [asked(1, image=5), asked(2, image=6), asked(3, image=9)])],
        [files("a.json", [told(1, image=5), told(2, image=6), told(3, image=9)])],
        [files("x.json", coco(6, ["tie", "dog"])), files("y.json", coco(5, ["dog", "dog", "cat"]))],
    )
    assert samples.objects.kinds == ("cat", "dog", "tie")
    assert samples.objects.codes.tolist() == [0, 1, 1, 2]
    assert samples.objects.at.tolist() == [0, 2, 4, 4]
    assert samples.objects.known.tolist() == [True, True, False]


def test_a_box_of_an_unknown_category_is_refused(files, refuses):
    bad = {"images": [{"id": 1}], "annotations": [{"id": 4, "image_id": 1, "category_id": 9}], "categories": []}
    with refuses("annotation 4 is of category 9, which is not among the categories"):
        read_vqa([files("q.json", [asked(1)])], [files("a.json", [told(1)])], [files("x.json", bad)])


def test_without_objects_the_language_shortcuts_are_labelled_and_the_others_said_to_be_missing(tmp_path, files):
    questions, annotations, _ = audit_toys.write(tmp_path, audit_toys.dataset(60))
    found = audit_shortcuts(read_vqa([questions], [annotations]))
    assert list(found.test) == ["QT", "KW", "KWP", "QT+KW"]
    assert dict(found.missing) == dict.fromkeys(
        ("KO", "KOP", "QT+KO", "KW+KO", "QT+KW+KO"), "no object annotations are given"
    )
    other = files("other.json", {"images": [{"id": 9999}], "annotations": [], "categories": []})
    found = audit_shortcuts(read_vqa([questions], [annotations], [other]))
    assert dict(found.missing)["KO"] == "the object annotations name none of the images"


def test_a_remark_reads_as_a_sentence():
    assert str(Remark("empty questions", "kept", 1200, (1, 2))) == "empty questions: 1,200, kept (1, 2, …)"
    assert str(Remark("questions without an id", "left out", 1)) == "questions without an id: 1, left out"


def test_rows_of_gqa_with_calls_are_samples_too(tmp_path):
    calls = ["[1]=select(sky)", "?=verify([0], dark)"]
    rows = [["7", "Is it dark?", calls, "q1", "yes"], ["8", "Is it?", calls, "q2"]]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    made = read_gqa([tmp_path / "rows.json"])
    assert (made.ids, made.answers.to_list(), made.local) == (("q1",), ["yes"], None)
    assert [str(r) for r in made.remarks] == ["questions without an answer: 1, left out (q2)"]


def test_large_files_of_objects_are_read_in_a_process_of_their_own(files, monkeypatch):
    objects = files(
        "o.json",
        {
            "images": [{"id": 1}, {"id": 3}],
            "annotations": [{"id": 7, "image_id": 3, "category_id": 2}, {"id": 8, "image_id": 1, "category_id": 2}],
            "categories": [{"id": 2, "name": "dog"}],
        },
    )
    questions = files("q.json", {"questions": [asked(9, image=3), asked(2)]})
    annotations = files("a.json", {"annotations": [told(9, image=3), told(2)]})
    monkeypatch.setattr("shiftscope.formats.LARGE_BYTES", 0)
    alone, aside = (read_vqa([questions], [annotations], [objects], executor=LocalExecutor(k)) for k in (1, 2))
    assert alone.objects.kinds == aside.objects.kinds == ("dog",)
    assert aside.objects.at.tolist() == alone.objects.at.tolist() == [0, 1, 2]
    objects.write_text("{")
    with pytest.raises(UserError, match=r"o\.json"):
        read_vqa([questions], [annotations], [objects], executor=LocalExecutor(2))
