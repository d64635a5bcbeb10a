"""GQA's graphs and questions become records and the same files again."""

import json
from pathlib import Path

import pytest

from shiftscope.errors import UserError
from shiftscope.formats import gqa
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import format_program
from shiftscope.scene import Relation
from sniffed import sniffed

GRAPHS = {
    "61": {
        "width": 300,
        "height": 300,
        "location": "indoors",
        "objects": {
            "10": {
                "name": "cup",
                "x": 10,
                "y": 20,
                "w": 30,
                "h": 40,
                "attributes": ["red", "small"],
                "relations": [{"name": "on", "object": "11"}, {"name": "near", "object": "12"}],
            },
            "11": {"name": "table", "x": 0, "y": 200, "w": 300, "h": 100, "attributes": ["wood"], "relations": []},
            "12": {
                "name": "people",
                "x": 200,
                "y": 100,
                "w": 50,
                "h": 100,
                "attributes": [],
                "relations": [{"name": "near", "object": "10"}],
            },
        },
    },
    "62": {"width": 20, "height": 10, "weather": "rainy", "objects": {}},
}
QUESTIONS = {
    "0001": {
        "imageId": "61",
        "question": "What is on the table?",
        "answer": "cup",
        "fullAnswer": "The cup is on the table.",
        "isBalanced": True,
        "groups": {"global": None, "local": "10-table_on,s"},
        "types": {"detailed": "relS", "semantic": "rel", "structural": "query"},
        "annotations": {"question": {"4": "11"}, "answer": {"0": "10"}, "fullAnswer": {"1": "10"}},
        "semantic": [
            {"operation": "select", "dependencies": [], "argument": "table (11)"},
            {"operation": "relate", "dependencies": [0], "argument": "_,on,s (10)"},
            {"operation": "query", "dependencies": [1], "argument": "name"},
        ],
        "semanticStr": "select: table (11)->relate: _,on,s (10) [0]->query: name [1]",
        "entailed": ["0002"],
        "equivalent": ["0001"],
    },
    "0002": {"imageId": "62", "question": "Is it raining?", "isBalanced": False},
}
ROWS = [
    [
        "61",
        "Is the cup red?",
        ["[10]=select(cup)", "?=verify([0], red)"],
        "0003",
        "yes",
        "Yes, the cup is red.",
        ["select", "(", "cup", ")", ";", "verify", "(", "[0]", ",", "red", ")"],
        {"question": {"2": "10"}, "answer": {}, "fullAnswer": {"2": "10"}},
    ]
]


def stored(folder: Path, value: object) -> Path:
    path = folder / "file.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def refusal(read, path: Path) -> str:
    with pytest.raises(UserError) as caught:
        list(read(path))
    return str(caught.value).replace(str(path), "FILE")


def test_a_graph_becomes_a_scene(tmp_path):
    room, rain = gqa.read_scenes(stored(tmp_path, GRAPHS))
    cup, table, people = room.objects
    assert (room.id, room.size, room.attributes) == ("61", (300, 300), (("location", "indoors"),))
    assert (cup.id, cup.box) == ("10", (10, 20, 30, 40))
    assert cup.attributes == (
        ("name", "cup"),
        ("attribute", "red"),
        ("attribute", "small"),
        ("hposition", "left"),
        ("vposition", "top"),
    )
    assert table.values("vposition") == ("bottom",)
    assert people.values("hposition") == ("right",)
    assert people.values("vposition") == ("middle",)
    assert room.relations == (Relation("on", (0, 0b001, 0)), Relation("near", (0b100, 0, 0b001)))
    assert (rain.objects, rain.attributes) == ((), (("weather", "rainy"),))


def test_graphs_are_written_as_they_were_read(tmp_path):
    scenes = list(gqa.read_scenes(stored(tmp_path, GRAPHS)))
    gqa.write_scenes(tmp_path / "again.json", scenes)
    assert json.loads((tmp_path / "again.json").read_text()) == GRAPHS


def test_relations_may_come_as_a_dict(tmp_path):
    graph = json.loads(json.dumps(GRAPHS))
    for o in graph["61"]["objects"].values():
        o["relations"] = {str(i): relation for i, relation in enumerate(o["relations"])}
    assert list(gqa.read_scenes(stored(tmp_path, graph))) == list(gqa.read_scenes(stored(tmp_path, GRAPHS)))


def test_questions_carry_their_program_and_are_written_as_they_were_read(tmp_path):
    asked, untold = gqa.read_questions(stored(tmp_path, QUESTIONS))
    assert (asked.id, asked.scenes, asked.answer, asked.kind) == ("0001", ("61",), "cup", "query")
    assert format_program(asked.program) == "query(unique(related(find(table), on)), name)"
    assert (untold.program, untold.answer, untold.kind) == (None, None, "")
    gqa.write_questions(tmp_path / "again.json", [asked, untold])
    assert json.loads((tmp_path / "again.json").read_text()) == QUESTIONS


def test_a_line_that_differs_from_its_list_is_kept(tmp_path):
    odd = {"0001": QUESTIONS["0001"] | {"semanticStr": "select: table (11)->…"}}
    gqa.write_questions(tmp_path / "again.json", gqa.read_questions(stored(tmp_path, odd)))
    assert json.loads((tmp_path / "again.json").read_text()) == odd


def test_rows_of_calls_are_questions_too(tmp_path):
    (question,) = gqa.read_questions(stored(tmp_path, ROWS))
    assert (question.id, question.scenes, question.answer) == ("0003", ("61",), "yes")
    assert format_program(question.program) == "verify(unique(find(cup)), attribute=red)"
    gqa.write_call_rows(tmp_path / "again.json", [question])
    assert json.loads((tmp_path / "again.json").read_text()) == ROWS


def test_programs_run_on_their_graphs(tmp_path):
    scenes = {s.id: s for s in gqa.read_scenes(stored(tmp_path, GRAPHS))}
    asked = next(gqa.read_questions(stored(tmp_path, QUESTIONS)))
    assert execute(asked.program, scenes["61"]).answer == "cup"
    (called,) = gqa.read_questions(stored(tmp_path, ROWS))
    assert execute(called.program, scenes["61"]).answer is True


def test_files_are_recognised():
    assert (
        gqa.sniff_scenes(sniffed(GRAPHS))
        and not gqa.sniff_scenes(sniffed(QUESTIONS))
        and not gqa.sniff_scenes(sniffed(ROWS))
    )
    assert (
        gqa.sniff_questions(sniffed(QUESTIONS))
        and gqa.sniff_questions(sniffed(ROWS))
        and not gqa.sniff_questions(sniffed(GRAPHS))
    )
    assert not gqa.sniff_scenes(sniffed({"scenes": []})) and not gqa.sniff_questions(sniffed([{"question": "?"}]))


def changed(**fields: object) -> dict[str, object]:
    cup = GRAPHS["61"]["objects"]["10"]
    return {"61": {"objects": {"10": {**cup, "relations": [], **fields}}}}


@pytest.mark.parametrize(
    "value, complaint",
    [
        ("", "FILE: not valid JSON, the file is empty"),
        ('{"61": {"objects": {', "FILE: not valid JSON, it ends too early, after 20 bytes"),
        ("{}", "FILE: there are no scene graphs in it"),
        ("[]", "FILE: expected an object at top level"),
        (
            {"61": {"width": 0, "height": 9, "objects": {}}},
            "FILE: image 61: expected a positive width and height, got 0 and 9",
        ),
        ({"61": []}, "FILE: image 61: expected a graph with objects by their ids"),
        (
            changed(relations=[{"name": "on", "object": "99"}]),
            "FILE: image 61: object 10: 'on' names object 99, which is not there",
        ),
        (changed(relations=["on"]), "FILE: image 61: object 10: expected a relation with name and object, got 'on'"),
        (changed(attributes=[3]), "FILE: image 61: object 10: its name and attributes must be text"),
        ({"61": {"objects": {"10": {}}}}, "FILE: image 61 is malformed: there is no 'name' in it"),
        ('{"61": {"objects": {}}, "61": {"objects": {}}}', "FILE: key '61' appears twice"),
        ('{"61": {"objects": {"1": {"name": "cup"}, "1": {"name": "mug"}}}}', "FILE: key '1' appears twice"),
    ],
)
def test_a_broken_graph_is_refused_in_one_sentence(tmp_path, value, complaint):
    assert refusal(gqa.read_scenes, stored(tmp_path, value)) == complaint


def asking(operation: str, argument: str = "", dependencies: tuple[int, ...] = ()) -> dict[str, object]:
    node = {"operation": operation, "argument": argument, "dependencies": list(dependencies)}
    return {"0001": {"imageId": "61", "question": "?", "semantic": [node]}}


@pytest.mark.parametrize(
    "value, complaint",
    [
        ("{}", "FILE: there are no questions in it"),
        ("[]", "FILE: there are no questions in it"),
        ({"0001": {"imageId": "61"}}, "FILE: question 0001 is malformed: there is no 'question' in it"),
        (asking("slect", "cup"), "FILE: question 0001: node 0: unknown op 'slect' in GQA; did you mean 'select'?"),
        (asking("exist", "?", (4,)), "FILE: question 0001: node 0 (exist) reads node 4, which does not come before it"),
        ([["61", "?"]], "FILE: row 0 is not image, question, calls, question id, answer, …"),
        (ROWS * 2, "FILE: question 0003 appears twice"),
        ([["61", "?", ["?=find(cup)"], "0004", "yes"]], "FILE: question 0004: node 0: unknown op 'find' in GQA calls"),
    ],
)
def test_a_broken_question_is_refused_in_one_sentence(tmp_path, value, complaint):
    assert refusal(gqa.read_questions, stored(tmp_path, value)) == complaint


def test_a_missing_file_is_named(tmp_path):
    assert refusal(gqa.read_questions, tmp_path / "none.json") == "FILE: no such file"
