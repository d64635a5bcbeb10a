"""The command line as a user meets it: real processes, real files."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import ROOT, here, refused, shiftscope

DATA = ROOT / "examples" / "data"


def last_json(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


SETS = {
    "clevr": ("--scenes", DATA / "clevr_scenes.json", "--questions", DATA / "clevr_questions.json"),
    "superclevr": ("--scenes", DATA / "superclevr_scenes.json", "--questions", DATA / "superclevr_questions.json"),
    "clevr_hyp": ("--scenes", DATA / "clevr_scenes.json", "--questions", DATA / "clevr_hyp_questions.json"),
    "gqa": ("--graphs", DATA / "gqa_graphs.json", "--questions", DATA / "gqa_questions.json"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("clevr", {"questions": 8, "agree": 7, "disagree": 0, "undefined": 1, "reasons": {"several found": 1}}),
        ("superclevr", {"questions": 3, "agree": 3, "disagree": 0, "undefined": 0, "reasons": {}}),
        ("clevr_hyp", {"questions": 3, "agree": 3, "disagree": 0, "undefined": 0, "reasons": {}}),
        ("gqa", {"questions": 4, "agree": 4, "disagree": 0, "undefined": 0, "reasons": {}}),
    ],
)
def test_answer_tells_the_family_by_itself(name, summary):
    assert last_json(here("answer", *SETS[name], "--json")) == summary | {"unchecked": 0}


def test_json_lists_every_disagreement_and_every_undefined_answer_with_its_reason(tmp_path):
    data = json.loads((DATA / "clevr_questions.json").read_text())
    wrong = [q for q in data["questions"] if q.get("answer") is not None][:5]
    for question in wrong:
        question["answer"] = "purple"
    del data["questions"][-1]["program"]
    (tmp_path / "q.json").write_text(json.dumps(data))
    result = here("answer", *SETS["clevr"][:2], "--questions", tmp_path / "q.json", "--json")
    *rows, summary = map(json.loads, result.stdout.splitlines())
    assert (summary["disagree"], summary["undefined"]) == (5, 2)
    assert [r["question_index"] for r in rows if r["verdict"] == "disagree"] == [q["question_index"] for q in wrong]
    several, lost = (r for r in rows if r["verdict"] == "undefined")
    assert (several["reason"], several["detail"]) == ("several found", "several found (2 match) at node 2")
    assert several["text"] == "What color is the sphere?"
    assert (lost["reason"], lost["answer"], lost["trace"]) == ("no program", None, [])


def test_answer_writes_what_it_found(tmp_path):
    out = tmp_path / "answers.json"
    shiftscope("answer", *SETS["clevr"], "--out", out)
    rows = json.loads(out.read_text())
    assert rows[0] == {"question_index": 0, "answer": "2"}
    assert rows[2] == {"question_index": 2, "answer": "yes"}
    assert rows[3] == {"question_index": 3, "answer": None}
    assert [p.name for p in tmp_path.iterdir()] == ["answers.json"]


def test_answer_keeps_the_types_of_the_stored_answers(tmp_path):
    data = json.loads((DATA / "clevr_questions.json").read_text())
    data["questions"] = data["questions"][:3]
    for question, answer in zip(data["questions"], (2, "small", True), strict=True):
        question["answer"] = answer
    (tmp_path / "q.json").write_text(json.dumps(data))
    out = tmp_path / "a.json"
    result = here("answer", *SETS["clevr"][:2], "--questions", tmp_path / "q.json", "--out", out, "--json")
    assert last_json(result)["agree"] == 3
    assert [row["answer"] for row in json.loads(out.read_text())] == [2, "small", True]


def test_gzip_and_the_generators_spelling_are_read(tmp_path):
    data = json.loads((DATA / "clevr_questions.json").read_text())
    for question in data["questions"]:
        question.pop("answer", None)
        for node in question["program"]:
            node["type"] = node.pop("function")
    path = tmp_path / "q.bin"
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    scenes = tmp_path / "s.json.gz"
    scenes.write_bytes(gzip.compress((DATA / "clevr_scenes.json").read_bytes()))
    summary = last_json(here("answer", "--scenes", scenes, "--questions", path, "--json"))
    assert (summary["agree"], summary["unchecked"], summary["undefined"]) == (0, 7, 1)


def test_covrs_lines_are_answered_over_several_images(tmp_path):
    graphs = json.loads((DATA / "gqa_graphs.json").read_text())
    graphs["1002"] = {"objects": {"21": {"name": "dog", "attributes": ["white"], "relations": []}}}
    (tmp_path / "graphs.json").write_text(json.dumps(graphs))
    both = {"scenes": ["1001", "1002"], "pattern_name": "count_ref"}
    found = [
        {"operation": "find", "arguments": ["dog"]},
        {"operation": "unique_images", "dependencies": [0]},
        {"operation": "count", "dependencies": [1]},
    ]
    black = [{"operation": "scene"}, {"operation": "filter", "arguments": ["black"], "dependencies": [0]}]
    every = [found[0], {"operation": "all", "arguments": [black], "dependencies": [0]}]
    questions = [
        both | {"qid": "a", "utterance": "How many images with dogs?", "program": found, "answer": 2},
        both | {"qid": "b", "utterance": "All dogs are black", "program": every, "answer": False},
    ]
    path = tmp_path / "covr.jsonl"
    path.write_text("".join(json.dumps(q) + "\n" for q in questions))
    words = ("answer", "--graphs", tmp_path / "graphs.json", "--questions", path, "--json")
    assert last_json(here(*words))["agree"] == 2
    assert "All dogs are black" in here("show", path, "--index", 1).stdout


def test_a_disagreement_is_shown_with_its_trace(tmp_path):
    data = json.loads((DATA / "clevr_questions.json").read_text())
    data["questions"][0]["answer"] = "7"
    (tmp_path / "q.json").write_text(json.dumps(data))
    shown = here("answer", *SETS["clevr"][:2], "--questions", tmp_path / "q.json").stdout
    assert "disagree: 2, stored 7" in shown
    assert "filter(color=red)  2: #0 small red rubber cube, #2 small red metal sphere" in shown


def test_show_prints_a_scene_as_a_table_and_a_program_as_a_tree():
    scene = here("show", DATA / "clevr_scenes.json", "--index", 1).stdout
    assert "scene toy_000001 (clevr), 5 objects" in scene
    assert "small   yellow   rubber     sphere" in scene
    question = here("show", DATA / "clevr_questions.json", "--index", 1).stdout
    assert "What size is the sphere to the right of the blue ball?" in question
    assert "      relate(right)             2: #2 small red metal sphere, #3 large green rubber cylinder" in question
    graph = here("show", DATA / "gqa_graphs.json").stdout
    assert "man 11 wearing hat 12" in graph


def test_list_has_a_line_for_everything():
    shown = here("list").stdout
    for word in ("suites", "models", "metrics", "shifts", "filter(Objects, attribute=value)", "superclevr"):
        assert word in shown
    names = [json.loads(line)["name"] for line in here("list", "schemas", "--json").stdout.splitlines()]
    assert names == sorted(names)
    assert {"clevr", "gqa", "superclevr"} <= set(names)
    assert "did you mean 'ops'" in refused(here("list", "opps"))


def program(*functions):
    return [{"function": f, "inputs": i, "value_inputs": v} for f, i, v in functions]


def question(program, index=0, **more):
    return {"question": "?", "image_index": 0, "question_index": index, "program": program} | more


COUNT = program(("scene", [], []), ("count", [0], []))

BAD_QUESTIONS = {
    "truncated": ('{"questions": [{"question": "Ho', "it ends too early, after 31 bytes"),
    "empty": ("", "the file is empty"),
    "wrong top level": ("3", "got a single int"),
    "something else": ('{"cats": [1]}', "VQA-CP v2; got an object with 'cats'"),
    "no questions": ('{"questions": []}', "no questions"),
    "duplicate ids": ([question(COUNT), question(COUNT)], "question 0 appears twice"),
    "unknown scene": ([question(COUNT, image_index=99)], "question 0: there is no scene '99'"),
    "unknown op": (
        [question(program(("scene", [], []), ("cout", [0], [])))],
        "question 0: node 1: unknown op 'cout' in CLEVR; did you mean 'count'?",
    ),
    "input out of range": ([question(program(("scene", [], []), ("count", [5], [])))], "node 1 (count) reads node 5"),
    "cyclic": ([question(program(("count", [1], []), ("exist", [0], [])))], "the program is cyclic"),
    "ill-typed": (
        [question(program(("scene", [], []), ("relate", [0], ["left"]), ("count", [1], [])))],
        "question 0 (scene toy_000000): node 1 (relate): expected Object as input 1, got Objects",
    ),
    "unknown value": (
        [question(program(("scene", [], []), ("filter_color", [0], ["mauve"]), ("count", [1], [])))],
        "question 0 (scene toy_000000): node 1 (filter): no color 'mauve' in clevr",
    ),
    "no answer": ([question(program(("scene", [], [])))], "node 0 (scene) gives Objects, which is not an answer"),
    "odd answer": ([question(COUNT, answer=[1])], "an answer must be true or false"),
    "no text": ([{"image_index": 0, "program": COUNT}], "no questions that ShiftScope knows"),
    "text later missing": ([question(COUNT), {"image_index": 0, "question_index": 1}], "there is no 'question' in it"),
    "program a word": ([question("count")], "question 0: its program must be a list of nodes"),
    "inputs a word": ([question([{"function": "scene", "inputs": "", "value_inputs": []}])], "its inputs must be a list"),
    "question a list": ([question(COUNT), question(COUNT, 1, question=["?"])], "its question must be text"),
    "bad letters": (b'{"questions": [{"question": "?", "image_index": 0}, {"question": "\xff\xfe", "image_index": 0}]}', "not valid JSON"),
    "long name": ([question(program(("scene", [], []), ("x" * 5_000_000, [0], [])))], "unknown op"),
    "long single line": ('{"questions": [' + " " * 10_000_000 + "oops]}", "not valid JSON"),
    "deep": ("[" * 100_000, "not valid JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_QUESTIONS)
def test_a_bad_question_file_gets_one_sentence_and_exit_2(name, tmp_path):
    content, sentence = BAD_QUESTIONS[name]
    path = tmp_path / "bad.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps({"questions": content}))
    out = tmp_path / "out.json"
    result = here("answer", *SETS["clevr"][:2], "--questions", path, "--out", out)
    assert sentence in refused(result)
    assert not out.exists()


CUBE = {"shape": "cube", "size": "small", "color": "red", "material": "metal", "3d_coords": [0, 0, 0.35]}

BALL = {"shape": "sphere", "size": "small", "color": "blue", "material": "metal"}

BAD_SCENES = {
    "unknown value": ([{"image_index": 0, "objects": [CUBE | {"color": "mauve"}]}], "object 0: unknown color 'mauve'"),
    "missing field": ([{"image_index": 0, "objects": [{"shape": "cube"}]}], "scene 0: object 0 has no size"),
    "duplicate": ([{"image_index": 0, "objects": [CUBE]}] * 2, "scene '0' appears twice"),
    "relation out of range": (
        [{"image_index": 0, "objects": [CUBE], "relationships": {"left": [[3]]}}],
        "relationships 'left' names an object that is not there",
    ),
    "relation rows": ([{"image_index": 0, "objects": [CUBE], "relationships": {"left": []}}], "0 rows for 1 objects"),
    "not a number": ([{"image_index": 0, "objects": [CUBE | {"3d_coords": [0, 0, "x"]}]}], "expected a finite number, got 'x'"),
    "huge": ([{"image_index": 0, "objects": [CUBE | {"3d_coords": [10**400, 0, 0]}]}], "scene 0"),
    "rotation": ([{"image_index": 0, "objects": [CUBE | {"rotation": "abc"}]}], "expected a finite number, got 'abc'"),
    "itself": ([{"image_index": 0, "objects": [CUBE], "relationships": {"left": [[0]]}}], "relates to itself"),
    "no position": (
        [{"image_filename": "toy_000000.png", "image_index": 0, "objects": [BALL], "directions": {"right": [1, 0, 0]}}],
        "an object has no position",
    ),
    "no name": ([{"objects": [CUBE]}], "neither image_filename nor image_index"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_SCENES)
def test_a_bad_scene_file_gets_one_sentence_and_exit_2(name, tmp_path):
    content, sentence = BAD_SCENES[name]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"scenes": content}))
    result = here("answer", "--scenes", path, *SETS["clevr"][2:])
    assert sentence in refused(result)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show", "nowhere.json"), "nowhere.json: no such file or folder"),
        (("show", DATA / "clevr_scenes.json", "--index", 9), "there is no scene 9 in it; it has 2"),
        (("show", DATA / "clevr_questions.json", "--index", 99), "there is no question 99 in it"),
        (("answer", "--questions", DATA / "clevr_questions.json"), "give the scenes with --scenes FILE"),
        (("answer", "--scenes", "nowhere.json", *SETS["clevr"][2:]), "nowhere.json: no such file"),
        (("answer", *SETS["clevr"], "--out", "no/such/folder/a.json"), "there is no folder no/such/folder"),
        (("answer", "--scenes", DATA / "clevr_questions.json", *SETS["clevr"][2:]), "no scenes that ShiftScope knows"),
    ],
)  # fmt: skip
def test_a_wrong_word_gets_one_sentence_and_exit_2(words, sentence):
    assert sentence in refused(here(*words))


def test_a_mistyped_command_gets_one_sentence():
    assert "No such command 'answr'" in refused(shiftscope("answr"))
    assert "Missing option '--questions'" in refused(here("answer"))


def test_a_reader_that_has_seen_enough_is_no_error():
    shown = subprocess.run(
        f"{sys.executable} -m shiftscope list | head -1",
        shell=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert shown.stderr == ""


def test_letters_a_terminal_can_not_show_are_no_error():
    made = subprocess.run(
        [sys.executable, "-m", "shiftscope", "list", "ops"],
        capture_output=True, cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=True,
    )  # fmt: skip
    assert b"\\u2026" in made.stdout


def test_a_link_is_followed_and_a_device_is_not_replaced(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(target)
    here("answer", *SETS["clevr"], "--out", link)
    assert link.is_symlink()
    assert len(json.loads(target.read_text())) == 8
    assert here("answer", *SETS["clevr"], "--out", "/dev/null").returncode == 0
    assert not Path("/dev/null").is_file()


def test_a_folder_with_a_file_that_is_no_scene_is_refused(tmp_path):
    (tmp_path / "a.json").write_text((DATA / "superclevr_scenes.json").read_text())
    (tmp_path / "b.json").write_text("{}")
    assert "b.json: not a CLEVR scene file" in refused(here("show", tmp_path))


def test_a_program_that_shares_its_nodes_prints_in_no_time(tmp_path):
    listed = program(("scene", [], []), *(("union", [i, i], []) for i in range(40)), ("count", [40], []))
    (tmp_path / "q.json").write_text(json.dumps({"questions": [question(listed, answer=7)]}))
    shown = here("answer", *SETS["clevr"][:2], "--questions", tmp_path / "q.json")
    assert "(node 39 again)" in shown.stdout
    assert len(shown.stdout.splitlines()) < 100


def test_ctrl_c_while_the_command_is_being_loaded_leaves_one_sentence(monkeypatch):
    from shiftscope.cli import _app

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(_app, "command", interrupt)
    stopped = here("list")
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert stopped.stderr == "shiftscope: stopped; run the same command again to resume\n"
