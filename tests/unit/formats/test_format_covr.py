"""COVR's questions become records and the same lines again."""

import gzip
import json

import pytest

from covr_rows import quantified, rows
from graphs import graph
from shiftscope import formats as _any
from shiftscope.formats import covr
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import format_program
from shiftscope.question import Provenance
from shiftscope.run.answer import SceneLookup, answer
from shiftscope.schemas import clevr
from sniffed import sniffed

RELEASED = [
    {
        "qid": "val_7",
        "utterance": "All dogs are white",
        "rephrase": "Every dog is white.",
        "scenes": ["61", "62"],
        "program": [*rows("find dog"), *quantified("all", [], rows("scene", "filter white [0]"), 0)],
        "answer": False,
        "pattern_name": "quantifier",
        "properties": ["has_quantifier", "has_quantifier_all"],
    },
    {
        "qid": "val_8",
        "utterance": "How many images contain exactly 1 dog?",
        "scenes": ["62", "61"],
        "program": rows("find dog", "group_by_images [0]", "keep_if_values_count_eq 1 [1]", "keys [2]", "count [3]"),
        "answer": 1,
        "pattern_name": "count_ref_group_by",
        "properties": [],
    },
]  # fmt: skip
GENERATED = [
    {
        "question": "Is the dog that is near a ball black or white?",
        "scenes": [61],
        "answer": "black",
        "pattern_index": 11,
        "pattern_name": "choose_attr",
        "sub_graphs": [[["dog", ["black"]], ["near"], ["ball", []]]],
        "program": rows("find ball", "find dog", "with_relation near [1, 0]", "unique [2]", "choose_attr black, white [3]"),
        "ref_text": "dog near ball",
        "starting_scene_id": "61",
        "sub_graph_info": {"length": 3, "depth": 3, "attributes": 1},
        "qid": 12,
    },
    {"question": "Is there a cat?", "scenes": ["61"], "answer": "False", "pattern_name": "", "program": rows("find cat", "exists [0]"), "qid": 13},
]  # fmt: skip
COMPOSITIONAL = [
    {
        "qid": "a",
        "utterance": "No dogs are white",
        "scenes": ["61"],
        "program": [
            *rows("find dog"),
            *quantified("map", ["or"], rows("scene", "filter attr, white [0]"), 0),
            *rows("logic_not [1]"),
        ],
        "answer": False,
    },
    {"qid": "b", "utterance": "Are there cats?", "scenes": ["61"]},
]
GRAPHS = (graph("61", "black dog, white dog, red ball", "0 near 2"), graph("62", "white dog"))


def lines(questions) -> str:
    return "".join(json.dumps(q) + "\n" for q in questions)


@pytest.fixture
def put(tmp_path):
    def put(text, name="covr.jsonl"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return put


def test_a_released_question_becomes_a_record(put):
    first, second = covr.read_questions(put(lines(RELEASED)))
    assert (first.id, first.text, first.scenes) == ("val_7", "All dogs are white", ("61", "62"))
    assert first.answer is False
    assert first.provenance == Provenance("covr", template="quantifier")
    assert format_program(first.program) == "all(find(dog), verify(it(), attribute=white))"
    assert first.note("rephrase") == "Every dog is white."
    assert second.note("properties") == []
    assert format_program(second.program) == "count(keys(keep(group(find(dog)), equal, 1)))"


@pytest.mark.parametrize("questions", [RELEASED, GENERATED, COMPOSITIONAL], ids=["release", "generator", "clf"])
def test_questions_are_written_as_they_were_read(put, questions, tmp_path):
    read = list(covr.read_questions(put(lines(questions))))
    out = tmp_path / "out.jsonl"
    covr.write_questions(out, read)
    written = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert written == [{k: v for k, v in q.items() if v != ""} for q in questions]
    assert list(covr.read_questions(out)) == read


def test_a_list_and_a_gzipped_file_are_read_alike(put, tmp_path):
    read = list(covr.read_questions(put(lines(RELEASED))))
    assert list(covr.read_questions(put(json.dumps(RELEASED, indent=1), "list.json"))) == read
    zipped = tmp_path / "covr.jsonl.gz"
    covr.write_questions(zipped, read)
    assert gzip.decompress(zipped.read_bytes()).count(b"\n") == 2
    assert list(covr.read_questions(zipped)) == read


def test_the_file_is_recognised_and_answered_on_its_graphs(put):
    for questions in (RELEASED, GENERATED, COMPOSITIONAL[:1]):
        found = list(answer(_any.read_questions(put(lines(questions))), SceneLookup(GRAPHS)))
        assert [one.verdict for one in found] == ["agree"] * len(questions)
    assert _any.read_questions(put(json.dumps(RELEASED), "list.json"))


def test_a_closed_vocabulary_tells_which_attribute_a_word_is_of(put):
    path = put(lines([RELEASED[0] | {"program": rows("scene", "filter red [0]", "count [1]")}]))
    (question,) = covr.read_questions(path, clevr.SCHEMA)
    assert format_program(question.program) == "count(filter(scene(), color=red))"


def test_other_files_are_not_taken_for_covr():
    assert not covr.sniff_questions(sniffed(b'{"questions": [{"qid": 1, "scenes": []}]}'))
    assert not covr.sniff_questions(sniffed(b'[{"question_id": 1, "image_id": 2, "question": "?"}]'))
    assert not covr.sniff_questions(sniffed(b'{"qid": '))
    assert not covr.sniff_questions(sniffed(b"[" * 100_000 + b'"qid"'))
    assert not covr.sniff_questions(sniffed(b""))
    assert covr.sniff_questions(sniffed(lines(GENERATED).encode()))


FIRST = RELEASED[0]


@pytest.mark.parametrize(
    "text, complaint",
    [
        (lines([FIRST, FIRST]), "question val_7 appears twice"),
        (lines([FIRST]) + '{"qid": ', "line 2: not valid JSON"),
        (lines([FIRST]) + "[]\n", "line 2: expected an object with qid, utterance and scenes"),
        (lines([FIRST | {"qid": None}]), "line 1: its qid must be text or a number, not None"),
        (lines([{k: v for k, v in FIRST.items() if k != "scenes"}]), "line 1 is malformed: there is no 'scenes' in it"),
        (lines([FIRST | {"scenes": "61"}]), "line 1: its scenes must be a list of images"),
        (lines([FIRST | {"utterance": 3}]), "line 1: its utterance must be text"),
        (lines([FIRST | {"pattern_name": 3}]), "line 1: its pattern_name must be text"),
        (lines([FIRST | {"answer": [1]}]), "line 1: an answer must be true or false"),
        (lines([FIRST | {"program": rows("fnd dog")}]), "line 1: row 0: unknown op 'fnd' in COVR; did you mean 'find'?"),
        (lines([FIRST | {"program": {}}]), "line 1: a program: expected a list of rows, got {}"),
        (json.dumps([FIRST, 3]), "question 1: expected an object with qid"),
        ("\n\n", "there are no questions in it"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_in_one_sentence(put, refuses, text, complaint):
    path = put(text)
    with refuses(f"{path}: {complaint}"):
        list(covr.read_questions(path))


def test_programs_run_over_several_images(put):
    first, second = covr.read_questions(put(lines(RELEASED)))
    assert execute(first.program, GRAPHS).answer is False
    assert execute(first.program, GRAPHS[1:]).answer is True
    assert execute(second.program, GRAPHS).answer == 1
