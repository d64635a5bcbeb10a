"""Questions that have lost their programs are answered by their texts and the templates they came from."""

import json

import reference_parts
from command import ROOT, here, refused
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.schemas.superclevr import SCHEMA
from toy import template_to_json

SCENES = ROOT / "examples" / "data" / "superclevr_scenes.json"


def test_texts_alone_give_the_stored_answers(tmp_path):
    files = {}
    for template in builtin_templates(SCHEMA).templates:
        files.setdefault(template.file, []).append(template_to_json(template))
    (tmp_path / "templates").mkdir()
    for name, raw in files.items():
        (tmp_path / "templates" / name).write_text(json.dumps(raw))
    asked = tmp_path / "questions.json"
    assert here("make", "questions", "--scenes", SCENES, "--out", asked, "-n", "40").returncode == 0
    data = json.loads(asked.read_text())
    assert len(data["questions"]) >= 20
    for question in data["questions"]:
        del question["program"]
    data["questions"][0]["question"] = "How do you do?"
    asked.write_text(json.dumps(data))
    given = ("answer", "--scenes", SCENES, "--questions", asked, "--json")

    read = here(*given, "--templates", tmp_path / "templates")
    total = len(data["questions"])
    assert json.loads(read.stdout.splitlines()[-1]) == {
        "questions": total,
        "agree": total - 1,
        "disagree": 0,
        "undefined": 1,
        "unchecked": 0,
        "reasons": {"not understood": 1},
    }
    unread = json.loads(here(*given).stdout.splitlines()[-1])
    assert unread["reasons"] == {"no program": total}


COLOR_OF_PART = {
    "text": ["Which color has the <P> of the <S>?"],
    "params": [{"name": "<S>", "type": "Shape"}, {"name": "<P>", "type": "Partname"}],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<S>"]},
        {"type": "object2part", "inputs": [1]},
        {"type": "partfilter_unique", "inputs": [2], "side_inputs": ["<P>"]},
        {"type": "partquery_color", "inputs": [3]},
    ],
    "constraints": [],
}
NAME_OF_PART = COLOR_OF_PART | {
    "text": ["What do you call the <C> part of the <S>?"],
    "params": [{"name": "<S>", "type": "Shape"}, {"name": "<C>", "type": "Color"}],
    "nodes": [
        *COLOR_OF_PART["nodes"][:3],
        {"type": "partfilter_unique", "inputs": [2], "side_inputs": ["<C>"]},
        {"type": "partquery_partname", "inputs": [3]},
    ],
}


def write_vehicles(folder):
    """A suv and a double-decker whose parts are spelled in two ways: left_head_light, head_light_left."""
    data = json.loads(SCENES.read_text())
    scene = data["scenes"][0]
    for thing, shape, parts in zip(
        scene["objects"],
        ("suv", "double", "chopper"),
        (
            {"left_head_light": "red"},
            {"head_light_left": "blue", "door_mid_left": "cyan"},
            {"headlight_center": "gray"},
        ),
        strict=True,
    ):
        thing["shape"] = shape
        thing["parts"] = {n: {"size": thing["size"], "color": c, "material": "metal"} for n, c in parts.items()}
    data["scenes"] = [scene]
    (folder / "scenes.json").write_text(json.dumps(data))
    (folder / "templates.json").write_text(json.dumps([COLOR_OF_PART, NAME_OF_PART]))
    return scene


def test_a_reading_that_refers_to_nothing_is_no_rival(tmp_path):
    scene = write_vehicles(tmp_path)
    texts = {
        "Which color has the left head light of the suv?": "red",
        "Which color has the left head light of the double bus?": "blue",
        "Which color has the mid left door of the double bus?": "cyan",
        "Which color has the head light of the bus?": "blue",
        "What do you call the red part of the suv?": "left head light",
        "What do you call the cyan part of the bus?": "mid left door",
        "What do you call the gray part of the chopper?": "center headlight",
    }
    name = {"image_filename": scene["image_filename"]}
    rows = [name | {"question_index": i, "question": q, "answer": a} for i, (q, a) in enumerate(texts.items())]
    (tmp_path / "questions.json").write_text(json.dumps({"questions": rows}))
    given = ("--scenes", tmp_path / "scenes.json", "--templates", tmp_path / "templates.json")
    out = tmp_path / "answers.json"
    done = here("answer", *given, "--questions", tmp_path / "questions.json", "--out", out, "--json")
    assert json.loads(done.stdout.splitlines()[-1])["agree"] == len(texts), done.stdout
    for row in rows:
        del row["answer"]
    (tmp_path / "questions.json").write_text(json.dumps({"questions": rows}))
    here("answer", *given, "--questions", tmp_path / "questions.json", "--out", out)
    assert [row["answer"] for row in json.loads(out.read_text())] == [*texts.values()]


def test_questions_from_official_part_templates_run_in_the_official_engine(tmp_path):
    write_vehicles(tmp_path)
    for scenes in (tmp_path / "scenes.json", SCENES):
        by_name = {s["image_filename"]: s for s in json.loads(scenes.read_text())["scenes"]}
        out = tmp_path / "made.json"
        here("make", "questions", "--scenes", scenes, "--templates", tmp_path / "templates.json", "--out", out)
        made = json.loads(out.read_text())["questions"]
        assert len(made) >= 2
        for question in made:
            answer = reference_parts.run(question["program"], by_name[question["image_filename"]])
            assert reference_parts.spell_answer(answer) == question["answer"]


def test_template_files_with_a_header_are_named_as_unsupported(tmp_path):
    for name, content in (("a", {"_meta": {}, "templates": []}), ("b", [{"_meta": {}}]), ("c_meta", [COLOR_OF_PART])):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(content))
        result = here("make", "questions", "--scenes", SCENES, "--templates", path, "--out", tmp_path / "q.json")
        assert f"{path}: _meta template files are not supported" in refused(result)


def test_a_folder_without_templates_is_refused(tmp_path):
    questions = ROOT / "examples" / "data" / "superclevr_questions.json"
    result = here("answer", "--scenes", SCENES, "--questions", questions, "--templates", tmp_path)
    assert "there are no templates in it" in refused(result)


def test_templates_that_fit_no_question_are_refused(tmp_path):
    asked = json.loads((ROOT / "examples" / "data" / "superclevr_questions.json").read_text())
    total = len(asked["questions"])
    for question in asked["questions"]:
        question.pop("program", None)
        question["question"] = "How do you do?"
    (tmp_path / "questions.json").write_text(json.dumps(asked))
    (tmp_path / "mine").mkdir()
    written = [template_to_json(t) for t in builtin_templates(SCHEMA).templates[:3]]
    (tmp_path / "mine" / "some.json").write_text(json.dumps(written))
    given = ("--questions", tmp_path / "questions.json", "--templates", tmp_path / "mine")
    result = here("answer", "--scenes", SCENES, *given, "--out", tmp_path / "answers.json")
    told = refused(result)
    assert f"mine: none of the {total} questions matches these templates" in told
    assert not (tmp_path / "answers.json").exists()


def test_parts_are_asked_about_on_request(tmp_path):
    asked = tmp_path / "questions.json"
    here("make", "questions", "--scenes", SCENES, "--out", asked, "--parts")
    questions = json.loads(asked.read_text())["questions"]
    assert [q["question_index"] for q in questions] == list(range(len(questions)))
    about_parts = [q["template_filename"].startswith("part_") for q in questions]
    assert about_parts.count(True) >= 5
    assert about_parts.count(False) == 10
    done = here("answer", "--scenes", SCENES, "--questions", asked, "--json")
    assert json.loads(done.stdout.splitlines()[-1])["agree"] == len(questions)


def test_solids_have_no_parts(tmp_path):
    solids = SCENES.with_name("clevr_scenes.json")
    result = here("make", "questions", "--scenes", solids, "--out", tmp_path / "q.json", "--parts")
    assert "schema clevr has no closed attributes of parts to ask about" in refused(result)
