"""Questions that have lost their programs are answered by their texts and the templates they came from."""

import json

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
