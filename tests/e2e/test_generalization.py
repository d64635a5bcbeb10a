"""`shiftscope test` as a user meets it: tables, JSON, refusals, and a report of what it leaves."""

import json

import pytest

from asked import dataset as clevr_toys
from command import here, refused
from covr_toys import asked, dataset, questions_of, scenes_of
from graphs import graph

SCENES = scenes_of(20)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    made = {"train": questions_of(20, SCENES, "train"), "test": questions_of(80, SCENES)}
    return dataset(tmp_path_factory.mktemp("covr") / "data", made, SCENES).folder


def test_segment_combine_from_a_shell_to_a_report(data, tmp_path):
    out = tmp_path / "out"
    made = here("test", "segment-combine", "--model", "oracle", "--data", data, "--out", out)
    assert made.returncode == 0, made.stderr
    assert "count_group_by" in made.stdout
    assert "combined %" in made.stdout
    assert "left out:" in made.stdout
    assert f"next: shiftscope report {out / 'runs/combined'}" in made.stdout
    page = here("report", out / "runs/combined", "--out", tmp_path / "page.html")
    assert page.returncode == 0, page.stderr
    assert "Accuracy under shift" in page.stdout


def test_contrast_as_json_is_what_is_written(data, tmp_path):
    words = ("--model", "question_only", "--data", data, "--set", "quantifiers", "--json")
    made = here("test", "contrast", *words, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    stored = json.loads((tmp_path / "test-contrast/result.json").read_text())
    assert told == stored | {"asked_now": stored["asked"]}
    assert told["options"]["sets"] == ["quantifiers"]
    changes = {line["of"]["change"] for line in told["lines"]}
    assert {"no ↔ some", "all → either none or only some"} <= changes
    assert "another object" not in changes


def test_contrast_applies_to_single_images_of_solids_and_segment_combine_does_not(tmp_path):
    data = clevr_toys(tmp_path / "clevr").folder
    sentence = refused(here("test", "segment-combine", "--model", "oracle", "--data", data, "--out", tmp_path / "out"))
    assert "segment-combine does not apply to" in sentence
    assert not (tmp_path / "out").exists()
    made = here("test", "contrast", "--model", "oracle", "--data", data, "--out", tmp_path / "objects", "--json")
    assert made.returncode == 0, made.stderr
    objects, whole = json.loads(made.stdout)["lines"][-2:]
    assert (objects["of"]["change"], whole["of"]["template"]) == ("another object", "all")
    assert objects["scores"]["accuracy"]["value"] == whole["scores"]["consistency"]["value"] == 100


def test_what_does_not_apply_is_one_sentence(tmp_path):
    scenes = {s.id: s for s in (graph("a", "cat"), graph("b", "dog"))}
    one = asked("q", "How many dogs are there?", "count(find(dog))", scenes, ("a", "b"))
    data = dataset(tmp_path / "data", {"test": [one]}, scenes, 1).folder
    sentence = refused(here("test", "contrast", "--model", "oracle", "--data", data, "--out", tmp_path / "out"))
    assert "contrast does not apply to" in sentence
    assert "no set" not in sentence
    sentence = refused(here("test", "contrast", "--model", "oracle", "--data", data, "--set", "words"))
    assert "no contrast set 'words'" in sentence
